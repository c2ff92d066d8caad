"""The installed package: module, command and HIP library, each used as a person uses it."""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

import rockhound
from rockhound.__main__ import find_command

BIN = os.path.dirname(sys.executable)
COMMAND = find_command()
EXAMPLES = os.environ["ROCKHOUND_EXAMPLES"]


def run(*arguments, program=(COMMAND,), check=True):
    """Runs the installed command; its result."""
    result = subprocess.run([*program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if check and result.returncode:
        raise AssertionError(f"{arguments}: exit code {result.returncode}\n{result.stderr}")
    return result


class Package(unittest.TestCase):
    def test_it_is_the_installed_one(self):
        self.assertTrue(rockhound.__file__.startswith(sys.prefix), rockhound.__file__)
        self.assertEqual(run("--version").stdout.split()[1], rockhound.__version__)


class Module(unittest.TestCase):
    def test_inspect_is_the_document_of_the_command(self):
        path = os.path.join(EXAMPLES, "vector_copy")
        inspection = rockhound.inspect(path, listing=True)
        self.assertEqual(inspection, json.loads(run("inspect", path, "--asm", "--format", "json").stdout))
        self.assertGreater(len(inspection["kernels"]), 0)
        one = rockhound.inspect(path, kernel="Copy", arch=inspection["kernels"][0]["target"])
        self.assertEqual({kernel["target"] for kernel in one["kernels"]}, {inspection["kernels"][0]["target"]})
        row = inspection.rows()[0]
        self.assertEqual(row["name"], inspection["kernels"][0]["name"])
        self.assertGreater(row["vgprs"], 0)

    def test_analyze_is_the_document_of_the_command(self):
        path = os.path.join(EXAMPLES, "heat3d")
        report = rockhound.analyze(path)
        expected = json.loads(run("analyze", "-p", path, "--top", "0", "--format", "json").stdout)
        self.assertEqual(report, expected)
        some = rockhound.analyze(path, kernel=0, blocks=["2"], normal_unit="per_wave", time_unit="us", average="dispatches")
        flags = ["-k", "0", "-b", "2", "--normal-unit", "per_wave", "--time-unit", "us", "--average", "dispatches"]
        expected = json.loads(run("analyze", "-p", path, "--top", "0", *flags, "--format", "json").stdout)
        self.assertEqual(some, expected)
        compared = rockhound.analyze([path, path], blocks="2")
        self.assertEqual(len(compared["inputs"]), 2)
        self.assertTrue(any("change" in title for title in compared.rows("2.1")[0]))

    def test_a_missing_value_has_its_reason(self):
        report = rockhound.analyze(os.path.join(EXAMPLES, "heat3d"))
        missing = 0
        for table in report["tables"]:
            for row, flat in zip(table["rows"], report.rows(table["id"])):
                without = [cell for cell in row["cells"] if isinstance(cell, dict) and "missing" in cell]
                missing += len(without)
                for cell in without:
                    self.assertIn(cell["missing"], flat["missing"])
                if not without:
                    self.assertIsNone(flat["missing"])
        self.assertGreater(missing, 0)

    def test_errors_have_message_and_hint(self):
        for function, arguments, options, message, hint in [
            (rockhound.read, ["/nowhere"], {}, "`/nowhere`: no such file or folder", None),
            (rockhound.inspect, ["/nowhere"], {}, "/nowhere: no such file or directory", "check the path"),
            (rockhound.inspect, [EXAMPLES], {"kernel": "("}, "is no regular expression", "backslash"),
            (rockhound.inspect, [EXAMPLES], {"arch": "x"}, "`--arch x` is no target", "gfx942"),
            (rockhound.analyze, [os.path.join(EXAMPLES, "heat3d")], {"time_unit": "h"}, "cannot be `h`", "ns, us"),
            (rockhound.analyze, [os.path.join(EXAMPLES, "heat3d")], {"ranks": "all"}, "cannot be `all`", "merged, each"),
            (rockhound.analyze, [os.path.join(EXAMPLES, "heat3d")], {"runs": "all"}, "`runs` cannot be `all`", "merged, each"),
            (rockhound.analyze, [os.path.join(EXAMPLES, "heat3d")], {"ranks": "each", "runs": "each"}, "together", "one of them"),
            (rockhound.analyze, [os.path.join(EXAMPLES, "heat3d")], {"kernel": "nosuch"}, "nosuch", "heat"),
            (rockhound.read, [os.path.join(EXAMPLES, "heat3d")], {"counters": ["NONE"]}, "no counter `NONE`", "columns"),
        ]:
            with self.subTest(message=message):
                with self.assertRaises(rockhound.RockhoundError) as caught:
                    function(*arguments, **options)
                self.assertIn(message, caught.exception.message)
                self.assertIn(message, str(caught.exception))
                if hint is None:
                    self.assertIsNone(caught.exception.hint)
                else:
                    self.assertIn(hint, caught.exception.hint)
        with self.assertRaises(rockhound.RockhoundError):
            rockhound.analyze(os.path.join(EXAMPLES, "heat3d")).table("99")

    def test_data_frames(self):
        report = rockhound.analyze(os.path.join(EXAMPLES, "heat3d"))
        recording = rockhound.read(os.path.join(EXAMPLES, "heat3d"))
        inspection = rockhound.inspect(os.path.join(EXAMPLES, "vector_copy"))
        for name, convert in [("pandas", "to_pandas"), ("polars", "to_polars")]:
            with self.subTest(name=name):
                if importlib.util.find_spec(name) is None:
                    with self.assertRaises(rockhound.RockhoundError) as caught:
                        getattr(recording, convert)()
                    self.assertIn(f"pip install {name}", caught.exception.hint)
                    continue
                frame = getattr(recording, convert)()
                self.assertEqual(list(frame["dispatch_id"]), recording.data()["dispatch_id"])
                self.assertEqual(list(frame["start_ns"]), recording.data()["start_ns"])
                self.assertEqual(len(getattr(report, convert)("2.1")), len(report.rows("2.1")))
                self.assertEqual(list(getattr(inspection, convert)()["name"]), [row["name"] for row in inspection.rows()])


class Command(unittest.TestCase):
    def test_profile_leaves_a_recording_that_the_module_reads(self):
        with tempfile.TemporaryDirectory() as folder:
            recorded = os.path.join(folder, "recording")
            report = run("profile", os.path.join(EXAMPLES, "vector_copy", "LAUNCH.toml"), "-o", recorded).stdout
            self.assertIn("Speed-of-Light", report)
            recording = rockhound.read(recorded, counters=["SQ_WAVES"])
            columns = {column["name"]: column for column in recording["columns"]}
            self.assertEqual(columns["SQ_WAVES"]["trust"], "exact")
            self.assertGreater(columns["SQ_WAVES"]["values"][0], 0)
            self.assertEqual([name for name in columns if name.startswith("TCC")], [])
            self.assertIn("emulated_by", recording)

    def test_programs_get_the_library_of_the_package(self):
        library = run("run", "--", "sh", "-c", 'readlink -f "$TRITON_LIBHIP_PATH"').stdout.strip()
        expected = os.path.join(os.path.dirname(BIN), "lib", "rockhound", "libamdhip64.so")
        self.assertEqual(library, os.path.realpath(expected))

    def test_exit_codes_and_signals_are_those_of_the_program(self):
        for program in [(COMMAND,), (sys.executable, "-m", "rockhound")]:
            for script, code in [("exit 7", 7), ("kill -TERM $$", 128 + 15)]:
                with self.subTest(program=program, script=script):
                    self.assertEqual(run("run", "--", "sh", "-c", script, program=program, check=False).returncode, code)

    def test_manual_and_licences_are_there(self):
        share = os.path.join(os.path.dirname(BIN), "share")
        for file in ["man/man1/rockhound-inspect.1", "doc/rockhound/THIRD-PARTY-LICENSES.txt"]:
            self.assertGreater(os.path.getsize(os.path.join(share, file)), 500, file)


if __name__ == "__main__":
    unittest.main()

"""Functions of commands: equal documents, errors, progress, interruption, and an emulated GPU in this process."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import rockhound
from rockhound.__main__ import find_command

EXAMPLES = os.environ["ROCKHOUND_EXAMPLES"]
HEAT = os.path.join(EXAMPLES, "heat3d")
CODE = os.path.join(EXAMPLES, "tiled_matmul", "tiled_matmul.gfx942.hsaco")
COPY = os.path.join(EXAMPLES, "vector_copy")


def command(*words):
    """The document of the command."""
    done = subprocess.run([find_command(), *words, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    document = json.loads(done.stdout)
    return (document if isinstance(document, dict) else {"entries": document}), done.returncode


class Functions(unittest.TestCase):
    def test_documents_are_those_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            log = os.path.join(folder, "job.log")
            with open(log, "w") as file:
                file.write("[rank3] torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.\n")
            results = os.path.join(folder, "tunableop_results0.csv")
            with open(results, "w") as file:
                file.write("Validator,PT_VERSION,2.6.0\nValidator,ROCM_VERSION,6.3.0.0\n")
                file.write("GemmTunableOp_float_NT,nt_64_64_64_ld_64_64_64,Gemm_Rocblas_1,0.01\n")
            database = os.path.join(folder, "rockhound.db")
            other = os.path.join(COPY, "vector_copy.gfx942.hsaco")
            cases = [
                (rockhound.guide, [HEAT], {}, ["guide", HEAT]),
                (rockhound.guide, [HEAT], {"kernel": 1}, ["guide", HEAT, "-k", "1"]),
                (rockhound.diff, [other, CODE], {}, ["diff", other, CODE]),
                (rockhound.roofline, [HEAT], {}, ["roofline", HEAT]),
                (rockhound.metrics, ["l2.hit_rate"], {"arch": "gfx942"}, ["metrics", "l2.hit_rate", "--arch", "gfx942"]),
                (rockhound.explain, ["MEM001"], {}, ["explain", "MEM001"]),
                (rockhound.triage, [log], {}, ["triage", log]),
                (rockhound.tunedb_show, [results], {}, ["tunedb", "show", results]),
                (rockhound.tunedb_lint, [results], {}, ["tunedb", "lint", results]),
                (rockhound.tile, [], {"mnk": "4096,4096,4096"}, ["tile", "--mnk", "4096,4096,4096"]),
                (rockhound.store_list, [], {"store": database}, ["store", "list", "--store", database]),
            ]
            rockhound.store_add(HEAT, store=database)
            for function, positionals, options, words in cases:
                with self.subTest(function=function.__name__):
                    try:
                        answer = function(*positionals, **options)
                    except TypeError as error:
                        self.fail(f"{error}; see `help(rockhound.{function.__name__})`")
                    expected, code = command(*words)
                    self.assertEqual(answer, expected)
                    self.assertEqual(answer.code, code)
                    self.assertTrue(answer._repr_html_().startswith("<p>"))

    def test_profile_and_judge_run_here(self):
        with tempfile.TemporaryDirectory() as folder:
            recorded = os.path.join(folder, "recording")
            ran = rockhound.profile(os.path.join(COPY, "LAUNCH.toml"), output=recorded)
            self.assertIn("Speed-of-Light", ran.text)
            self.assertEqual(rockhound.guide(recorded)["verdict"]["bound_by"], "HBM")
            copy = os.path.join(COPY, "LAUNCH.toml")
            verdict = rockhound.judge(copy, copy, seeds=1)
            self.assertEqual(verdict["candidates"][0]["verdict"], "not_faster")

    def test_a_program_has_its_own_exit_code(self):
        self.assertEqual(rockhound.run(program=["sh", "-c", "echo here; exit 7"]).code, 7)
        self.assertEqual(rockhound.run(program=["echo", "here"]).text, "here\n")

    def test_errors_have_message_and_hint(self):
        for function, arguments, options, message, hint in [
            (rockhound.guide, ["/nowhere"], {}, "/nowhere", None),
            (rockhound.guide, ["--output=/tmp/x"], {}, "./--output=/tmp/x", None),
            (rockhound.explain, ["MEM999"], {}, "there is no rule `MEM999`", "MEM"),
            (rockhound.metrics, ["TCC_HITS"], {}, "there is no counter `TCC_HITS`", "TCC_HIT"),
            (rockhound.judge, ["a.toml", "b.toml"], {"seeds": 0}, "0 is not in 1..=1000", None),
            (rockhound.profile, [], {}, "required arguments", None),
        ]:
            with self.subTest(message=message):
                with self.assertRaises(rockhound.RockhoundError) as caught:
                    function(*arguments, **options)
                self.assertIn(message, caught.exception.message)
                if hint is not None:
                    self.assertIn(hint, caught.exception.hint)

    def test_progress_is_told_and_an_interrupt_ends_the_command(self):
        said = []
        rockhound.run(program=["sh", "-c", "echo one >&2; echo two >&2"], progress=said.append)
        self.assertEqual([line for line in said if line in ("one", "two")], ["one", "two"])
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        begun = time.monotonic()
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            rockhound.run(program=["sleep", "600"])
        self.assertLess(time.monotonic() - begun, 30)

    def test_other_threads_run_meanwhile(self):
        counted = []
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        rockhound.run(program=["sleep", "0.5"])
        stop.set()
        thread.join()
        self.assertGreater(len(counted), 20)


KERNEL = """
import rockhound
with rockhound.emulated(gpu="mi210"):
    import torch, triton
    import triton.language as tl

    @triton.jit
    def add(x, y, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, at < n) + 1, at < n)

    x = torch.arange(1000, device="cuda", dtype=torch.float32)
    y = torch.empty_like(x)
    add[(4,)](x, y, 1000, BLOCK=256)
    assert torch.equal(y, x + 1), y
    print(torch.cuda.get_device_name())
try:
    with rockhound.emulated(gpu="mi300x"):
        pass
except rockhound.RockhoundError as error:
    print(error.message)
"""

TEST = """
def test_add(rockhound_gpu):
    import torch
    assert rockhound_gpu in torch.cuda.get_device_name().lower(), torch.cuda.get_device_name()
"""


@unittest.skipUnless("ROCKHOUND_TRITON_PYTHON" in os.environ, "no Python with Triton was named")
class Emulated(unittest.TestCase):
    def python(self, *words):
        """Runs the Python with Triton."""
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rockhound.__file__))}
        line = [os.environ["ROCKHOUND_TRITON_PYTHON"], *words]
        return subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def test_kernels_of_this_process_run_on_it(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "kernel.py")
            with open(script, "w") as file:
                file.write(KERNEL)
            done = self.python(script)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("MI210", done.stdout)
            self.assertIn("this process emulates `mi210`", done.stdout)

    def test_it_is_a_fixture(self):
        if self.python("-c", "import pytest").returncode:
            self.skipTest("pytest is not installed there")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "test_it.py"), "w") as file:
                file.write(TEST)
            done = self.python("-m", "pytest", "-q", "-p", "rockhound.pytest_plugin", "--rockhound-gpu", "mi210", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

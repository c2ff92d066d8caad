"""Every function that gives a document gives the one of its command."""

import inspect
import json
import os
import shutil
import subprocess
import unittest

import rockhound
from rockhound.__main__ import find_command
from world import world

STORE = {"store": "rockhound.db"}
IN_STORE = ["--store", "rockhound.db"]

BISECTED = ["sh", "-c", 'cp -r after/. "$ROCKHOUND_RECORDING"']

CASES = {
    "accuracy": (["measured", "emulated"], {"output": "a.json"}, ["measured", "emulated", "-o", "a.json"]),
    "breakdown": (["emulated"], {"what_if": ["vgpr=8"]}, ["emulated", "--what-if", "vgpr=8"]),
    "comm": (["all_reduce.txt"], {"fail_on": "severe"}, ["all_reduce.txt", "--fail-on", "severe"]),
    "diff": (["vector_copy.hsaco", "tiled_matmul.hsaco"], {}, ["vector_copy.hsaco", "tiled_matmul.hsaco"]),
    "doctor": ([], {"root": "nothing"}, ["--root", "nothing"]),
    "explain": (["MEM001"], {}, ["MEM001"]),
    "guide": (["workloads/app/MI300X"], {"kernel": 1}, ["workloads/app/MI300X", "-k", "1"]),
    "judge": (
        ["LAUNCH.toml", "LAUNCH.toml"],
        {"seeds": 1, "claim": "0.001"},
        ["LAUNCH.toml", "LAUNCH.toml", "--seeds", "1", "--claim", "0.001"],
    ),
    "metrics": (["l2.hit_rate"], {"arch": "gfx942"}, ["l2.hit_rate", "--arch", "gfx942"]),
    "occupancy": ([], {"arch": "gfx942", "vgpr": 96, "lds": "32K", "waves": 4}, ["-a", "gfx942", "--vgpr=96", "--lds=32K", "--waves=4"]),
    "roofline": (["before", "after"], {"top": 3}, ["before", "after", "--top", "3"]),
    "store_add": (["after"], {**STORE, "label": "run=2"}, ["after", *IN_STORE, "--label", "run=2"]),
    "store_bisect": ([], {**STORE, "good": 1, "bad": 5, "command": BISECTED}, [*IN_STORE, "--good", "1", "--bad", "5", "--", *BISECTED]),
    "store_changes": ([], {**STORE, "metric": "SQ_WAVES"}, [*IN_STORE, "-m", "SQ_WAVES"]),
    "store_check": ([], STORE, IN_STORE),
    "store_compact": ([], STORE, IN_STORE),
    "store_history": ([], {**STORE, "metric": "SQ_WAVES"}, [*IN_STORE, "-m", "SQ_WAVES"]),
    "store_label": (["1", "run=7"], STORE, ["1", "run=7", *IN_STORE]),
    "store_list": ([], STORE, IN_STORE),
    "store_query": (["SELECT name FROM kernels ORDER BY name"], STORE, ["SELECT name FROM kernels ORDER BY name", *IN_STORE]),
    "store_remove": (["1"], STORE, ["1", *IN_STORE]),
    "store_show": (["1"], STORE, ["1", *IN_STORE]),
    "store_summary": ([], STORE, IN_STORE),
    "tile": ([], {"mnk": "4096,4096,4096", "gpu": "mi300x"}, ["--mnk", "4096,4096,4096", "--gpu", "mi300x"]),
    "trace": (["later.pt.trace.json"], {"base": "run.pt.trace.json"}, ["later.pt.trace.json", "--base", "run.pt.trace.json"]),
    "triage": (["job.log"], {}, ["job.log"]),
    "tune": (["tune/tune.toml"], {"budget": 2, "fresh": True}, ["tune/tune.toml", "--budget", "2", "--fresh"]),
    "tunedb_advise": (["tunableop_results0.csv"], {}, ["tunableop_results0.csv"]),
    "tunedb_coverage": (["tunableop_results0.csv"], {"shapes": "run.pt.trace.json"}, ["tunableop_results0.csv", "--shapes=run.pt.trace.json"]),
    "tunedb_diff": (["tunableop_results0.csv", "tunableop_results1.csv"], {}, ["tunableop_results0.csv", "tunableop_results1.csv"]),
    "tunedb_lint": (
        ["tunableop_results0.csv"],
        {"gpu": "mi300x", "fail_on": "info"},
        ["tunableop_results0.csv", "--gpu=mi300x", "--fail-on=info"],
    ),
    "tunedb_merge": (
        ["tunableop_results0.csv", "tunableop_results1.csv"],
        {"output": "merged.csv", "explain": True},
        ["tunableop_results0.csv", "tunableop_results1.csv", "-o", "merged.csv", "--explain"],
    ),
    "tunedb_query": (["tunableop_results0.csv"], {"mnk": "40,20,30"}, ["tunableop_results0.csv", "--mnk", "40,20,30"]),
    "tunedb_shapes": (["run.pt.trace.json"], {}, ["run.pt.trace.json"]),
    "tunedb_show": (["tunableop_results0.csv"], {"sort": "time"}, ["tunableop_results0.csv", "--sort", "time"]),
}
"""Of each function: its arguments by position and by name, and the words of the command after its name."""


def command(words):
    """The document of the command, its exit code, and what it said."""
    end = words.index("--") if "--" in words else len(words)
    line = [find_command(), *words[:end], "--format", "json", *words[end:]]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        document = json.loads(done.stdout)
    except ValueError:
        return None, done.returncode, done.stderr
    return (document if isinstance(document, dict) else {"entries": document}), done.returncode, done.stderr


class Documents(unittest.TestCase):
    maxDiff = 2000

    def test_every_function_with_a_document_is_compared(self):
        functions = {name: getattr(rockhound, name) for name in rockhound.__all__ if inspect.isfunction(getattr(rockhound, name))}
        documents = [name for name, it in functions.items() if it.__annotations__["return"] == "Document"]
        self.assertEqual(sorted(documents), sorted(CASES))
        # The type checker reads a use of each.
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "typed_use.py")) as file:
            typed = file.read()
        self.assertEqual([name for name in functions if f"rockhound.{name}(" not in typed], [])

    def test_documents_are_equal(self):
        with world():
            for commit, path in enumerate(["before", "before", "before", "before", "after"]):
                rockhound.store_add(path, store="first.db", label=f"commit=c{commit}", no_provenance=True)
            for name, (positionals, options, words) in CASES.items():
                with self.subTest(function=name):
                    # Each begins with the same database.
                    shutil.copy("first.db", "rockhound.db")
                    expected, code, said = command([*name.split("_"), *words])
                    if expected is None and ("compiler" in said or "clang" in said):
                        self.skipTest(said)
                    self.assertIsNotNone(expected, said)
                    shutil.copy("first.db", "rockhound.db")
                    answer = getattr(rockhound, name)(*positionals, **options)
                    for document in (answer, expected):
                        for recording in document.get("recordings", []):
                            # The time of the call.
                            recording.pop("added_ms", None)
                    self.assertEqual(answer, expected)
                    self.assertEqual(answer.code, code)
                    self.assertTrue(answer._repr_html_().startswith("<p>"))

    def test_what_is_no_document_is_text(self):
        with world(kept=False):
            for answer, part in [
                (rockhound.doctor(emit="sh", profile="inference"), "export "),
                (rockhound.tune(init="tune/transpose.hip"), "[parameters]"),
            ]:
                self.assertIn(part, answer["text"])
            rockhound.trace("run.pt.trace.json", export="chrome", output="written.json")
            with open("written.json") as file:
                self.assertEqual(len([it for it in json.load(file)["traceEvents"] if it["ph"] == "X"]), 3)
            rockhound.roofline("before", output="chart.svg")
            self.assertGreater(os.path.getsize("chart.svg"), 500)


if __name__ == "__main__":
    unittest.main()

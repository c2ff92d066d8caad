"""The examples of docs/python.md and of the package's own page, run as they are printed."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
import unittest

import rockhound
from world import world

HERE = os.path.dirname(os.path.abspath(__file__))
PAGES = [os.path.join(HERE, "..", "README.md"), os.path.join(HERE, "..", "..", "..", "..", "docs", "python.md")]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FRAMES = ("pandas", "polars")


def blocks(page):
    """The Python blocks of a page, each with its line."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    return [(text.count("\n", 0, found.start()) + 2, found.group(1)) for found in BLOCK.finditer(text)]


def statements(source, line):
    """The statements of a block, compiled, at their lines of the page."""
    for statement in ast.parse(source).body:
        ast.increment_lineno(statement, line - 1)
        yield compile(ast.Module([statement], []), "<page>", "exec")


def run_statement(code, values):
    """Runs a statement; one that lacks an optional package or a compiler says so."""
    try:
        exec(code, values)
    except rockhound.RockhoundError as error:
        absent = [name for name in FRAMES if importlib.util.find_spec(name) is None]
        if error.hint not in [f"`pip install {name}`" for name in absent] and "compiler" not in str(error):
            raise


class Pages(unittest.TestCase):
    def test_pages_have_examples(self):
        for page in PAGES:
            self.assertGreater(len(blocks(page)), 0, page)

    def test_examples_run(self):
        for page in PAGES:
            # The blocks of a page are one program.
            values = {}
            with self.subTest(page=os.path.basename(page)), world(kept=False):
                for line, source in blocks(page):
                    if "import torch" in source:
                        continue
                    for code in statements(source, line):
                        run_statement(code, values)

    @unittest.skipUnless("ROCKHOUND_TRITON_PYTHON" in os.environ, "no Python with Triton was named")
    def test_examples_with_torch_run(self):
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rockhound.__file__))}
        found = 0
        for line, source in [it for page in PAGES for it in blocks(page)]:
            if "import torch" in source:
                found += 1
                with self.subTest(line=line):
                    words = [os.environ["ROCKHOUND_TRITON_PYTHON"], "-c", source]
                    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, env=environment)
                    self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(found, 0)


class Values(unittest.TestCase):
    def test_columns_are_as_described(self):
        with world(kept=False):
            recording = rockhound.read("before")
        self.assertEqual(recording["schema"], "rockhound.columns/1")
        for field in ("path", "kind", "machine", "settings", "dispatches", "columns", "notes"):
            self.assertIn(field, recording)
        for column in recording["columns"]:
            self.assertEqual(len(column["values"]), recording["dispatches"])
            self.assertIn(column["kind"], ("dispatch", "counter", "extra"))


if __name__ == "__main__":
    sys.exit(unittest.main())

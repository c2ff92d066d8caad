"""Functions of commands: equal documents, errors, progress, interruption, and an emulated GPU in this process."""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import unittest.mock

import rockhound

EXAMPLES = os.environ["ROCKHOUND_EXAMPLES"]
CODE = os.path.join(EXAMPLES, "tiled_matmul", "tiled_matmul.gfx942.hsaco")
COPY = os.path.join(EXAMPLES, "vector_copy")


def setUpModule():
    # A shell's background jobs ignore interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def running():
    """Command lines of all processes."""
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{process}/cmdline", "rb") as file:
                yield file.read()


class Functions(unittest.TestCase):
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
        # No other run of these tests sleeps as long.
        seconds = f"6{os.getpid()}"
        stubborn = f"trap '' INT; sleep {seconds}; true"
        for program, patience in [(["sleep", seconds], 60), (["sh", "-c", stubborn], 1)]:
            with self.subTest(program=program), unittest.mock.patch("rockhound._run._PATIENCE", patience):
                timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
                begun = time.monotonic()
                timer.start()
                with self.assertRaises(KeyboardInterrupt):
                    rockhound.run(program=program)
                self.assertLess(time.monotonic() - begun, 10)
                self.assertEqual([line for line in running() if f"sleep\0{seconds}\0".encode() in line], [])

    def test_an_interrupt_ends_a_call_of_the_module(self):
        for name, call in [
            ("inspect", lambda: rockhound.inspect([CODE] * 20000)),
            ("analyze", lambda: rockhound.analyze([os.path.join(EXAMPLES, "heat3d")] * 300)),
        ]:
            with self.subTest(function=name):
                timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
                begun = time.monotonic()
                timer.start()
                with self.assertRaises(KeyboardInterrupt):
                    call()
                self.assertLess(time.monotonic() - begun, 5)

    def test_the_module_says_how_far_it_is(self):
        said = []
        with self.assertRaises(rockhound.RockhoundError):
            rockhound.inspect([CODE, "/nowhere"], arch="gfx950", progress=said.append)
        self.assertIn("error: /nowhere: no such file or directory", said)

        def refuse(line):
            raise ValueError(line)

        with self.assertRaises(ValueError):
            rockhound.inspect([CODE, "/nowhere"], progress=refuse)

    def test_other_threads_run_meanwhile(self):
        for name, call in [
            ("run", lambda: rockhound.run(program=["sleep", "0.5"])),
            ("inspect", lambda: rockhound.inspect([CODE] * 200)),
        ]:
            with self.subTest(function=name):
                counted = []
                stop = threading.Event()

                def count(counted=counted, stop=stop):
                    while not stop.is_set():
                        counted.append(time.monotonic())
                        time.sleep(0.001)

                thread = threading.Thread(target=count)
                thread.start()
                begun = time.monotonic()
                call()
                took = time.monotonic() - begun
                stop.set()
                thread.join()
                longest = max(after - before for before, after in zip(counted, counted[1:]))
                self.assertGreater(len(counted), 20)
                self.assertLess(longest, max(0.2, took / 2))


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
            # The wheel names the plugin to pytest; a folder in the search path does not.
            installed = self.python("-c", "import importlib.metadata as m; m.distribution('rockhound')").returncode == 0
            named = [] if installed else ["-p", "rockhound.pytest_plugin"]
            done = self.python("-m", "pytest", "-q", *named, "--rockhound-gpu", "mi210", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

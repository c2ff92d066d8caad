"""Forked copies of the program that run one configuration each.

The one idea to keep in mind: every launch of the emulated GPU ends before it returns, so no thread of the library is lost by a fork, and the copy sees
the memory of the program as it is.
"""

import ctypes
import json
import os
import resource
import signal
import sys
import tempfile
import time

is_child = False

_PR_SET_PDEATHSIG = 1
_MOST_TEXT = 1 << 16


def first_line(error):
    """An error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    # Triton's compiler begins with a place and ends with the reason.
    return f"{type(error).__name__}: {lines[-1] if lines[0].startswith('at ') else lines[0]}"


def findings():
    """Mistakes that the library found in this copy, a line each."""
    sys.stderr.flush()
    with open(_errors.name, encoding="utf-8", errors="replace") as file:
        return [line.strip() for line in file if line.lstrip().startswith(("CHK", "severe", "warning"))]


_errors = None


class Child:
    """A copy of the program that does something and says its result as JSON."""

    def __init__(self, work, limits):
        self.limits, self.late = limits, False
        self.errors = tempfile.NamedTemporaryFile(prefix="rockhound-tune-")  # noqa: SIM115: it lives as long as the copy
        self.started, self.text = time.monotonic(), b""
        self.result, into = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                # The program closed or replaced it.
                pass
        self.process = os.fork()
        if self.process == 0:
            os.close(self.result)
            self._be(work, into)
        os.close(into)

    def _be(self, work, into):
        global is_child, _errors
        status = 1
        try:
            is_child, _errors = True, self.errors
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            for target in (1, 2):
                os.dup2(self.errors.fileno(), target)
            _limit(self.limits["memory_mib"])
            from . import hip

            hip.use_threads(1)
            hip.keep_faults()
            if "torch" in sys.modules:
                # Threads of the parent's pools do not exist here.
                sys.modules["torch"].set_num_threads(1)
            try:
                result = work()
            except MemoryError:
                result = {"failed": {"kind": "memory", "why": f"more than {self.limits['memory_mib']} MiB beyond the program's own"}}
            except BaseException as error:  # noqa: BLE001: whatever ends the work is its result
                result = {"failed": {"kind": "run", "why": first_line(error)}}
            data = json.dumps(result).encode()
            while data:
                data = data[os.write(into, data) :]
            status = 0
        finally:
            os._exit(status)

    def has_ended(self):
        """Reads what is there; whether it was the last."""
        data = os.read(self.result, _MOST_TEXT)
        self.text += data
        return not data

    def end_if_late(self):
        """Ends a copy that exceeds the limit of time."""
        if not self.late and time.monotonic() - self.started > self.limits["seconds"]:
            self.late = True
            os.kill(self.process, signal.SIGKILL)

    def kill(self):
        """Ends it now."""
        os.kill(self.process, signal.SIGKILL)
        self.outcome()

    def wait(self):
        """Waits for the result."""
        import select

        while True:
            if select.select([self.result], [], [], 1.0)[0] and self.has_ended():
                return self.outcome()
            self.end_if_late()

    def outcome(self):
        """The result, or why there is none."""
        os.close(self.result)
        _, status = os.waitpid(self.process, 0)
        said = self._said()
        self.errors.close()
        if self.late:
            return {"failed": {"kind": "time", "why": f"more than {self.limits['seconds']:g} s"}}
        try:
            return json.loads(self.text)
        except ValueError:
            code = os.waitstatus_to_exitcode(status)
            ended = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            kind = "memory" if code == -signal.SIGKILL else "run"
            return {"failed": {"kind": kind, "why": f"{said} ({ended})" if said else ended}}

    def _said(self):
        """The line of its output that says what went wrong."""
        self.errors.seek(max(0, os.fstat(self.errors.fileno()).st_size - _MOST_TEXT))
        lines = [line.strip() for line in self.errors.read().decode(errors="replace").splitlines()]
        lines = [line for line in lines if line and not line.startswith("hint")]
        told = [line for line in lines if line.startswith(("rockhound: ", "LLVM ERROR", "fatal"))]
        return (told or lines or [""])[-1].removeprefix("rockhound: ")


def _limit(mebibytes):
    """Memory that the copy may take beyond what it has."""
    with open("/proc/self/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (mebibytes << 20), resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

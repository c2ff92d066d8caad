"""An emulated GPU inside of this Python process: in a notebook, in a test."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import subprocess
import sys
from typing import Dict, Iterator, Optional

from .__main__ import find_command
from ._error import RockhoundError

_HOLD = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); sys.stdin.read()"
"""A program that shows the environment it got and waits for its end."""
_TAKEN = ("LD_LIBRARY_PATH", "TRITON_LIBHIP_PATH")
_gpu: Optional[str] = None


@contextlib.contextmanager
def emulated(gpu: str = "mi300x") -> Iterator[str]:
    """Run the Triton kernels of this process on an emulated GPU.

    ``torch`` and ``triton`` are imported after the first use: they take the GPU that is there when they are imported. A process has one
    emulated GPU, and keeps it to its end; a second ``with`` of the same GPU goes on with it.

    Args:
        gpu: GPU to emulate, as ``rockhound run --gpu`` names it.

    Raises:
        RockhoundError: torch or triton is there already, or this process emulates another GPU.
    """
    start(gpu)
    yield gpu


def start(gpu: str) -> None:
    """Begins the emulation, once for this process."""
    global _gpu
    if _gpu is not None:
        if _gpu != gpu:
            raise RockhoundError(f"this process emulates `{_gpu}`", f"start another process for `{gpu}`")
        return
    early = [name for name in ("torch", "triton") if name in sys.modules]
    if early:
        raise RockhoundError(
            f"`{early[0]}` was imported before the emulated GPU was there",
            "enter `rockhound.emulated()` first, or run the program with `rockhound run`",
        )
    variables = _session(gpu)
    changed = {name: value for name, value in variables.items() if name.startswith("ROCKHOUND_") or name in _TAKEN}
    os.environ.update(changed)
    # Whoever asks for the HIP library by its name gets the one that is loaded.
    ctypes.CDLL(os.path.realpath(variables["TRITON_LIBHIP_PATH"]), mode=ctypes.RTLD_GLOBAL)
    folder = variables["PYTHONPATH"].split(os.pathsep)[0]
    sys.path.insert(0, folder)
    try:
        from rockhound_live import imports  # type: ignore[import-not-found,unused-ignore]

        imports.watch()
    finally:
        sys.path.remove(folder)
    _gpu = gpu


def _session(gpu: str) -> Dict[str, str]:
    """The environment that `rockhound run` gives to programs; its session ends with this process."""
    process = subprocess.Popen(
        [find_command(), "run", f"--gpu={gpu}", "--", sys.executable, "-S", "-c", _HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    line = process.stdout.readline()
    if not line:
        said = process.stderr.read().strip()
        process.wait()
        raise RockhoundError(said.replace("error: ", "", 1) or "no GPU is emulated")
    # It is held by its standard input, which closes when this process ends, however that happens.
    _held.append(process)
    return dict(json.loads(line))


_held: "list[subprocess.Popen[str]]" = []

"""Performance workbench for AMD Instinct GPUs.

``inspect`` says what limits each kernel of code objects, programs and libraries, ``analyze`` makes a report of profilers'
recordings, ``read`` gives a recording's columns, and every other command is a function with the command's options as keywords.
All return dictionaries with the fields of the command's JSON; a number that is not known is ``{"missing": "reason"}``. Errors are
:class:`RockhoundError`. ``emulated`` gives this process an emulated GPU.
"""

from __future__ import annotations

import json
import os
from typing import List, Optional, Sequence, Union

from . import _commands, _rockhound
from ._commands import *  # noqa: F403
from ._documents import Document, Inspection, Recording, Report
from ._emulated import emulated
from ._error import RockhoundError
from ._run import Progress, Ran

__version__: str = _rockhound.VERSION
__all__ = [
    "Document",
    "Inspection",
    "Ran",
    "Recording",
    "Report",
    "RockhoundError",
    "analyze",
    "emulated",
    "inspect",
    "read",
    *_commands.__all__,
]

Path = Union[str, "os.PathLike[str]"]
"""A path to a file or folder."""


def inspect(
    path: Union[Path, Sequence[Path]],
    *,
    kernel: Optional[str] = None,
    arch: Union[str, Sequence[str]] = (),
    listing: bool = False,
    progress: Optional[Progress] = None,
) -> Inspection:
    """Say what limits each kernel of code objects, libraries, programs, assembly files, or folders of these.

    Args:
        path: files and folders.
        kernel: regular expression; only kernels whose linker name or demangled name matches.
        arch: only code for these targets, such as ``"gfx942"``.
        listing: add the annotated disassembly of every kernel.
        progress: called with how far the reading of large files is, and with each error of a file.

    Returns:
        The document of ``rockhound inspect --format json``. Files that could not be read are in ``errors``.

    Raises:
        RockhoundError: no kernel could be read.
    """
    text = _rockhound.inspect(_paths(path), kernel, _texts(arch), listing, progress)
    return Inspection(json.loads(text))


def analyze(
    path: Union[Path, Sequence[Path]],
    *,
    kernel: Union[str, int, Sequence[Union[str, int]]] = (),
    dispatch: Union[str, int, Sequence[Union[str, int]]] = (),
    gpu_id: Union[int, Sequence[int]] = (),
    arch: Optional[str] = None,
    blocks: Union[str, Sequence[str]] = (),
    normal_unit: str = "per_kernel",
    time_unit: str = "ns",
    average: str = "weighted",
    top: Optional[int] = None,
    match: Union[str, Sequence[str]] = (),
    ranks: Optional[str] = None,
    runs: Optional[str] = None,
) -> Report:
    """Make a report of a profiler's recording: findings, roofline, memory chart, tables.

    Args:
        path: recording, a folder or a file; the first of several is the base of a comparison.
        kernel: only these kernels: number in the list of kernels, name, or regular expression.
        dispatch: only these dispatches: IDs, ranges ``"1-5"``, bounds ``">10"``.
        gpu_id: only dispatches on these GPUs.
        arch: GPU of the recording where it does not say: target or model.
        blocks: only these panels ``"2"``, tables ``"7.1"``, rows ``"2.1.20"`` or metrics ``"l2.hit_rate"``.
        normal_unit: what totals are divided by: ``per_kernel``, ``per_wave``, ``per_cycle`` or ``per_second``.
        time_unit: ``ns``, ``us``, ``ms`` or ``s``.
        average: ``weighted`` adds up before it divides, ``dispatches`` takes the mean of ratios.
        top: most rows of lists; all by default.
        match: kernels of the base under other names, ``"OLD=NEW"``.
        ranks: take all recordings below a folder: ``merged`` as one, ``each`` side by side.
        runs: take the runs in one folder, of which each counts the same or launches other kernels: ``each`` side
            by side, ``merged`` as one.

    Returns:
        The document of ``rockhound analyze --format json``.

    Raises:
        RockhoundError: a recording cannot be read, or nothing is selected.
    """
    gpus = [gpu_id] if isinstance(gpu_id, int) else list(gpu_id)
    text = _rockhound.analyze(
        _paths(path),
        _texts(kernel),
        _texts(dispatch),
        gpus,
        arch,
        _texts(blocks),
        normal_unit,
        time_unit,
        average,
        top,
        _texts(match),
        ranks,
        runs,
    )
    return Report(json.loads(text))


def read(path: Path, *, counters: Optional[Sequence[str]] = None) -> Recording:
    """Read a recording's columns: a value per dispatch, as recorded.

    Args:
        path: recording, a folder or a file.
        counters: only these counters, by their names without instance; all by default.

    Returns:
        Machine facts, settings and columns; ``docs/python.md`` has every field.

    Raises:
        RockhoundError: the recording cannot be read or lacks a counter.
    """
    text = _rockhound.read(os.fspath(path), None if counters is None else list(counters))
    return Recording(json.loads(text))


def _paths(path: Union[Path, Sequence[Path]]) -> List[str]:
    if isinstance(path, (str, os.PathLike)):
        return [os.fspath(path)]
    return [os.fspath(each) for each in path]


def _texts(values: Union[str, int, Sequence[Union[str, int]]]) -> List[str]:
    if isinstance(values, (str, int)):
        return [str(values)]
    return [str(value) for value in values]

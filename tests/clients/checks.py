"""What the scripts of this folder share: each check is a line of JSON on standard output, which `cargo xtask clients` reads."""

import json
import sys

import numpy


def _tell(**fields):
    print(json.dumps(fields), flush=True)


def close(name, got, want, limit):
    """Largest difference, relative to the largest value of `want`, against a limit."""
    got, want = (numpy.asarray(it) for it in (got, want))
    if got.shape != want.shape:
        _tell(check=name, failed=f"shape {got.shape} instead of {want.shape}")
        return
    if want.dtype.kind not in "fc":
        want, got = want.astype("float64"), got.astype("float64")
    wide = "complex128" if "c" in (got.dtype.kind, want.dtype.kind) else "float64"
    got, want = got.astype(wide), want.astype(wide)
    scale = float(numpy.abs(want).max(initial=0)) or 1.0
    error = float(numpy.abs(got - want).max(initial=0)) / scale
    _tell(check=name, error=error if numpy.isfinite(error) else None, limit=limit)


def same(name, got, want):
    """Equal values."""
    if got == want:
        _tell(check=name, error=0, limit=0)
    else:
        _tell(check=name, failed=f"{got!r} instead of {want!r}"[:500])


def each(checks):
    """Calls functions; an exception is a failed check and does not end the others."""
    for function in checks:
        try:
            function()
        except Exception as error:  # Whatever the client raises is its answer.
            _tell(check=function.__name__, failed=f"{type(error).__name__}: {error}"[:500])
    sys.stdout.flush()


def counts(passed, failed, skipped):
    """Results of a client's own tests."""
    _tell(passed=passed, failed=failed, skipped=skipped)

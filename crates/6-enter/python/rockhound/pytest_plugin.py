"""pytest on an emulated GPU: ``pytest --rockhound-gpu mi300x``, or the fixture ``rockhound_gpu``."""

from __future__ import annotations

from typing import Any, Iterator

import pytest  # type: ignore[import-not-found,unused-ignore]

from . import _emulated


def pytest_addoption(parser: Any) -> None:
    """Adds the option."""
    parser.getgroup("rockhound").addoption(
        "--rockhound-gpu",
        metavar="GPU",
        default=None,
        help="run Triton kernels on this emulated GPU (mi210, mi250x, mi300a, mi300x, mi350x)",
    )


def pytest_configure(config: Any) -> None:
    """Begins before test files import torch."""
    gpu = config.getoption("--rockhound-gpu")
    if gpu is not None:
        _emulated.start(gpu)


@pytest.fixture(scope="session")  # type: ignore[misc,untyped-decorator,unused-ignore]
def rockhound_gpu(request: Any) -> Iterator[str]:
    """The emulated GPU, an MI300X unless ``--rockhound-gpu`` names another."""
    gpu = request.config.getoption("--rockhound-gpu") or "mi300x"
    with _emulated.emulated(gpu) as name:
        yield name

"""The compiled part: documents as JSON text."""

from typing import Callable, List, Optional

VERSION: str

def inspect(
    paths: List[str],
    kernel: Optional[str],
    arch: List[str],
    listing: bool,
    progress: Optional[Callable[[str], object]],
) -> str: ...
def analyze(
    paths: List[str],
    kernels: List[str],
    dispatches: List[str],
    gpus: List[int],
    arch: Optional[str],
    blocks: List[str],
    normal_unit: str,
    time_unit: str,
    average: str,
    top: Optional[int],
    matches: List[str],
    ranks: Optional[str],
    runs: Optional[str],
) -> str: ...
def read(path: str, counters: Optional[List[str]]) -> str: ...

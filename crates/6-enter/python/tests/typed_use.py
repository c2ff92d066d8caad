"""How typed programs use the package: read by the type checker, not run."""

from pathlib import Path
from typing import Any, Dict, List, Optional

import rockhound
from rockhound import Inspection, Recording, Report, RockhoundError

inspection: Inspection = rockhound.inspect(Path("a.hsaco"), kernel="gemm", arch=["gfx942"])
kernels: List[Dict[str, Any]] = inspection.rows()
report: Report = rockhound.analyze(["before", "after"], kernel=[0, "gemm"], dispatch=">10", gpu_id=0)
rows: List[Dict[str, Any]] = report.rows("2.1")
recording: Recording = rockhound.read("DIR", counters=["SQ_WAVES"])
columns: Dict[str, List[Any]] = recording.data()

try:
    rockhound.read("nowhere")
except RockhoundError as error:
    message: str = error.message
    hint: Optional[str] = error.hint

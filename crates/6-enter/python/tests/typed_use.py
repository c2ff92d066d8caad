"""How typed programs use the package: read by the type checker, not run."""

from pathlib import Path
from typing import Any, Dict, List, Optional

import rockhound
from rockhound import Document, Inspection, Ran, Recording, Report, RockhoundError

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

documents: List[Document] = [
    rockhound.accuracy("gpu", Path("emulated"), kernel=["gemm"], output="a.json"),
    rockhound.breakdown("DIR", what_if=["vgpr=96"], limits=True),
    rockhound.comm("a.txt", "b.txt", base="before.txt", fail_on=["severe", "COM001"]),
    rockhound.diff("old.hsaco", "new.hsaco", match="a=b"),
    rockhound.doctor("bundle.tar.zst", profile="inference", env=False),
    rockhound.explain("MEM001"),
    rockhound.guide("DIR", base="before", kernel=0, progress=print),
    rockhound.judge("a.hip", "b.hip", launch="LAUNCH.toml", seeds=3, shape=["N=1"], claim=12.5, arguments=["--size", 7]),
    rockhound.metrics("l2.hit_rate", arch="gfx942"),
    rockhound.occupancy(arch="mi300x", vgpr=96, lds="32K"),
    rockhound.roofline("before", "after", top=3, output="chart.svg"),
    rockhound.store_add("DIR", label=["app=copy"], store="runs.db"),
    rockhound.store_bisect(good=1, bad=2),
    rockhound.store_changes(metric="time"),
    rockhound.store_check(least=2.0),
    rockhound.store_compact(),
    rockhound.store_history(kernel="gemm", page="page.html"),
    rockhound.store_label(1, "app=copy"),
    rockhound.store_list(top=0),
    rockhound.store_query("SELECT 1"),
    rockhound.store_remove(1),
    rockhound.store_show("label=app=copy"),
    rockhound.store_summary(),
    rockhound.tile(mnk="4096,4096,4096", gpu="mi300x"),
    rockhound.trace("a.json", step=3, export="chrome", output="b.json"),
    rockhound.triage("job.log", fail_on_fault=True),
    rockhound.tune("tune.toml", budget="60", program=()),
    rockhound.tunedb_advise("a.csv"),
    rockhound.tunedb_coverage("a.csv", shapes="b.json"),
    rockhound.tunedb_diff("a.csv", "b.csv", noise=1.5),
    rockhound.tunedb_lint("a.csv", gpu="mi300x"),
    rockhound.tunedb_merge("a.csv", "b.csv", output="c.csv", force=True),
    rockhound.tunedb_query("a.csv", mnk="1,2,3"),
    rockhound.tunedb_shapes("a.json"),
    rockhound.tunedb_show("a.csv", sort="time"),
]
outputs: List[Ran] = [
    rockhound.capture(kernel="gemm", output="capture", program=["./app"]),
    rockhound.export("DIR", to="rocpd", output="a.db"),
    rockhound.launch_template("a.hip"),
    rockhound.profile("LAUNCH.toml", output="DIR", block=[2, "17"], progress=lambda line: None),
    rockhound.report("DIR", output="page.html"),
    rockhound.run(program=[Path("./app"), "--size", 1000], check="races"),
    rockhound.store_export(1, output="DIR"),
    rockhound.store_grafana(output="dashboard.json"),
    rockhound.store_import("a.db"),
    rockhound.store_schema(for_="partitions"),
    rockhound.tunedb_convert("a.csv", to="aiter"),
]
code: int = documents[0].code + outputs[0].code
text: str = outputs[0].text + outputs[0].messages
table: Dict[str, Any] = documents[0].table("2.1")

with rockhound.emulated(gpu="mi300x") as gpu:
    name: str = gpu
version: str = rockhound.__version__

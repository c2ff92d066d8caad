"""A folder with an input of every kind, for tests of the package: code, recordings, timelines, logs, tunings."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile

from rockhound.__main__ import find_command

EXAMPLES = os.environ["ROCKHOUND_EXAMPLES"]

JOB = "[rank3] torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.\n"

TUNED = "\n".join(
    [
        "Validator,PT_VERSION,2.9.1",
        "Validator,HIP_VERSION,702",
        "Validator,HIPBLASLT_VERSION,1",
        "Validator,GCN_ARCH_NAME,gfx942:xnack-",
        "Validator,ROCBLAS_VERSION,5",
        "GemmTunableOp_BFloat16_TN,tn_40_20_30_ld_30_30_40,Gemm_Rocblas_1,0.5",
        "",
    ]
)

ALL_REDUCE = """\
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 17179869184 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0
#
# Using devices
{devices}
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
     1048576        262144     float     sum      -1    48.30   21.71   37.99      0    48.10   21.80   38.15      0
 17179869184    4294967296     float     sum      -1    94254  182.27  318.98      0    94300  182.18  318.82      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 178.485
""".format(
    devices="\n".join(f"#  Rank  {at} Group  0 Pid  {4000 + at} on node1 device  {at} [0000:{at:02x}:00] AMD Instinct MI300X" for at in range(8))
)


def trace(duration):
    """A timeline of PyTorch with one matrix product."""
    common = {"ph": "X", "pid": 1, "tid": 1}
    sizes = {"Input Dims": [[40], [20, 30], [30, 40]], "Input Strides": [[1], [30, 1], [1, 30]], "Input type": ["c10::BFloat16"] * 3}
    return {
        "traceEvents": [
            {**common, "cat": "cpu_op", "name": "aten::addmm", "ts": 1, "dur": 9, "args": {"External id": 5, **sizes}},
            {**common, "cat": "cuda_runtime", "name": "hipLaunchKernel", "ts": 2, "dur": 3, "args": {"External id": 5, "correlation": 7}},
            {
                "ph": "X", "cat": "kernel", "name": "Cijk", "pid": 0, "tid": 0, "ts": 20, "dur": duration,
                "args": {"device": 0, "stream": 0, "correlation": 7, "External id": 5},
            },
        ]
    }  # fmt: skip


def recording(folder, factor):
    """A recording of two kernels of a GPU; the first is slower by a factor."""
    os.makedirs(folder)
    with open(os.path.join(folder, "sysinfo.csv"), "w") as file:
        file.write("gpu_arch,gpu_model\ngfx942,MI300X\n")
    with open(os.path.join(folder, "pmc_perf.csv"), "w") as file:
        file.write("Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,SQ_WAVE_CYCLES,TCC_HIT_sum\n")
        for at in range(8):
            kernel, time = ("copy(float*)", 1000 * factor) if at % 2 == 0 else ("void fill<4>(float*)", 500)
            file.write(f"{at},1,1024,256,{kernel},{at * 9000},{at * 9000 + time + at},16,{100 + at},5\n")


def write(path, text):
    """Writes a file and its folder."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def fill(kept=True):
    """Fills the current folder; with recordings that take a run only where these are `kept`."""
    for name in ("tiled_matmul", "vector_copy"):
        code = os.path.join(EXAMPLES, name, f"{name}.gfx942.hsaco")
        shutil.copy(code, f"{name}.hsaco")
    shutil.copy("tiled_matmul.hsaco", "libfoo.so")
    for name in ("base.hip", "halves.hip", "kernel.h"):
        shutil.copy(os.path.join(EXAMPLES, "judge", name), name)
    shutil.copy(os.path.join(EXAMPLES, "judge", "LAUNCH.toml"), "judge.toml")
    for name in ("LAUNCH.toml", "vector_copy.gfx942.hsaco"):
        shutil.copy(os.path.join(EXAMPLES, "vector_copy", name), name)
    shutil.copytree(os.path.join(EXAMPLES, "tune"), "tune")
    shutil.copytree(os.path.join(EXAMPLES, "heat3d"), os.path.join("workloads", "app", "MI300X"))
    recording("before", 2)
    recording("after", 1)
    write("app", "#!/bin/sh\necho size $2\n")
    os.chmod("app", 0o755)
    write("job.log", JOB)
    write("all_reduce.txt", ALL_REDUCE)
    write("tunableop_results0.csv", TUNED)
    write("tunableop_results1.csv", TUNED.replace("Rocblas_1,0.5", "Rocblas_2,0.25"))
    write("run.pt.trace.json", json.dumps(trace(4)))
    write("later.pt.trace.json", json.dumps(trace(8)))
    if kept:
        program = [find_command(), "profile", "LAUNCH.toml", "--keep-events", "-o", "emulated"]
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # The same as if a GPU had recorded it.
        shutil.copytree("emulated", "measured", ignore=shutil.ignore_patterns("pmc_marks.csv", "*.hsaco"))
        with open(os.path.join("measured", "sysinfo.csv")) as file:
            names, values = (line.rstrip("\n").split(",") for line in file)
        values[names.index("emulated_by")] = ""
        write(os.path.join("measured", "sysinfo.csv"), ",".join(names) + "\n" + ",".join(values) + "\n")


@contextlib.contextmanager
def world(kept=True):
    """A new folder, filled, which is the current one meanwhile."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        # Nothing of this machine's settings.
        os.environ.pop("ROCKHOUND_STORE", None)
        try:
            fill(kept)
            yield folder
        finally:
            os.chdir(before)

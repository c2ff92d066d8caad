"""A function for each command. Written by `rockhound completions --python`."""

from __future__ import annotations

from typing import Optional, Sequence, Union

from ._documents import Document
from ._run import Progress, Ran, Text, Texts, document, ran

__all__ = [
    "accuracy",
    "breakdown",
    "capture",
    "comm",
    "diff",
    "doctor",
    "explain",
    "export",
    "guide",
    "judge",
    "launch_template",
    "metrics",
    "occupancy",
    "profile",
    "report",
    "roofline",
    "run",
    "store_add",
    "store_bisect",
    "store_changes",
    "store_check",
    "store_compact",
    "store_export",
    "store_grafana",
    "store_history",
    "store_import",
    "store_label",
    "store_list",
    "store_query",
    "store_remove",
    "store_schema",
    "store_show",
    "store_summary",
    "tile",
    "trace",
    "triage",
    "tune",
    "tunedb_advise",
    "tunedb_convert",
    "tunedb_coverage",
    "tunedb_diff",
    "tunedb_lint",
    "tunedb_merge",
    "tunedb_query",
    "tunedb_shapes",
    "tunedb_show",
]


def accuracy(
    gpu: Text,
    emulated: Optional[Text] = None,
    *,
    kernel: Texts = (),
    dispatch: Texts = (),
    kernel_iteration_range: Texts = (),
    gpu_id: Texts = (),
    kernel_names: bool = False,
    output: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Compare a recording of a GPU with an emulated one of the same program, and write a file to send.

    Args:
        gpu: Recording of a GPU.
        emulated: Emulated recording; by default the one beside the other whose command is the same.
        kernel: Only these kernels: number in the list of kernels, name, or regular expression.
        dispatch: Only these dispatches: IDs, ranges `1-5`, bounds `>10`.
        kernel_iteration_range: Only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
        gpu_id: Only dispatches on these GPUs.
        kernel_names: Write the names of kernels too.
        output: File to write; by default `accuracy-GPU.json`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["accuracy"],
        [gpu, emulated],
        {
            "kernel": kernel,
            "dispatch": dispatch,
            "kernel-iteration-range": kernel_iteration_range,
            "gpu-id": gpu_id,
            "kernel-names": kernel_names,
            "output": output,
        },
        (),
        progress,
    )


def breakdown(
    path: Text,
    *,
    what_if: Texts = (),
    limits: bool = False,
    kernel: Texts = (),
    dispatch: Texts = (),
    kernel_iteration_range: Texts = (),
    gpu_id: Texts = (),
    threads: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Say what each limit is worth, or what a change would bring, of a recording made with `profile --keep-events`.

    Args:
        path: Recording.
        what_if: Predict this change instead of lifting limits, as in `profile`.
        limits: Lift the limits too where `--what-if` is given.
        kernel: Only these kernels: number in the list of kernels, name, or regular expression.
        dispatch: Only these dispatches: IDs, ranges `1-5`, bounds `>10`.
        kernel_iteration_range: Only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
        gpu_id: Only dispatches on these GPUs.
        threads: Threads that run timing models; 0: one per core.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["breakdown"],
        [path],
        {
            "what-if": what_if,
            "limits": limits,
            "kernel": kernel,
            "dispatch": dispatch,
            "kernel-iteration-range": kernel_iteration_range,
            "gpu-id": gpu_id,
            "threads": threads,
        },
        (),
        progress,
    )


def capture(
    *,
    gpu: Optional[Text] = None,
    devices: Optional[Text] = None,
    threads: Optional[Text] = None,
    max_instructions: Optional[Text] = None,
    no_repeats: bool = False,
    virtual_time: Union[bool, Text] = False,
    autotune_limit: Optional[Text] = None,
    check: Texts = (),
    kernel: Texts = (),
    nth: Optional[Text] = None,
    output: Text,
    dispatch: Optional[Text] = None,
    on: Optional[Text] = None,
    limit: Optional[Text] = None,
    program: Sequence[Text] = (),
    progress: Optional[Progress] = None,
) -> Ran:
    """Run a program, and write one of its launches as a launch file with its data.

    Args:
        gpu: GPU to emulate; by default the one of a launch file, and of a program the first of mi300x, mi355x, mi210, mi100 that it has code for. `mi300x@1600` runs its engine at 1600 MHz instead of the clock that it holds in long kernels (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        devices: Devices the program sees.
        threads: Threads that run workgroups; 0: one per core.
        max_instructions: Stop a kernel as endless when one of its waves has issued this many instructions.
        no_repeats: Run every launch. Otherwise a launch of the same kernel with the same arguments is counted and not run where it would leave all memory as it is.
        virtual_time: Clocks that the program reads (`clock_gettime`, `std::chrono`) move on by the modelled time of the GPU's work where it waits for the GPU; on by default where it is recorded with times (on, off).
        autotune_limit: Let each `@triton.autotune` try only the first N of its configurations.
        check: Look for mistakes instead of counting: data races between waves, reads of memory that was never written. Findings make the exit code 2, unless the program itself fails (races, uninit).
        kernel: Kernels: names or regular expressions; by default any.
        nth: Which of their launches, counted from 1.
        output: Folder to write.
        dispatch: In place of it the dispatch with this number, counted from 0 over all kernels, as in recordings.
        on: Where the program runs: `auto` takes an AMD GPU if `/dev/kfd` can be opened, unless `--gpu` names one to emulate (auto, gpu, emulator).
        limit: Most memory, before compression, MiB.
        program: Program with its arguments, after `--`.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["capture"],
        [],
        {
            "gpu": gpu,
            "devices": devices,
            "threads": threads,
            "max-instructions": max_instructions,
            "no-repeats": no_repeats,
            "virtual-time": virtual_time,
            "autotune-limit": autotune_limit,
            "check": check,
            "kernel": kernel,
            "nth": nth,
            "output": output,
            "dispatch": dispatch,
            "on": on,
            "limit": limit,
        },
        program,
        progress,
    )


def comm(
    *files: Text,
    base: Optional[Text] = None,
    top: Optional[Text] = None,
    decimal: Optional[Text] = None,
    fail_on: Texts = (),
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Judge communication between GPUs: rccl-tests, NCCL_DEBUG logs, topologies, TransferBench, NPKit.

    Args:
        files: Files, and folders that NPKit dumped; `-` is standard input.
        base: Compare with this file.
        top: Rows of each table; 0 shows all.
        decimal: Decimals in text and markdown; other formats are exact.
        fail_on: Exit with 2 when there is a finding of this rule, or of this severity or worse (info, warning, severe).
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["comm"],
        [*files],
        {
            "base": base,
            "top": top,
            "decimal": decimal,
            "fail-on": fail_on,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
        },
        (),
        progress,
    )


def diff(
    old: Text,
    new: Text,
    *,
    kernel: Optional[Text] = None,
    arch: Texts = (),
    match: Texts = (),
    thresholds: Optional[Text] = None,
    fail_on: Texts = (),
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    top: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Show what changed between two builds, kernel by kernel.

    Args:
        old: The old build: a file or a folder.
        new: The new build: a file or a folder.
        kernel: Only kernels whose linker name or demangled name matches.
        arch: Only code for these targets or GPUs, for example `gfx942`, `gfx90a:xnack-` or `mi300x`.
        match: Treat a kernel of the old build as the same as one of the new build (linker names or demangled names).
        thresholds: Largest changes of values before the exit code is 2.
        fail_on: Exit with 2 when the new build has a finding of this rule, or of this severity or worse, that the old one has not.
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        top: Changed kernels shown in text; 0 shows all.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["diff"],
        [old, new],
        {
            "kernel": kernel,
            "arch": arch,
            "match": match,
            "thresholds": thresholds,
            "fail-on": fail_on,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
            "top": top,
        },
        (),
        progress,
    )


def doctor(
    *files: Text,
    profile: Optional[Text] = None,
    env: bool = False,
    pid: Optional[Text] = None,
    compare: bool = False,
    capture: Optional[Text] = None,
    names: bool = False,
    fix: bool = False,
    apply: bool = False,
    reset: bool = False,
    emit: Optional[Text] = None,
    root: Optional[Text] = None,
    fail_on: Texts = (),
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    command: Sequence[Text] = (),
    progress: Optional[Progress] = None,
) -> Document:
    """Check whether a machine, an environment and a command are set up to be fast.

    Args:
        files: Bundles, folders, or outputs of tools; `-` is standard input.
        profile: For which work: leaves out what does not matter for it (benchmark, training, inference, debug, distributed).
        env: Check only the environment of this shell, of FILE, or of --pid.
        pid: Check the environment and the command of a running process.
        compare: Name how the machines given differ.
        capture: Write the facts of this machine into a bundle.
        names: Keep the name of the host in the bundle; otherwise a hash replaces it.
        fix: Print a script that corrects failed checks.
        apply: Run it (needs root), save the old values, and read every change back.
        reset: Put back what --apply changed.
        emit: Print the recommended variables as lines of a shell, of docker, or of a batch script (sh, docker, slurm).
        root: Take `/proc`, `/sys` and the rest from a copy below this folder.
        fail_on: Exit with 2 when a check has this verdict or a worse one (unknown, warn, fail), or when this check or rule fails.
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        command: The command that is to run: its variables and arguments are checked too.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["doctor"],
        [*files],
        {
            "profile": profile,
            "env": env,
            "pid": pid,
            "compare": compare,
            "capture": capture,
            "names": names,
            "fix": fix,
            "apply": apply,
            "reset": reset,
            "emit": emit,
            "root": root,
            "fail-on": fail_on,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
        },
        command,
        progress,
    )


def explain(
    rule: Optional[Text] = None,
    *,
    progress: Optional[Progress] = None,
) -> Document:
    """Print the page of a rule: what it looks for, why that is slow, and what to do; without a rule, list all.

    Args:
        rule: Rule, or the letters of a group.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["explain"],
        [rule],
        {
        },
        (),
        progress,
    )


def export(
    path: Text,
    *,
    to: Text,
    output: Text,
    progress: Optional[Progress] = None,
) -> Ran:
    """Write a recording in a format of AMD's profilers.

    Args:
        path: Recording, of any profiler and version.
        to: Format (rocpd, rocprof-compute, csv).
        output: Folder to write, which is not there yet; of rocpd a file `.db` where the recording is one run.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["export"],
        [path],
        {
            "to": to,
            "output": output,
        },
        (),
        progress,
    )


def guide(
    path: Text,
    *,
    base: Optional[Text] = None,
    kernel: Texts = (),
    dispatch: Texts = (),
    kernel_iteration_range: Texts = (),
    gpu_id: Texts = (),
    arch: Optional[Text] = None,
    ranks: Union[bool, Text] = False,
    runs: Union[bool, Text] = False,
    specs_correction: Optional[Text] = None,
    match: Texts = (),
    progress: Optional[Progress] = None,
) -> Document:
    """Say what stops a recorded program, what to change first, and which command comes next.

    Args:
        path: Recording: a folder or a file.
        base: Recording to compare with, from before a change.
        kernel: Only these kernels: number in the list of kernels, name, or regular expression.
        dispatch: Only these dispatches: IDs, ranges `1-5`, bounds `>10`.
        kernel_iteration_range: Only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
        gpu_id: Only dispatches on these GPUs.
        arch: GPU of the recording, if it does not name it: target or model.
        ranks: Take all recordings below a folder, of ranks or GPUs: `merged` as one, `each` side by side (merged, each).
        runs: Take the runs in one folder, each with the same counters or other kernels: `each` side by side, `merged` as one (merged, each).
        specs_correction: Facts of the machine in place of recorded ones: `max_sclk: 2400, num_hbm_channels: 64`. `analyze --specs` lists them.
        match: Compare a kernel of the base with one of another name.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["guide"],
        [path],
        {
            "base": base,
            "kernel": kernel,
            "dispatch": dispatch,
            "kernel-iteration-range": kernel_iteration_range,
            "gpu-id": gpu_id,
            "arch": arch,
            "ranks": ranks,
            "runs": runs,
            "specs-correction": specs_correction,
            "match": match,
        },
        (),
        progress,
    )


def judge(
    base: Text,
    *candidates: Text,
    variants: Optional[Text] = None,
    launch: Optional[Text] = None,
    gpu: Optional[Text] = None,
    seeds: Optional[Text] = None,
    shape: Texts = (),
    keep: Texts = (),
    tolerance: Optional[Text] = None,
    claim: Texts = (),
    python: Optional[Text] = None,
    element: Optional[Text] = None,
    on: Optional[Text] = None,
    rounds: Optional[Text] = None,
    profiler: Optional[Text] = None,
    caches: Optional[Text] = None,
    page: Optional[Text] = None,
    fail_on: Texts = (),
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    arguments: Sequence[Text] = (),
    progress: Optional[Progress] = None,
) -> Document:
    """Say of variants of a kernel whether each is right and whether it is faster than the first.

    Args:
        base: The variant that is right: a launch file, a code object, a HIP source, a program, or a Python script.
        candidates: Variants to judge.
        variants: Every code object, source or launch file of a folder, by name.
        launch: Launch file of variants that are code objects or sources.
        gpu: GPU to emulate; by default the launch file's (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        seeds: Sets of inputs: random numbers, and other contents of buffers that are files, as in a captured launch.
        shape: Values in braces of the launch file, such as `N=1000,M=8`; several for several shapes.
        keep: Keep the contents of this buffer as in its file for every set of inputs.
        tolerance: Difference allowed, relative to elements larger than 1; by default the launch file's, or the type's.
        claim: Time that somebody claims for the candidate, in us, or for one of several: `NAME=US`.
        python: Python that runs scripts.
        element: Type of what programs read back from the GPU; by default f32 or f64 by the magnitudes of all elements, else equal bytes (f64, f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64).
        on: Where programs are timed. On a GPU of this machine, variants that are right on the emulated one run in turn under the vendor's profiler (emulator, gpu).
        rounds: Runs of each variant with `--on gpu` (default: 7); five or more give a confidence interval.
        profiler: Profiler with `--on gpu`, in place of the rocprofv3, rocprofv2 or rocprof in PATH.
        caches: Lines that a launch finds in the caches; as in `profile` (profiled, cold, warm, as-run).
        page: Also write an HTML page of the verdicts, with the work that changed.
        fail_on: Exit with 2 when there is a finding of this rule, or of this severity or worse (severe, warning, info).
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        arguments: Arguments of programs.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["judge"],
        [base, *candidates],
        {
            "variants": variants,
            "launch": launch,
            "gpu": gpu,
            "seeds": seeds,
            "shape": shape,
            "keep": keep,
            "tolerance": tolerance,
            "claim": claim,
            "python": python,
            "element": element,
            "on": on,
            "rounds": rounds,
            "profiler": profiler,
            "caches": caches,
            "page": page,
            "fail-on": fail_on,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
        },
        arguments,
        progress,
    )


def launch_template(
    file: Text,
    *,
    kernel: Optional[Text] = None,
    arch: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Ran:
    """Write a launch file for a kernel, to be filled in.

    Args:
        file: Code object, program, library or HIP source.
        kernel: Kernel, by linker name or demangled name.
        arch: Target or GPU, where the file has code for several.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["launch-template"],
        [file],
        {
            "kernel": kernel,
            "arch": arch,
        },
        (),
        progress,
    )


def metrics(
    *ids: Text,
    set: Optional[Text] = None,
    list_sets: bool = False,
    arch: Optional[Text] = None,
    metrics: Texts = (),
    progress: Optional[Progress] = None,
) -> Document:
    """Explain metrics and counters: formula, counters needed, runs of the application needed; without one, list all.

    Args:
        ids: Panels, tables, rows, blocks, metrics or counters.
        set: The metrics of a set that one run of the application reads, with its counters.
        list_sets: List the sets.
        arch: Target or GPU, for example `gfx942` or `mi300x`.
        metrics: Further definitions of metrics and tables; see docs/metric-definitions.md.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["metrics"],
        [*ids],
        {
            "set": set,
            "list-sets": list_sets,
            "arch": arch,
            "metrics": metrics,
        },
        (),
        progress,
    )


def occupancy(
    *,
    arch: Text,
    vgpr: Optional[Text] = None,
    agpr: Optional[Text] = None,
    sgpr: Optional[Text] = None,
    lds: Optional[Text] = None,
    waves: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Calculate how many waves fit, what limits them, and how far the next step is on every resource.

    Args:
        arch: Target or GPU, for example `gfx942` or `mi300x`.
        vgpr: Vector registers per lane, without AGPRs.
        agpr: Accumulation registers per lane.
        sgpr: Scalar registers per wave.
        lds: LDS per workgroup in bytes; `K` counts 1024.
        waves: Waves per workgroup.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["occupancy"],
        [],
        {
            "arch": arch,
            "vgpr": vgpr,
            "agpr": agpr,
            "sgpr": sgpr,
            "lds": lds,
            "waves": waves,
        },
        (),
        progress,
    )


def profile(
    file: Optional[Text] = None,
    *,
    shape: Optional[Text] = None,
    gpu: Optional[Text] = None,
    devices: Optional[Text] = None,
    threads: Optional[Text] = None,
    max_instructions: Optional[Text] = None,
    no_repeats: bool = False,
    virtual_time: Union[bool, Text] = False,
    autotune_limit: Optional[Text] = None,
    check: Texts = (),
    on: Optional[Text] = None,
    profiler: Optional[Text] = None,
    resume: bool = False,
    repeat: Optional[Text] = None,
    iteration_multiplexing: Union[bool, Text] = False,
    pc_sampling: Union[bool, Text] = False,
    pc_sampling_interval: Optional[Text] = None,
    thread_trace: bool = False,
    trace_dispatches: Optional[Text] = None,
    trace_limit: Optional[Text] = None,
    rank: Optional[Text] = None,
    attach: Optional[Text] = None,
    attach_duration: Optional[Text] = None,
    collection_period: Optional[Text] = None,
    name: Optional[Text] = None,
    output: Optional[Text] = None,
    overwrite: bool = False,
    kernel: Texts = (),
    dispatch: Texts = (),
    kernel_iteration_range: Texts = (),
    dispatch_limit: Optional[Text] = None,
    block: Texts = (),
    set: Optional[Text] = None,
    list_sets: bool = False,
    sample_workgroups: Optional[Text] = None,
    breakdown: bool = False,
    what_if: Texts = (),
    keep_events: bool = False,
    counters_only: bool = False,
    clock_detail: Optional[Text] = None,
    caches: Optional[Text] = None,
    no_results: bool = False,
    program: Sequence[Text] = (),
    progress: Optional[Progress] = None,
) -> Ran:
    """Profile a HIP program, or a kernel with a launch file; without a GPU on an emulated one.

    Args:
        file: Launch file or folder of a capture, instead of a program.
        shape: Values in braces of the launch file, such as `N=1000,M=8`.
        gpu: GPU to emulate; by default the one of a launch file, and of a program the first of mi300x, mi355x, mi210, mi100 that it has code for. `mi300x@1600` runs its engine at 1600 MHz instead of the clock that it holds in long kernels (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        devices: Devices the program sees.
        threads: Threads that run workgroups; 0: one per core.
        max_instructions: Stop a kernel as endless when one of its waves has issued this many instructions.
        no_repeats: Run every launch. Otherwise a launch of the same kernel with the same arguments is counted and not run where it would leave all memory as it is.
        virtual_time: Clocks that the program reads (`clock_gettime`, `std::chrono`) move on by the modelled time of the GPU's work where it waits for the GPU; on by default where it is recorded with times (on, off).
        autotune_limit: Let each `@triton.autotune` try only the first N of its configurations.
        check: Look for mistakes instead of counting: data races between waves, reads of memory that was never written. Findings make the exit code 2, unless the program itself fails (races, uninit).
        on: Where the program runs: `auto` takes an AMD GPU if `/dev/kfd` can be opened and a profiler of the vendor is in PATH, unless `--gpu` names one to emulate (auto, gpu, emulator).
        profiler: Profiler, in place of the rocprofv3, rocprofv2 or rocprof in PATH.
        resume: Keep the passes that the folder holds, and record the rest.
        repeat: Run each pass this many times: values are medians over the runs, and `analyze -b 0.8` shows the run-to-run spread.
        iteration_multiplexing: Run the program once: each dispatch has the counters of another pass, and what it lacks is the mean over dispatches of its kernel that have it, with the standard error. By default only those with the same sizes count as the same (kernel, kernel_launch_params).
        pc_sampling: Sample the program counter too, in a separate run: which instructions waves are at, and with `stochastic` why they do not issue. Without a method the best that the GPU has (auto, host-trap, stochastic).
        pc_sampling_interval: Cycles between samples (`stochastic`, a power of two), or microseconds (`host-trap`); by default 1048576 cycles or 10 us.
        thread_trace: Trace every instruction of the waves of one compute unit of the kernels of `-k`, in a separate run.
        trace_dispatches: Dispatches of each kernel that are traced, the first ones.
        trace_limit: End the run of the thread trace when it has written this many MB.
        rank: This process is one rank of several: it records into a folder of its number below the output folder. `auto` takes the number that mpirun, srun or the MPI library gave it.
        attach: Record a process that runs already, started with `ROCP_TOOL_ATTACH=1`, in place of a program; only what one run reads.
        attach_duration: For how long a process is attached to, in milliseconds.
        collection_period: Count only part of the time, in milliseconds: a delay, a duration, and the number of repetitions; only counters that one run reads.
        name: Name of the workload; by default the name of the program or of the launch file's folder.
        output: Folder to write; by default workloads/NAME/GPU. `%hostname%`, `%gpu%`, `%name%`, `%pid%`, `%rank%` and `%env{VARIABLE}%` in it are replaced.
        overwrite: Replace an emulated recording in the folder of `-o`; without `-o` it is replaced anyway. One that a profiler made is never replaced.
        kernel: Record only these kernels: name or regular expression.
        dispatch: Record only these dispatches, counted from 0 in the order of their launch: IDs, ranges `1-5`, bounds `>10`.
        kernel_iteration_range: Record only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
        dispatch_limit: Record only the first dispatches of those selected.
        block: Panels, tables, rows or metrics of the report, as in `analyze`; everything is recorded unless `--set` is given.
        set: Record only the counters of a set that one run of the application reads, and report its metrics.
        list_sets: List the sets and end.
        sample_workgroups: Run at most this many workgroups of each dispatch as a sample of all: counters are scaled, the recording says so, and results are not computed, which `--no-results` agrees to.
        breakdown: Say what each limit is worth: the time of each dispatch again with one limit lifted at a time (perfect caches, infinite memory bandwidth, no LDS conflicts, free registers, free barriers and so on).
        what_if: Predict the time of each dispatch with something changed: `vgpr=96`, `lds=16384`, `waves_per_eu=4`, `workgroup-order=xcd-swizzle`, `gpu.hbm_bandwidth=8e12`, `gpu.lds_per_cu=160K`, `gpu=mi300a`. Several with commas between are one prediction.
        keep_events: Keep the events of waves, a file for each dispatch: `rockhound breakdown` then predicts without another run.
        counters_only: Count only what follows from execution: caches and times are not modelled, and values that need them are n/a. Takes a fraction of the time.
        clock_detail: Coverage of the cache and timing model in a dispatch: `auto` simulates two representative XCDs and the first workgroups that repeat each other if all would take long, and reports the likely error; `full` always simulates all (auto, full).
        caches: Lines that a dispatch finds in the caches: `profiled` as under the vendor's profiler, whose packets between dispatches empty the L2 of some GPUs; `cold` nothing; `warm` what the dispatch before left in the L2; `as-run` the same until the host copies, as without a profiler (profiled, cold, warm, as-run).
        no_results: Only the recording matters, not the results of kernels: dispatches that are not recorded do not run.
        program: Program and its arguments.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["profile"],
        [file],
        {
            "shape": shape,
            "gpu": gpu,
            "devices": devices,
            "threads": threads,
            "max-instructions": max_instructions,
            "no-repeats": no_repeats,
            "virtual-time": virtual_time,
            "autotune-limit": autotune_limit,
            "check": check,
            "on": on,
            "profiler": profiler,
            "resume": resume,
            "repeat": repeat,
            "iteration-multiplexing": iteration_multiplexing,
            "pc-sampling": pc_sampling,
            "pc-sampling-interval": pc_sampling_interval,
            "thread-trace": thread_trace,
            "trace-dispatches": trace_dispatches,
            "trace-limit": trace_limit,
            "rank": rank,
            "attach": attach,
            "attach-duration": attach_duration,
            "collection-period": collection_period,
            "name": name,
            "output": output,
            "overwrite": overwrite,
            "kernel": kernel,
            "dispatch": dispatch,
            "kernel-iteration-range": kernel_iteration_range,
            "dispatch-limit": dispatch_limit,
            "block": block,
            "set": set,
            "list-sets": list_sets,
            "sample-workgroups": sample_workgroups,
            "breakdown": breakdown,
            "what-if": what_if,
            "keep-events": keep_events,
            "counters-only": counters_only,
            "clock-detail": clock_detail,
            "caches": caches,
            "no-results": no_results,
        },
        program,
        progress,
    )


def report(
    *paths: Text,
    base: Optional[Text] = None,
    kernel: Texts = (),
    dispatch: Texts = (),
    kernel_iteration_range: Texts = (),
    gpu_id: Texts = (),
    arch: Optional[Text] = None,
    ranks: Union[bool, Text] = False,
    runs: Union[bool, Text] = False,
    specs_correction: Optional[Text] = None,
    output: Optional[Text] = None,
    match: Texts = (),
    normal_unit: Optional[Text] = None,
    time_unit: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Ran:
    """Write the report of a recording, or of traces, as one HTML file: where the time goes, and why.

    Args:
        paths: Recording, a folder or a file; or traces of one run, as `rockhound trace` reads them.
        base: Recording or trace to compare with, from before a change.
        kernel: Only these kernels: number in the list of kernels, name, or regular expression.
        dispatch: Only these dispatches: IDs, ranges `1-5`, bounds `>10`.
        kernel_iteration_range: Only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
        gpu_id: Only dispatches on these GPUs.
        arch: GPU of the recording, if it does not name it: target or model.
        ranks: Take all recordings below a folder, of ranks or GPUs: `merged` as one, `each` side by side (merged, each).
        runs: Take the runs in one folder, each with the same counters or other kernels: `each` side by side, `merged` as one (merged, each).
        specs_correction: Facts of the machine in place of recorded ones: `max_sclk: 2400, num_hbm_channels: 64`. `analyze --specs` lists them.
        output: File to write; `-` is standard output.
        match: Compare a kernel of the base with one of another name.
        normal_unit: Unit by which totals are divided (per_kernel, per_wave, per_cycle, per_second).
        time_unit: Unit of times (ns, us, ms, s).
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["report"],
        [*paths],
        {
            "base": base,
            "kernel": kernel,
            "dispatch": dispatch,
            "kernel-iteration-range": kernel_iteration_range,
            "gpu-id": gpu_id,
            "arch": arch,
            "ranks": ranks,
            "runs": runs,
            "specs-correction": specs_correction,
            "output": output,
            "match": match,
            "normal-unit": normal_unit,
            "time-unit": time_unit,
        },
        (),
        progress,
    )


def roofline(
    *paths: Text,
    measure: bool = False,
    on: Optional[Text] = None,
    gpu: Optional[Text] = None,
    repeat: Optional[Text] = None,
    least_time: Optional[Text] = None,
    hip: Optional[Text] = None,
    kernel: Texts = (),
    dispatch: Texts = (),
    kernel_iteration_range: Texts = (),
    gpu_id: Texts = (),
    arch: Optional[Text] = None,
    ranks: Union[bool, Text] = False,
    runs: Union[bool, Text] = False,
    specs_correction: Optional[Text] = None,
    only: Texts = (),
    type: Texts = (),
    kernel_names: bool = False,
    roofline_sort: Optional[Text] = None,
    top: Optional[Text] = None,
    output: Optional[Text] = None,
    dark: bool = False,
    progress: Optional[Progress] = None,
) -> Document:
    """Draw the roofline of one recording or of several in one plot, on the terminal or as a picture.

    Args:
        paths: Recordings: folders or files.
        measure: Measure the roofs with kernels that do one thing only, and write them to `roofline.csv` or the file of `-o`.
        on: Where roofs are measured: `auto` takes an AMD GPU if `/dev/kfd` can be opened, unless `--gpu` names one to emulate (auto, gpu, emulator).
        gpu: GPU that is emulated, by default mi300x; with `--on gpu` which one it is, where the driver does not say.
        repeat: On a GPU: measurements per roof; the median counts, the smallest and the largest are kept.
        least_time: On a GPU: make kernels so long that two lengths differ by this many microseconds.
        hip: On a GPU: HIP runtime in place of the one that programs find.
        kernel: Only these kernels: number in the list of kernels, name, or regular expression.
        dispatch: Only these dispatches: IDs, ranges `1-5`, bounds `>10`.
        kernel_iteration_range: Only these launches of each kernel, counted from 1: `3`, `2-5`, `>10`.
        gpu_id: Only dispatches on these GPUs.
        arch: GPU of the recording, if it does not name it: target or model.
        ranks: Take all recordings below a folder, of ranks or GPUs: `merged` as one, `each` side by side (merged, each).
        runs: Take the runs in one folder, each with the same counters or other kernels: `each` side by side, `merged` as one (merged, each).
        specs_correction: Facts of the machine in place of recorded ones: `max_sclk: 2400, num_hbm_channels: 64`. `analyze --specs` lists them.
        only: Only these levels of memory (hbm, l2, vl1d, lds).
        type: Roofs of these types, also of those no kernel computes with; by default of those in use. Of integers alone, kernels are placed by their integer operations (fp4, fp6, fp8, fp16, bf16, fp32, fp64, i8, i32, i64).
        kernel_names: Show names of kernels in full; in a picture list them below the plot.
        roofline_sort: Items placed below the roofs: kernels, or single dispatches, longest first (kernels, dispatches).
        top: Kernels of each recording, longest first.
        output: Write a picture: `.svg`, `.png`, `.pdf` or `.html`; with `--measure` a table: `.csv`.
        dark: Light text on dark ground.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["roofline"],
        [*paths],
        {
            "measure": measure,
            "on": on,
            "gpu": gpu,
            "repeat": repeat,
            "least-time": least_time,
            "hip": hip,
            "kernel": kernel,
            "dispatch": dispatch,
            "kernel-iteration-range": kernel_iteration_range,
            "gpu-id": gpu_id,
            "arch": arch,
            "ranks": ranks,
            "runs": runs,
            "specs-correction": specs_correction,
            "only": only,
            "type": type,
            "kernel-names": kernel_names,
            "roofline-sort": roofline_sort,
            "top": top,
            "output": output,
            "dark": dark,
        },
        (),
        progress,
    )


def run(
    *,
    gpu: Optional[Text] = None,
    devices: Optional[Text] = None,
    threads: Optional[Text] = None,
    max_instructions: Optional[Text] = None,
    no_repeats: bool = False,
    virtual_time: Union[bool, Text] = False,
    autotune_limit: Optional[Text] = None,
    check: Texts = (),
    report: Optional[Text] = None,
    junit: Optional[Text] = None,
    program: Sequence[Text] = (),
    progress: Optional[Progress] = None,
) -> Ran:
    """Run a HIP program, or Triton in Python, on an emulated GPU.

    Args:
        gpu: GPU to emulate; by default the one of a launch file, and of a program the first of mi300x, mi355x, mi210, mi100 that it has code for. `mi300x@1600` runs its engine at 1600 MHz instead of the clock that it holds in long kernels (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        devices: Devices the program sees.
        threads: Threads that run workgroups; 0: one per core.
        max_instructions: Stop a kernel as endless when one of its waves has issued this many instructions.
        no_repeats: Run every launch. Otherwise a launch of the same kernel with the same arguments is counted and not run where it would leave all memory as it is.
        virtual_time: Clocks that the program reads (`clock_gettime`, `std::chrono`) move on by the modelled time of the GPU's work where it waits for the GPU; on by default where it is recorded with times (on, off).
        autotune_limit: Let each `@triton.autotune` try only the first N of its configurations.
        check: Look for mistakes instead of counting: data races between waves, reads of memory that was never written. Findings make the exit code 2, unless the program itself fails (races, uninit).
        report: Write what the run relied on as JSON: functions that Rockhound's kernels replace or that are not supported, where times come from, dropped accesses, stopped kernels.
        junit: Write JUnit's XML: whether the program ends with 0 and calls the GPU, whether a kernel was stopped, and each check.
        program: Program and its arguments.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["run"],
        [],
        {
            "gpu": gpu,
            "devices": devices,
            "threads": threads,
            "max-instructions": max_instructions,
            "no-repeats": no_repeats,
            "virtual-time": virtual_time,
            "autotune-limit": autotune_limit,
            "check": check,
            "report": report,
            "junit": junit,
        },
        program,
        progress,
    )


def store_add(
    *paths: Text,
    label: Texts = (),
    no_provenance: bool = False,
    arch: Optional[Text] = None,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Add recordings to the database.

    Args:
        paths: Recordings: folders or files; of a folder of recordings, each of them. Also folders and files of tuners, timelines, and answers of other commands as JSON.
        label: Label of the recordings.
        no_provenance: Take no labels from the variables of the CI and from git.
        arch: GPU, for recordings that do not say it: a target or a model.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "add"],
        [*paths],
        {
            "label": label,
            "no-provenance": no_provenance,
            "arch": arch,
            "store": store,
        },
        (),
        progress,
    )


def store_bisect(
    *,
    kernel: Texts = (),
    metric: Optional[Text] = None,
    label: Texts = (),
    kernels: Optional[Text] = None,
    store: Optional[Text] = None,
    good: Optional[Text] = None,
    bad: Optional[Text] = None,
    arch: Optional[Text] = None,
    command: Sequence[Text] = (),
    progress: Optional[Progress] = None,
) -> Document:
    """Say whether the commit that is checked out is on the good or the bad side of a change, for `git bisect run`.

    Args:
        kernel: Only kernels of these names: a name or a regular expression.
        metric: Metric: `time` (median of the dispatches), a metric of `rockhound metrics`, or a counter.
        label: Only recordings with this label; of several labels, with all.
        kernels: Without --kernel: the N kernels with most time in the newest recording; 0 takes all.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        good: Recording with the good level; without it, the levels before and after the newest change of the kernel count.
        bad: Recording with the bad level.
        arch: GPU, if the recording does not say it.
        command: Command, with its arguments.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "bisect"],
        [],
        {
            "kernel": kernel,
            "metric": metric,
            "label": label,
            "kernels": kernels,
            "store": store,
            "good": good,
            "bad": bad,
            "arch": arch,
        },
        command,
        progress,
    )


def store_changes(
    *,
    metric: Optional[Text] = None,
    label: Texts = (),
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Write the changes of level of every kernel into the database, for dashboards.

    Args:
        metric: Metric: `time`, a metric of `rockhound metrics`, or a counter.
        label: Only recordings with this label; of several labels, with all.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "changes"],
        [],
        {
            "metric": metric,
            "label": label,
            "store": store,
        },
        (),
        progress,
    )


def store_check(
    *,
    kernel: Texts = (),
    metric: Optional[Text] = None,
    label: Texts = (),
    kernels: Optional[Text] = None,
    store: Optional[Text] = None,
    worse: Optional[Text] = None,
    least: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Compare the newest commit with the past of its kernels; the exit code is 2 if one is worse.

    Args:
        kernel: Only kernels of these names: a name or a regular expression.
        metric: Metric: `time` (median of the dispatches), a metric of `rockhound metrics`, or a counter.
        label: Only recordings with this label; of several labels, with all.
        kernels: Without --kernel: the N kernels with most time in the newest recording; 0 takes all.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        worse: Direction in which the metric gets worse; by default `up` for `time`, `any` for others (up, down, any).
        least: Least change that counts, percent.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "check"],
        [],
        {
            "kernel": kernel,
            "metric": metric,
            "label": label,
            "kernels": kernels,
            "store": store,
            "worse": worse,
            "least": least,
        },
        (),
        progress,
    )


def store_compact(
    *,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Remove files that no recording has any more, and free their space.

    Args:
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "compact"],
        [],
        {
            "store": store,
        },
        (),
        progress,
    )


def store_export(
    *ids: Text,
    output: Optional[Text] = None,
    to: Optional[Text] = None,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Ran:
    """Write recordings as the folders that were added, to another database, or as Parquet.

    Args:
        ids: Recordings: numbers, or `label=NAME=VALUE` for the newest with the label; all by default.
        output: New folder to write; several recordings get a folder each in it.
        to: Database to add them to, instead of a folder; `parquet` writes tables into the folder of `-o`.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["store", "export"],
        [*ids],
        {
            "output": output,
            "to": to,
            "store": store,
        },
        (),
        progress,
    )


def store_grafana(
    *,
    output: Text,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Ran:
    """Write dashboards for Grafana, its provisioning, and a compose file.

    Args:
        output: New folder to write.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["store", "grafana"],
        [],
        {
            "output": output,
            "store": store,
        },
        (),
        progress,
    )


def store_history(
    *,
    kernel: Texts = (),
    metric: Optional[Text] = None,
    label: Texts = (),
    kernels: Optional[Text] = None,
    store: Optional[Text] = None,
    top: Optional[Text] = None,
    page: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Show a metric of kernels over time: changes of level beyond noise, the first commit that shows each, and the counters that moved with it.

    Args:
        kernel: Only kernels of these names: a name or a regular expression.
        metric: Metric: `time` (median of the dispatches), a metric of `rockhound metrics`, or a counter.
        label: Only recordings with this label; of several labels, with all.
        kernels: Without --kernel: the N kernels with most time in the newest recording; 0 takes all.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        top: Newest values shown of each kernel; 0 shows all.
        page: Also write an HTML page with a chart of each kernel.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "history"],
        [],
        {
            "kernel": kernel,
            "metric": metric,
            "label": label,
            "kernels": kernels,
            "store": store,
            "top": top,
            "page": page,
        },
        (),
        progress,
    )


def store_import(
    from_: Text,
    *,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Ran:
    """Add the recordings of another database, with their labels.

    Args:
        from_: The other database.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["store", "import"],
        [from_],
        {
            "store": store,
        },
        (),
        progress,
    )


def store_label(
    id: Text,
    *labels: Text,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Add or change labels of a recording.

    Args:
        id: Recording: a number, or `label=NAME=VALUE` for the newest with the label.
        labels: Labels.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "label"],
        [id, *labels],
        {
            "store": store,
        },
        (),
        progress,
    )


def store_list(
    *,
    label: Texts = (),
    top: Optional[Text] = None,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """List recordings, oldest first.

    Args:
        label: Only recordings with this label; of several labels, with all.
        top: Newest recordings shown; 0 shows all.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "list"],
        [],
        {
            "label": label,
            "top": top,
            "store": store,
        },
        (),
        progress,
    )


def store_query(
    sql: Text,
    *,
    top: Optional[Text] = None,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Answer one SQL statement that only reads. docs/store.md lists tables and views.

    Args:
        sql: The statement. In PostgreSQL it need not name the schema `rockhound` of the tables.
        top: Rows shown; 0 shows all.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "query"],
        [sql],
        {
            "top": top,
            "store": store,
        },
        (),
        progress,
    )


def store_remove(
    *ids: Text,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Remove recordings. `compact` frees the space of their files.

    Args:
        ids: Recordings: numbers, or `label=NAME=VALUE` for the newest with the label.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "remove"],
        [*ids],
        {
            "store": store,
        },
        (),
        progress,
    )


def store_schema(
    *,
    for_: Text,
    progress: Optional[Progress] = None,
) -> Ran:
    """Print the tables as SQL for a large PostgreSQL database: with partitions by time, also distributed by Citus.

    Args:
        for_: Form of the database (partitions, citus).
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["store", "schema"],
        [],
        {
            "for": for_,
        },
        (),
        progress,
    )


def store_show(
    id: Text,
    *,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Show a recording: machine, labels, kernels, files.

    Args:
        id: Recording: a number, or `label=NAME=VALUE` for the newest with the label.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "show"],
        [id],
        {
            "store": store,
        },
        (),
        progress,
    )


def store_summary(
    *,
    since: Optional[Text] = None,
    kernel: Texts = (),
    metric: Optional[Text] = None,
    label: Texts = (),
    kernels: Optional[Text] = None,
    store: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Sum up the recordings and changes of level of the last days, as Markdown.

    Args:
        since: Time to sum up: days `7d`, weeks `2w`, or hours `12h` before now.
        kernel: Only kernels of these names: a name or a regular expression.
        metric: Metric: `time` (median of the dispatches), a metric of `rockhound metrics`, or a counter.
        label: Only recordings with this label; of several labels, with all.
        kernels: Without --kernel: the N kernels with most time in the newest recording; 0 takes all.
        store: Database: a path, or `postgres://USER@HOST/DATABASE`; by default `rockhound.db`.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["store", "summary"],
        [],
        {
            "since": since,
            "kernel": kernel,
            "metric": metric,
            "label": label,
            "kernels": kernels,
            "store": store,
        },
        (),
        progress,
    )


def tile(
    *,
    gpu: Optional[Text] = None,
    mnk: Texts,
    dtype: Optional[Text] = None,
    scales: Optional[Text] = None,
    tile: Optional[Text] = None,
    layout: Optional[Text] = None,
    split_k: Union[bool, Text] = False,
    num_warps: Optional[Text] = None,
    stages: Optional[Text] = None,
    lda: Optional[Text] = None,
    ldb: Optional[Text] = None,
    wgm: Optional[Text] = None,
    xcd_remap: bool = False,
    sweep: Union[bool, Text] = False,
    top: Optional[Text] = None,
    fail_on: Texts = (),
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Say what a tile size costs a matrix product: rounds over compute units and XCDs, bytes, resources, expected time.

    Args:
        gpu: GPU (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        mnk: Rows, columns and depth of the product; several for several shapes.
        dtype: Type of the factors: f16, bf16, f8, f6, f4, i8, f32, xf32, f64, or a framework's name of these such as mxfp4.
        scales: Scales of the factors: `end` by tensor or row, `mx` one for 32 elements of the depth, `blocks` one for 128; without it `mx` for 4 and 6 bits and names such as mxfp8, `end` for others (end, mx, blocks).
        tile: Tile of a workgroup; without it the fastest of the usual ones.
        layout: Layout of the factors: `tn` both contiguous along K; `tt` row-major times row-major (nn, nt, tn, tt).
        split_k: Workgroups that share the depth of a tile; without a number, other tiles are tried with 1, 2, 4 and 8.
        num_warps: Waves of a workgroup.
        stages: Pipeline stages, as Triton counts them.
        lda: Elements from one row of the left factor to the next.
        ldb: Elements from one row of the right factor to the next.
        wgm: `WorkGroupMapping` of hipBLASLt or Tensile.
        xcd_remap: The kernel deals its tiles to the XCDs itself.
        sweep: These M in place of the shape's; without a list the powers of two up to 8192.
        top: Other tiles shown.
        fail_on: Exit with 2 when there is a finding of this rule, or of this severity or worse (severe, warning, info).
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tile"],
        [],
        {
            "gpu": gpu,
            "mnk": mnk,
            "dtype": dtype,
            "scales": scales,
            "tile": tile,
            "layout": layout,
            "split-k": split_k,
            "num-warps": num_warps,
            "stages": stages,
            "lda": lda,
            "ldb": ldb,
            "wgm": wgm,
            "xcd-remap": xcd_remap,
            "sweep": sweep,
            "top": top,
            "fail-on": fail_on,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
        },
        (),
        progress,
    )


def trace(
    *files: Text,
    base: Optional[Text] = None,
    kernel: Optional[Text] = None,
    from_: Optional[Text] = None,
    to: Optional[Text] = None,
    step: Texts = (),
    block: Texts = (),
    top: Optional[Text] = None,
    decimal: Optional[Text] = None,
    fail_on: Texts = (),
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    tunings: Texts = (),
    untuned: Optional[Text] = None,
    export: Optional[Text] = None,
    no_index: bool = False,
    output: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Show where the time between kernels goes: idle time and why, overlap, launches, operators, collectives.

    Args:
        files: Traces, or folders of them.
        base: Compare with this trace.
        kernel: Only kernels whose name matches.
        from_: Only what begins at this time after the trace's begin or later: `1.5s`, `20ms`, `300us`.
        to: Only what begins before this time after the trace's begin.
        step: Only what these steps of the profiler launched.
        block: Only these tables `2.1`, groups of tables `2`, or `all`. Text and markdown show the most asked for, JSON and CSV all.
        top: Rows of each table; 0 shows all.
        decimal: Decimals in text and markdown; other formats are exact.
        fail_on: Exit with 2 when there is a finding of this rule, or of this severity or worse (info, warning, severe).
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        tunings: Compare matrix products with the times of these tuning files or folders of them; see `rockhound tunedb`.
        untuned: Write the matrix products to a file, as TunableOp lists those it is to tune.
        export: Write the selected part of the timeline instead of a report (chrome, perfetto).
        no_index: Read large traces again, without the index that the first run left in the user's cache folder.
        output: Write to a file instead of standard output; one that ends in `.html` is a page with the timeline.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["trace"],
        [*files],
        {
            "base": base,
            "kernel": kernel,
            "from": from_,
            "to": to,
            "step": step,
            "block": block,
            "top": top,
            "decimal": decimal,
            "fail-on": fail_on,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
            "tunings": tunings,
            "untuned": untuned,
            "export": export,
            "no-index": no_index,
            "output": output,
            "format": None if export else "json",
        },
        (),
        progress,
    )


def triage(
    *files: Text,
    fail_on_fault: bool = False,
    progress: Optional[Progress] = None,
) -> Document:
    """Say what broke: which kernel, instruction, lane and address, what the reason means, and what to run next.

    Args:
        files: Logs, dumps, code objects, folders of code objects; `-` is standard input.
        fail_on_fault: Exit with 2 when a fault is found.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["triage"],
        [*files],
        {
            "fail-on-fault": fail_on_fault,
        },
        (),
        progress,
    )


def tune(
    space: Optional[Text] = None,
    *,
    program: Sequence[Text] = (),
    widen: bool = False,
    write: Optional[Text] = None,
    gpu: Optional[Text] = None,
    on: Optional[Text] = None,
    budget: Optional[Text] = None,
    strategy: Optional[Text] = None,
    seed: Optional[Text] = None,
    prior: Optional[Text] = None,
    prior_runs: Optional[Text] = None,
    results: Optional[Text] = None,
    jobs: Optional[Text] = None,
    lag: Optional[Text] = None,
    store: Optional[Text] = None,
    study: Optional[Text] = None,
    fresh: bool = False,
    mix_gpus: bool = False,
    worker: bool = False,
    emit: Optional[Text] = None,
    workers: Optional[Text] = None,
    per_node: Optional[Text] = None,
    time: Optional[Text] = None,
    partition: Optional[Text] = None,
    image: Optional[Text] = None,
    top: Optional[Text] = None,
    why: Optional[Text] = None,
    no_inspect: bool = False,
    no_proof: bool = False,
    init: Optional[Text] = None,
    output: Optional[Text] = None,
    page: Optional[Text] = None,
    fail_on: Texts = (),
    shapes: Texts = (),
    for_: Optional[Text] = None,
    from_: Texts = (),
    merge: Texts = (),
    one: bool = False,
    clock: Optional[Text] = None,
    tiles: Optional[Text] = None,
    python: Optional[Text] = None,
    tokens: Texts = (),
    tp: Optional[Text] = None,
    dtype: Optional[Text] = None,
    block: Optional[Text] = None,
    model_dim: Optional[Text] = None,
    top_k: Optional[Text] = None,
    device: Optional[Text] = None,
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Find the fastest configuration of a kernel with few runs.

    Args:
        space: Space file (TOML), recorded space (T4, cache of Kernel Tuner), or T1, which is counted and not searched; with --shapes `gemm` or `moe`.
        program: Program whose autotuned Triton kernels are searched.
        widen: Search beyond the configurations that a program lists: the options of AMD GPUs and the sizes of blocks around those listed, as far as the rules of the GPU allow.
        write: Write patch, `triton.Config` list and files for Triton's cache of tuning results into a folder.
        gpu: GPU to emulate (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        on: Where programs run (auto, gpu, emulator).
        budget: Most configurations to run, as a number or a part of the valid ones (`5%`); or a limit of time: of the search (`90s`, `20m`, `2h`), or of all runs on all GPUs together (`600gpu-s`).
        strategy: How configurations are chosen (model, random, exhaustive).
        seed: Seed; the same seed and results give the same search.
        prior: Expected times before the first run: `auto` the tile model where the space file names a product, `tile`, `emulated` the emulated clock, `none`, or a file with times of another GPU (T4, cache of Kernel Tuner).
        prior_runs: Configurations that `--prior emulated` runs.
        results: Write what was run to a file in the form T4.
        jobs: Configurations that run at once here; by default one on a GPU, else one per core. 0: only workers elsewhere run.
        lag: Configurations that may be out at once, on all workers together. More see fewer results before they are chosen; the number of workers changes nothing.
        store: Database of results and work: a file, or `postgres://USER@HOST/DATABASE` for workers on many machines. By default a file beside the space file; for programs `rockhound-tune.db` in the current folder.
        study: Name of the study in the database; by default one that changes with everything that changes times.
        fresh: Do not go on with results of earlier runs.
        mix_gpus: Times of different GPUs may be mixed.
        worker: Work on a study of a database until it is closed.
        emit: Write the file that starts workers on a cluster: a batch script of Slurm, a Job of Kubernetes (slurm, kubernetes).
        workers: With --emit: workers, each with one GPU.
        per_node: With --emit slurm: workers of a node.
        time: With --emit slurm: time of the job, as Slurm reads it.
        partition: With --emit slurm: partition.
        image: With --emit kubernetes: image with this command and what the configurations need.
        top: Rows of the table of configurations; 0 shows all.
        why: Search nothing, and say what is known of one configuration, such as `TILE=64,ROWS=8`.
        no_inspect: Do not look at built code before it runs.
        no_proof: Do not check the winner's results, and do not compare it once more with the start.
        init: Write a first space file for a kernel's source or code object.
        output: Write to a file instead of standard output; with --shapes the entries, to a file or into a folder.
        page: Also write an HTML page of the searches, with convergence, landscapes and tables.
        fail_on: Exit with 2 when there is a finding of this rule, or of this severity or worse (severe, warning, info).
        shapes: Lists of shapes: what `tunedb shapes` reads (logs, untuned and tuned files, `M,N,K` lines), or a model's config.json.
        for_: Project whose tuned files are wanted (aiter, vllm, sglang, tunableop, hipblaslt).
        from_: Results of the benchmark of AITER, TunableOp or hipBLASLt, which name the kernels.
        merge: Tuned files in use (files or folders); of measured entries the faster stays, of others the existing.
        one: One configuration for all shapes of a file: the least geometric mean of the times.
        clock: Clock of the times: `tile`, or the emulated GPU for the tiles that `tile` finds fastest (vLLM, SGLang; needs a Python with Triton) (tile, emulated).
        tiles: Most tiles of each shape, and settings of the fastest one, that are emulated: about 5 s each on one core.
        python: The Python that has Triton.
        tokens: Rows or tokens of shapes whose list names none; by default those that vLLM and SGLang tune.
        tp: GPUs that share the model.
        dtype: Types where a list names none, as tuned files have them: fp8_w8a8, int8_w8a8, int8_w8a16, int4_w4a16, bf16, fp16.
        block: Block of the scales: N,K.
        model_dim: Width of the model, for names of files that a server looked for.
        top_k: Experts of a token, for names of files that a server looked for.
        device: The name by which the GPU calls itself, a part of the names of tuned files: AMD_Instinct_MI300X.
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tune"],
        [space],
        {
            "widen": widen,
            "write": write,
            "gpu": gpu,
            "on": on,
            "budget": budget,
            "strategy": strategy,
            "seed": seed,
            "prior": prior,
            "prior-runs": prior_runs,
            "results": results,
            "jobs": jobs,
            "lag": lag,
            "store": store,
            "study": study,
            "fresh": fresh,
            "mix-gpus": mix_gpus,
            "worker": worker,
            "emit": emit,
            "workers": workers,
            "per-node": per_node,
            "time": time,
            "partition": partition,
            "image": image,
            "top": top,
            "why": why,
            "no-inspect": no_inspect,
            "no-proof": no_proof,
            "init": init,
            "output": output,
            "page": page,
            "fail-on": fail_on,
            "shapes": shapes,
            "for": for_,
            "from": from_,
            "merge": merge,
            "one": one,
            "clock": clock,
            "tiles": tiles,
            "python": python,
            "tokens": tokens,
            "tp": tp,
            "dtype": dtype,
            "block": block,
            "model-dim": model_dim,
            "top-k": top_k,
            "device": device,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
        },
        program,
        progress,
    )


def tunedb_advise(
    *files: Text,
    progress: Optional[Progress] = None,
) -> Document:
    """Print the next steps for a file as commands to paste.

    Args:
        files: Files and folders; `-` is standard input.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "advise"],
        [*files],
        {
        },
        (),
        progress,
    )


def tunedb_convert(
    file: Text,
    *,
    to: Text,
    schema: Optional[Text] = None,
    layout: Optional[Text] = None,
    types: Optional[Text] = None,
    output: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Ran:
    """Convert a file to another format where the meaning is kept, and list the losses.

    Args:
        file: The file.
        to: Format to write (tunableop, tunableop-untuned, find-exact, aiter, vllm, sglang, triton-configs).
        schema: Table whose header AITER's rows get.
        layout: Only rows of this transposition.
        types: Only rows of these types.
        output: File to write, by default standard output; for vllm and sglang the folder, since the name is a part of the key.
        progress: called with each line that the command says meanwhile.
    """
    return ran(
        ["tunedb", "convert"],
        [file],
        {
            "to": to,
            "schema": schema,
            "layout": layout,
            "types": types,
            "output": output,
        },
        (),
        progress,
    )


def tunedb_coverage(
    *files: Text,
    shapes: Texts,
    missing: bool = False,
    gpu: Optional[Text] = None,
    here: bool = False,
    cu: Optional[Text] = None,
    top: Optional[Text] = None,
    fail_on_missing: bool = False,
    progress: Optional[Progress] = None,
) -> Document:
    """Say which problems of a model have no entry.

    Args:
        files: Tuned files and folders.
        shapes: Lists of problems: untuned files, logged problems, logs of servers, configurations, timelines, or tuned files.
        missing: List only problems without an entry.
        gpu: GPU that the files are to be used on: its target and number of compute units (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        here: The files are to be used on this machine: take target and number of compute units of its first GPU.
        cu: Compute units of a partition, if not the whole GPU.
        top: Rows per list; 0 shows all.
        fail_on_missing: Exit with 2 when a problem has no entry.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "coverage"],
        [*files],
        {
            "shapes": shapes,
            "missing": missing,
            "gpu": gpu,
            "here": here,
            "cu": cu,
            "top": top,
            "fail-on-missing": fail_on_missing,
        },
        (),
        progress,
    )


def tunedb_diff(
    old: Text,
    new: Text,
    *,
    calls: Texts = (),
    noise: Optional[Text] = None,
    top: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Show what changed between two files.

    Args:
        old: The old file.
        new: The new file.
        calls: Files that say how often each problem is called.
        noise: Difference of times in percent below which they are the same.
        top: Rows shown; 0 shows all.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "diff"],
        [old, new],
        {
            "calls": calls,
            "noise": noise,
            "top": top,
        },
        (),
        progress,
    )


def tunedb_lint(
    *files: Text,
    gpu: Optional[Text] = None,
    here: bool = False,
    cu: Optional[Text] = None,
    expect: Texts = (),
    catalogue: Optional[Text] = None,
    fail_on: Texts = (),
    baseline: Optional[Text] = None,
    write_baseline: Optional[Text] = None,
    config: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Find what makes a loader reject a file, take a slow row, or find none.

    Args:
        files: Files and folders that are used together; `-` is standard input.
        gpu: GPU that the files are to be used on: its target and number of compute units (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        here: The files are to be used on this machine: take target and number of compute units of its first GPU.
        cu: Compute units of a partition, if not the whole GPU.
        expect: Version of a library of the machine, by the name the file uses.
        catalogue: Kernels that the library has: a text with a name or index per line.
        fail_on: Exit with 2 when there is a finding of this rule, or of this severity or worse (info, warning, severe).
        baseline: Compare with the findings of an earlier run: only new and worse ones fail (without --fail-on: of warning and above).
        write_baseline: Write the findings of this run, for --baseline of later runs.
        config: Exceptions, each with a reason; by default the `rockhound.toml` of this folder or the nearest above.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "lint"],
        [*files],
        {
            "gpu": gpu,
            "here": here,
            "cu": cu,
            "expect": expect,
            "catalogue": catalogue,
            "fail-on": fail_on,
            "baseline": baseline,
            "write-baseline": write_baseline,
            "config": config,
        },
        (),
        progress,
    )


def tunedb_merge(
    *files: Text,
    output: Text,
    noise: Optional[Text] = None,
    force: bool = False,
    trim: bool = False,
    explain: bool = False,
    progress: Optional[Progress] = None,
) -> Document:
    """Merge files of one kind: of each key the fastest row, never a slower one.

    Args:
        files: Files; the first is the base.
        output: The merged file; the report goes to standard output.
        noise: Difference of times in percent below which they are the same; by default from repeated measurements, else 2.
        force: Rows of later files replace rows of earlier ones, even if slower.
        trim: Cut the sizes of logic files to four numbers, without leading dimensions.
        explain: List every decision.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "merge"],
        [*files],
        {
            "output": output,
            "noise": noise,
            "force": force,
            "trim": trim,
            "explain": explain,
        },
        (),
        progress,
    )


def tunedb_query(
    *files: Text,
    op: Optional[Text] = None,
    mnk: Optional[Text] = None,
    batch: Optional[Text] = None,
    ld: Optional[Text] = None,
    layout: Optional[Text] = None,
    types: Optional[Text] = None,
    tokens: Optional[Text] = None,
    key: Optional[Text] = None,
    gpu: Optional[Text] = None,
    here: bool = False,
    cu: Optional[Text] = None,
    expect: Texts = (),
    top: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Say what each loader would take for a problem, by that loader's own rule.

    Args:
        files: Files and folders; `-` is standard input.
        op: Kind of problem (gemm, moe, conv, kernel).
        mnk: Sizes of a matrix product, as the file's library has them.
        batch: Products in one call.
        ld: Leading dimensions of A, B and C.
        layout: Transposition of A and B: NN, NT, TN or TT.
        types: Types: words of the file, or f16, bf16, f8, f4, i8, f32, xf32, f64.
        tokens: Tokens of a mixture of experts.
        key: The key as written in the file, or a part of it.
        gpu: GPU that the files are to be used on: its target and number of compute units (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        here: The files are to be used on this machine: take target and number of compute units of its first GPU.
        cu: Compute units of a partition, if not the whole GPU.
        expect: Version of a library of the machine, by the name the file uses.
        top: Rows per file; 0 shows all.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "query"],
        [*files],
        {
            "op": op,
            "mnk": mnk,
            "batch": batch,
            "ld": ld,
            "layout": layout,
            "types": types,
            "tokens": tokens,
            "key": key,
            "gpu": gpu,
            "here": here,
            "cu": cu,
            "expect": expect,
            "top": top,
        },
        (),
        progress,
    )


def tunedb_shapes(
    *files: Text,
    to: Optional[Text] = None,
    top: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """List the problems of logs, lists and tables with their calls, or write them as the input of a tuner.

    Args:
        files: Files and folders; `-` is standard input.
        to: Write the problems for this tuner; `-o` names the file, or the folder where there are several (aiter, geko, hipblaslt-bench, vllm, tunableop).
        top: Rows shown; 0 shows all.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "shapes"],
        [*files],
        {
            "to": to,
            "top": top,
        },
        (),
        progress,
    )


def tunedb_show(
    *files: Text,
    op: Optional[Text] = None,
    mnk: Optional[Text] = None,
    types: Optional[Text] = None,
    kernel: Optional[Text] = None,
    gpu: Optional[Text] = None,
    here: bool = False,
    cu: Optional[Text] = None,
    sort: Optional[Text] = None,
    top: Optional[Text] = None,
    progress: Optional[Progress] = None,
) -> Document:
    """Show the rows of files as tables.

    Args:
        files: Files and folders; `-` is standard input.
        op: Only rows of this kind (gemm, moe, conv, kernel).
        mnk: Only matrix products of these sizes, as the file has them; `*` is any.
        types: Only rows of these types: words of the file, or f16, bf16, f8, f4, i8, f32, xf32, f64.
        kernel: Only rows whose key, operation or kernel contains this text.
        gpu: GPU that the files are to be used on: its target and number of compute units (mi100, mi210, mi250, mi250x, mi300a, mi300x, mi325x, mi350p, mi350x, mi355x).
        here: The files are to be used on this machine: take target and number of compute units of its first GPU.
        cu: Compute units of a partition, if not the whole GPU.
        sort: Order of rows (line, time, calls, lost).
        top: Rows per file; 0 shows all.
        progress: called with each line that the command says meanwhile.
    """
    return document(
        ["tunedb", "show"],
        [*files],
        {
            "op": op,
            "mnk": mnk,
            "types": types,
            "kernel": kernel,
            "gpu": gpu,
            "here": here,
            "cu": cu,
            "sort": sort,
            "top": top,
        },
        (),
        progress,
    )

//! The programs of `examples/`: their results, and the counters that their comments derive.
//!
//! Expected values are arithmetic on the sizes of the program, never what the emulator gave; each states why.

use crate::compiled::{self, root, toolchain};
use host::session::Session;
use std::collections::BTreeMap;
use std::path::Path;
use workload::Workload;

/// GPUs, each with the targets of the program it runs.
const GPUS: [(&str, &[&str]); 3] =
    [("mi210", &["gfx90a", "gfx942"]), ("mi300x", &["gfx90a", "gfx942"]), ("mi355x", &["gfx950"])];

/// GPUs whose programs clang 19 compiles, and those that need clang 22.
const OLDER: &[&str] = &["mi210", "mi300x"];
const NEWER: &[&str] = &["mi355x"];

/// A counter of a dispatch.
struct Expected {
    /// Names of GPUs it is so on; all where empty.
    gpus: &'static [&'static str],
    /// Number of the dispatch.
    dispatch: usize,
    /// Name, or two with ` - ` between them.
    counter: &'static str,
    value: u64,
    why: &'static str,
}

/// On all GPUs.
fn all(dispatch: usize, counter: &'static str, value: u64, why: &'static str) -> Expected {
    Expected { gpus: &[], dispatch, counter, value, why }
}

/// On some.
fn on(gpus: &'static [&'static str], expected: Expected) -> Expected {
    Expected { gpus, ..expected }
}

/// Files of a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

/// Reads what a program recorded.
fn read(folder: &Path) -> Workload {
    workload::read(&files(folder), &workload::Options::default()).unwrap()
}

/// Value of a counter.
fn value(workload: &Workload, counter: &str, dispatch: usize) -> Option<f64> {
    if let Some((more, less)) = counter.split_once(" - ") {
        return Some(value(workload, more, dispatch)? - value(workload, less, dispatch)?);
    }
    let counters = &workload.counters;
    let found = counters.get(counter).or_else(|| counters.get(&format!("{counter}_sum")));
    found.and_then(|it| it.values.get(dispatch))
}

/// Runs an example on every GPU, with its own check of results, and compares counters.
fn check(example: &str, arguments: &[&str], expected: &[Expected]) {
    let Some(toolchain) = toolchain() else { return };
    let mut wrong = Vec::new();
    for (gpu, targets) in GPUS {
        let source = root().join("examples").join(example).join(format!("{example}.hip"));
        let name = format!("{example}-{}", targets.join("-"));
        let Some(program) = toolchain.build(&source, &name, targets, &[]) else { continue };
        let folder = toolchain.empty(&format!("{example}-{}-{gpu}", arguments.join("-")));
        let output = toolchain.recording(&program, gpu, &folder).args(arguments).output().unwrap();
        assert_eq!(
            (output.status.code(), output.stderr.len()),
            (Some(0), 0),
            "{example} on {gpu}: {output:?}"
        );
        let workload = read(&folder.join("workload"));
        for it in expected.iter().filter(|it| it.gpus.is_empty() || it.gpus.contains(&gpu)) {
            let found = value(&workload, it.counter, it.dispatch);
            if found != Some(it.value as f64) {
                let Expected { dispatch, counter, value, why, .. } = it;
                wrong.push(format!(
                    "{gpu} dispatch {dispatch}: {counter} is {found:?}, expected {value}: {why}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{example} {arguments:?}:\n{}", wrong.join("\n"));
}

#[test]
fn daxpy() {
    let waves = 16384 / 64;
    check(
        "daxpy",
        &["16384"],
        &[
            all(0, "SQ_WAVES", waves, "a wave per 64 elements"),
            all(0, "SQ_INSTS_VALU_FMA_F64", 20 * waves, "one per pass"),
            all(0, "TCP_TOTAL_READ", 64 * 21 * waves, "x in 20 passes, y in the first"),
            all(0, "TCP_TOTAL_WRITE", 64 * 20 * waves, "y in 20 passes"),
            all(0, "TCP_TOTAL_CACHE_ACCESSES", 16 * 41 * waves, "a look-up per quad of 8 bytes per lane"),
            all(1, "SQ_INSTS_VALU_FMA_F64", 20 * waves, "one per pass"),
            all(1, "TCP_TOTAL_READ", 64 * 2 * waves, "x and y once"),
            all(1, "TCP_TOTAL_WRITE", 64 * waves, "y once"),
            all(1, "TCP_TOTAL_CACHE_ACCESSES", 16 * 3 * waves, "a look-up per quad of 8 bytes per lane"),
        ],
    );
}

#[test]
fn yax() {
    let n = 256;
    let waves = n / 64;
    let of_a = n * waves;
    let arguments = |variant| [variant, "256", "8"];
    let rows = |lookups: u64| {
        [
            all(0, "SQ_WAVES", 8, "workgroups of one wave"),
            all(0, "SQ_INSTS_VMEM_RD", of_a + waves, "A once, y once; x by scalar loads"),
            all(0, "TCP_TOTAL_READ", 64 * (of_a + waves), "8 bytes per lane: an access per lane"),
            all(0, "SQ_INSTS_VALU_FMA_F64", of_a + waves, "one per element of A and of y"),
            on(&["mi210"], all(0, "TCP_TOTAL_ATOMIC_WITHOUT_RET", 64 * waves, "every lane adds")),
            on(
                &["mi210"],
                all(
                    0,
                    "TCP_TOTAL_CACHE_ACCESSES",
                    lookups * of_a + (16 + 16) * waves,
                    "A; y in a row; quads at one address",
                ),
            ),
            on(
                &["mi300x", "mi355x"],
                all(
                    0,
                    "TCP_TOTAL_ATOMIC_WITHOUT_RET",
                    64 * waves,
                    "one lane adds for all, and all lanes count",
                ),
            ),
            on(
                &["mi300x", "mi355x"],
                all(
                    0,
                    "TCP_TOTAL_CACHE_ACCESSES",
                    lookups * of_a + (16 + 1) * waves,
                    "A; y in a row; one lane of the atomic",
                ),
            ),
        ]
    };
    check("yax", &arguments("rows"), &rows(64));
    check("yax", &arguments("assert"), &rows(64));
    check("yax", &arguments("columns"), &rows(16));
    // All 8 waves copy x to the LDS, 256 doubles each; x[j] is read from there.
    for variant in ["lds_64k", "lds_2k"] {
        check(
            "yax",
            &arguments(variant),
            &[
                all(0, "SQ_INSTS_VALU_FMA_F64", of_a + waves, "one per element of A and of y"),
                all(0, "SQ_LDS_BANK_CONFLICT", 0, "a row of doubles, or one address for all lanes"),
                all(
                    0,
                    "TCP_TOTAL_READ",
                    64 * (of_a / 2 + waves + 8 * 4),
                    "A two by two, y; x by every wave, 64 at a time",
                ),
            ],
        );
    }
    check(
        "yax",
        &arguments("row_per_wave"),
        &[
            all(0, "TCP_TOTAL_READ", 128 * of_a + n, "A and x; y by one lane per row"),
            all(0, "TCP_TOTAL_ATOMIC_WITHOUT_RET", 64 * n, "one per row, and all lanes count"),
            all(
                0,
                "TCP_TOTAL_CACHE_ACCESSES",
                32 * of_a + 2 * n,
                "A and x in a row; y and the atomic: one lane",
            ),
            on(OLDER, all(0, "SQ_INSTS_LDS", 15 * n, "1 write, 6 halvings of 2 and once 3, 1 read")),
            on(NEWER, all(0, "SQ_INSTS_LDS", 14 * n, "the last halving has one read too")),
        ],
    );
}

#[test]
fn transpose() {
    let loads = 128 * 128 / 64;
    let mut expected = vec![
        all(0, "TCP_TOTAL_WRITE", 64 * loads, "lanes a row apart: an access each"),
        all(
            0,
            "TCP_TOTAL_CACHE_ACCESSES",
            (4 + 64) * loads,
            "rows of the load; a line per lane of the store",
        ),
    ];
    for dispatch in 0..3 {
        expected.extend([
            all(dispatch, "SQ_INSTS_VMEM_RD", loads, "each element once"),
            all(dispatch, "SQ_INSTS_VMEM_WR", loads, "each element once"),
            all(dispatch, "TCP_TOTAL_READ", 16 * loads, "lanes in a row: an access per quad"),
        ]);
    }
    for dispatch in 1..3 {
        expected.extend([
            all(dispatch, "SQ_INSTS_LDS", 2 * loads, "in and out"),
            all(dispatch, "TCP_TOTAL_WRITE", 16 * loads, "lanes in a row: an access per quad"),
            all(dispatch, "TCP_TOTAL_CACHE_ACCESSES", (4 + 4) * loads, "four quads share a look-up"),
        ]);
    }
    expected.extend([
        all(
            1,
            "SQ_LDS_BANK_CONFLICT",
            62 * loads,
            "half a wave wants 32 dwords of one bank, 31 cycles lost, twice",
        ),
        all(2, "SQ_LDS_BANK_CONFLICT", 0, "rows of 65 dwords"),
    ]);
    check("transpose", &["128"], &expected);
}

#[test]
fn reduction() {
    let workgroups = 65536 / 256;
    check(
        "reduction",
        &["65536"],
        &[
            all(0, "SQ_INSTS_VMEM_RD", 4 * workgroups, "a load per wave"),
            on(
                OLDER,
                all(
                    0,
                    "SQ_INSTS_LDS",
                    24 * workgroups,
                    "4 writes, 9 halvings of 2 and one read more, 1 read",
                ),
            ),
            on(NEWER, all(0, "SQ_INSTS_LDS", 23 * workgroups, "the last halving has one read too")),
            all(0, "TCP_TOTAL_ATOMIC_WITHOUT_RET", workgroups, "one lane of a workgroup"),
            all(0, "SQ_LDS_BANK_CONFLICT", 0, "neighbouring threads, neighbouring banks"),
        ],
    );
}

#[test]
fn histogram() {
    let bytes = 65536;
    let waves = bytes / 16 / 64;
    check(
        "histogram",
        &["65536"],
        &[
            all(0, "SQ_INSTS_VMEM_WR", 16 * waves, "atomics count as writes, one per byte of a lane"),
            all(0, "TCP_TOTAL_ATOMIC_WITHOUT_RET", bytes, "the addresses are data"),
            all(1, "SQ_INSTS_LDS", 18 * waves, "16 atomics, one write to clear, one read to fetch"),
            all(1, "TCP_TOTAL_ATOMIC_WITHOUT_RET", 16 * waves, "neighbouring bins: an access per quad"),
            all(2, "SQ_LDS_ADDR_CONFLICT", 62 * 16 * waves, "31 lanes of half a wave wait"),
            all(2, "SQ_LDS_BANK_CONFLICT", 0, "one dword"),
        ],
    );
}

#[test]
fn gemm_f16() {
    let n: u64 = 64;
    let steps = (n / 16).pow(3);
    let tiles = (n / 16).pow(2);
    check(
        "gemm_f16",
        &["64"],
        &[
            all(0, "SQ_INSTS_VALU_MFMA_F16", steps, "one per step of 16"),
            all(0, "SQ_INSTS_VALU_MFMA_MOPS_F16", 2 * n.pow(3) / 512, "operations in steps of 512"),
            all(0, "SQ_INSTS_VMEM_RD", 2 * steps, "A and B"),
            all(0, "TCP_TOTAL_READ", 128 * steps, "8 bytes per lane: an access per lane"),
            all(0, "SQ_INSTS_VMEM_WR", 4 * tiles, "four rows of a lane"),
            all(0, "TCP_TOTAL_WRITE", 64 * tiles, "16 lanes stand in a row: an access per quad"),
        ],
    );
}

#[test]
fn softmax() {
    let rows = 64;
    check(
        "softmax",
        &["64"],
        &[
            all(0, "SQ_INSTS_VMEM_RD", rows, "16 bytes of each lane"),
            all(0, "TCP_TOTAL_READ", 64 * rows, "an access per lane"),
            all(0, "TCP_TOTAL_WRITE", 64 * rows, "an access per lane"),
            all(0, "SQ_INSTS_VALU_TRANS_F32", 5 * rows, "an exponential per element, a reciprocal"),
            all(0, "SQ_INSTS_LDS", 12 * rows, "six exchanges each for the maximum and the sum"),
            all(0, "SQ_LDS_IDX_ACTIVE", 0, "exchanges do not touch the memory of the LDS"),
        ],
    );
}

#[test]
fn stencil() {
    let waves = 128 * 128 / 64;
    let mut expected = Vec::new();
    for step in 0..4 {
        expected.extend([
            all(step, "SQ_INSTS_VMEM_RD", 3 * waves, "a row of three cells, above, below"),
            all(step, "SQ_INSTS_VMEM_WR", waves, "the cell"),
            all(step, "TCP_TOTAL_READ", (64 + 2 * 16) * waves, "12 bytes per lane; twice 4 bytes in a row"),
            on(
                &["mi210"],
                all(step, "TCP_TOTAL_CACHE_ACCESSES", (16 + 8 + 12) * waves, "four lines of 64 bytes"),
            ),
            on(
                &["mi300x", "mi355x"],
                all(step, "TCP_TOTAL_CACHE_ACCESSES", (16 + 4 + 12) * waves, "two lines of 128 bytes"),
            ),
            all(step, "SQ_INSTS_VALU_FMA_F32", waves, "one"),
            all(step, "SQ_INSTS_VALU_MUL_F32", waves, "one"),
            all(
                step,
                "SQ_INSTS_VALU_ADD_F32",
                2 * waves,
                "three additions, two of them in one packed instruction",
            ),
        ]);
    }
    check("stencil", &["128", "4"], &expected);
}

#[test]
fn spill() {
    let waves = 1024 / 64;
    let all_gpus =
        all(0, "TCP_TOTAL_READ - TCP_TOTAL_WRITE", 16 * 63 * waves, "what is spilled is read again");
    check(
        "spill",
        &["1024"],
        &[
            all_gpus,
            // `vgpr_spill_count` of the code objects.
            on(&["mi210"], all(0, "TCP_TOTAL_WRITE", 16 * 70 * waves, "69 dwords spilled, one result")),
            on(&["mi210"], all(0, "TA_BUFFER_WAVEFRONTS", 2 * 69 * waves, "a dword each, out and in")),
            on(&["mi300x"], all(0, "TCP_TOTAL_WRITE", 16 * 67 * waves, "66 dwords spilled, one result")),
            on(&["mi300x"], all(0, "TA_BUFFER_WAVEFRONTS", 0, "scratch instructions are flat ones")),
        ],
    );
}

#[test]
fn recordings_do_not_depend_on_threads() {
    let Some(toolchain) = toolchain() else { return };
    let targets = ["gfx90a", "gfx942"];
    for (example, arguments) in [
        ("histogram", &["65536"][..]),
        ("yax", &["columns", "256", "8"]),
        ("yax", &["row_per_wave", "256", "8"]),
        ("gemm_f16", &["64"]),
    ] {
        let source = root().join("examples").join(example).join(format!("{example}.hip"));
        let name = format!("{example}-{}", targets.join("-"));
        let Some(program) = toolchain.build(&source, &name, &targets, &[]) else { return };
        let record = |threads| {
            let folder = toolchain.empty("threads");
            let session = Session { threads, ..Session::default() };
            let mut command = compiled::recording(toolchain.folder(), &program, &folder, session);
            let output = command.args(arguments).output().unwrap();
            assert!(output.status.success(), "{example}: {output:?}");
            (files(&folder.join("workload")), output.stdout)
        };
        let first = record(1);
        assert!(first.0.contains_key("pmc_perf.csv"), "{:?}", first.0.keys());
        for threads in [2, 3, 1] {
            assert!(record(threads) == first, "{example} {arguments:?}: {threads} threads");
        }
    }
}

#[test]
fn printing_costs_instructions() {
    let Some(toolchain) = toolchain() else { return };
    let source = root().join("examples/printf_assert/printf_assert.hip");
    for (gpu, targets) in GPUS {
        let name = format!("printf_assert-{}", targets.join("-"));
        let Some(program) = toolchain.build(&source, &name, targets, &[]) else { continue };
        let folder = toolchain.empty(&format!("printf_assert-{gpu}"));
        let output = toolchain.recording(&program, gpu, &folder).output().unwrap();
        let line = |n: u32| {
            let part = f64::from(n) / 16.0;
            format!("thread {} of workgroup 0 has {n}, a sixteenth, {part:.2}\n", n - 1)
        };
        let lines: String = [16, 32, 48, 64].map(line).concat();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, format!("{lines}sum 4160, expected 4160\n"), "{gpu}: {output:?}");
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{gpu}: {output:?}");
        let workload = read(&folder.join("workload"));
        let [quiet, loud] = [0, 1].map(|it| value(&workload, "SQ_INSTS", it).unwrap());
        assert!(loud > 2.0 * quiet, "{gpu}: {loud} {quiet}");

        use std::os::unix::process::ExitStatusExt;
        let output = compiled::on(toolchain.folder(), &program, gpu).arg("fail").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(6), "{gpu}: {said}");
        assert!(said.contains("Device-side assertion `value <= most' failed"), "{gpu}: {said}");
    }
}

/// Counters per wave of the first dispatch of a kernel whose name begins so.
fn per_wave<'w>(workload: &'w Workload, start: &str) -> impl Fn(&str) -> Option<f64> + use<'w> {
    let mut numbers = workload.dispatches.kernel.iter();
    let place = numbers.position(|it| workload.kernels[*it as usize].starts_with(start));
    let dispatch = place.unwrap_or_else(|| panic!("no {start}"));
    let waves = value(workload, "SQ_WAVES", dispatch).unwrap();
    move |counter| value(workload, counter, dispatch).map(|it| it / waves)
}

/// Per wave, the kernels of the recording do what these do, as far as the compiler leaves it the same.
#[test]
fn mixbench_equals_the_recording() {
    let Some(folder) = testkit::shared("workloads/mixbench/mi200") else { return };
    let Some(toolchain) = toolchain() else { return };
    let recorded = read(&folder);
    let targets = ["gfx90a", "gfx942"];
    let name = "mixbench-gfx90a-gfx942";
    let source = root().join("examples/mixbench/mixbench.hip");
    let Some(program) = toolchain.build(&source, name, &targets, &[]) else { return };
    let output = toolchain.empty("mixbench-recording");
    assert!(toolchain.recording(&program, "mi210", &output).arg("2").status().unwrap().success());
    let emulated = read(&output.join("workload"));

    // Totals of the accesses of eight elements, and the arithmetic that the source prescribes.
    let exact = [
        "SQ_INSTS_VMEM_RD",
        "SQ_INSTS_VMEM_WR",
        "SQ_INSTS_FLAT",
        "SQ_INSTS_LDS",
        "SQ_INSTS_BRANCH",
        "TA_FLAT_READ_WAVEFRONTS",
        "TCP_TOTAL_ACCESSES",
        "TCP_TOTAL_READ",
        "TCP_TOTAL_WRITE",
        "TCP_TOTAL_CACHE_ACCESSES",
        "TD_COALESCABLE_WAVEFRONT",
        "SQ_INSTS_VALU_FMA_F64",
        "SQ_INSTS_VALU_FMA_F16",
    ];
    let types = [("short", "short"), ("float", "float"), ("double", "double"), ("int", "int")];
    let types = types.into_iter().chain([("_Float16 __vector(2)", "__half2")]);
    let mut compared = 0;
    for (ours, theirs) in types {
        for iterations in [0, 1, 8, 32] {
            // The recording has one kernel of shorts.
            if theirs == "short" && iterations > 0 {
                continue;
            }
            let ours = per_wave(&emulated, &format!("void mix<{ours}, (unsigned int){iterations}>"));
            let theirs =
                per_wave(&recorded, &format!("void benchmark_func<{theirs}, 256, 8u, {iterations}u>"));
            for counter in exact {
                if let Some(theirs) = theirs(counter) {
                    assert_eq!(ours(counter), Some(theirs), "{counter}, {iterations} iterations");
                    compared += 1;
                }
            }
            // Compilers differ in how they make eight addresses, and in whether they multiply and add at
            // once.
            let [ours, theirs] = [ours("SQ_INSTS_VALU").unwrap(), theirs("SQ_INSTS_VALU").unwrap()];
            let work = f64::from(16 * iterations);
            println!("{iterations} iterations: {ours} vector instructions per wave, recorded {theirs}");
            assert!((ours - theirs).abs() <= 24.0 + work, "{ours}, recorded {theirs}");
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn mixbench() {
    let waves = 2 * 4;
    let mut expected = Vec::new();
    let types = [("", 16, 4), ("SQ_INSTS_VALU_FMA_F32", 16, 4), ("SQ_INSTS_VALU_FMA_F64", 64, 16)];
    let types = types.into_iter().chain([("", 16, 4), ("SQ_INSTS_VALU_FMA_F16", 16, 4)]);
    for (number, (fma, accesses, lookups)) in types.enumerate() {
        for (place, iterations) in [0, 1, 8, 32].into_iter().enumerate() {
            let dispatch = 4 * number + place;
            expected.extend([
                all(dispatch, "SQ_INSTS_VMEM_RD", 8 * waves, "eight elements"),
                all(dispatch, "SQ_INSTS_VMEM_WR", 0, "the comparison does not hold"),
                all(dispatch, "TCP_TOTAL_READ", 8 * accesses * waves, "lanes in a row, by size"),
                all(dispatch, "TCP_TOTAL_CACHE_ACCESSES", 8 * lookups * waves, "lanes in a row, by size"),
            ]);
            if !fma.is_empty() {
                expected.push(all(
                    dispatch,
                    fma,
                    (8 * iterations + 4) * waves,
                    "eight elements, four products",
                ));
            }
        }
    }
    check("mixbench", &["2"], &expected);
}

//! Speed of the emulator, in wave instructions per second.
//!
//! Counters are on in every row. A row of [`BODIES`] is one loop whose body is many times the same
//! instruction, with all lanes active; the kernels in the folder beside this file are real ones. A loop of
//! additions in this process says how fast the machine is at the moment.

use super::Line;
use anyhow::{Context, Result, bail, ensure};
use arch::Model;
use emu::{Hidden, Launch, Summary};
use record::{Detail, Job, Recorder, RepresentativeXcds, Settings};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Name, instruction repeated, million wave instructions per second asked of one core.
const BODIES: &[(&str, &str, Option<f64>)] = &[
    ("v_add_f32", "v_add_f32 v4, v5, v6", Some(60.0)),
    ("v_fma_f32", "v_fma_f32 v4, v5, v6, v7", Some(50.0)),
    ("v_fmac_f32 with a scalar", "v_fmac_f32 v4, s10, v6", None),
    ("v_fma_f64", "v_fma_f64 v[8:9], v[10:11], v[12:13], v[14:15]", None),
    ("v_pk_fma_f32", "v_pk_fma_f32 v[8:9], v[10:11], v[12:13], v[14:15]", None),
    ("v_pk_fma_f16", "v_pk_fma_f16 v4, v5, v6, v7", None),
    ("v_cmp_lt_f32", "v_cmp_lt_f32 vcc, v5, v6", None),
    ("v_add_f32 with neg", "v_add_f32 v4, -v5, v6", None),
    ("v_add_f32 dpp", "v_add_f32_dpp v4, v5, v6 row_shr:1", None),
    ("v_exp_f32", "v_exp_f32 v4, v5", None),
    ("s_add_u32", "s_add_u32 s10, s11, s12", None),
    ("global_load_dword", "global_load_dword v4, v1, s[2:3]", None),
    ("global_load_dwordx2", "global_load_dwordx2 v[16:17], v3, s[2:3]", None),
    ("global_load_dwordx4", "global_load_dwordx4 v[16:19], v2, s[2:3]", None),
    ("global_store_dword", "global_store_dword v1, v4, s[2:3]", None),
    ("global_store_dwordx4", "global_store_dwordx4 v2, v[16:19], s[2:3]", None),
    ("ds_read_b32", "ds_read_b32 v4, v1", None),
    ("ds_read_b128", "ds_read_b128 v[16:19], v2", None),
    ("ds_write_b128", "ds_write_b128 v2, v[16:19]", None),
    ("v_mfma 32x32x8 f16", "v_mfma_f32_32x32x8_f16 v[32:47], v[8:9], v[10:11], v[32:47]", None),
    ("v_mfma 16x16x32 fp8", "v_mfma_f32_16x16x32_fp8_fp8 v[16:19], v[8:9], v[10:11], v[16:19]", None),
];

/// The matrix instruction GFLOP/s are asked of, and its operations.
const MATRIX: (&str, &str, f64) = (
    "v_mfma 16x16x16 f16",
    "v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[10:11], v[16:19]",
    2.0 * 16.0 * 16.0 * 16.0,
);

/// A kernel that repeats an instruction.
fn source(body: &str, denormals: u8) -> String {
    let repeated = format!("{body}\n").repeat(100);
    let target = target();
    [
        &format!(".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n.text\n.globl k\n.p2align 8\n"),
        ".type k,@function\nk:\ns_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n",
        "v_lshlrev_b32 v2, 4, v0\nv_lshlrev_b32 v3, 3, v0\nv_cvt_f32_u32 v5, v0\nv_cvt_f32_u32 v6, v0\nv_cvt_f32_u32 v7, v0\ns_mov_b32 s4, 0\nL:\n",
        &repeated,
        "s_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 200\ns_cbranch_scc1 L\ns_endpgm\n.size k, .-k\n",
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n",
        &format!(".amdhsa_float_denorm_mode_32 {denormals}\n"),
        ".amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 64\n",
        ".amdhsa_group_segment_fixed_size 4096\n.end_amdhsa_kernel\n.amdgpu_metadata\n---\n",
        "amdhsa.kernels: [{.name: k, .symbol: k.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, ",
        ".group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, ",
        ".vgpr_count: 64, .max_flat_workgroup_size: 256}]\namdhsa.version: [1, 2]\n...\n.end_amdgpu_metadata\n",
    ]
    .concat()
}

/// The target of the benchmark's kernels.
fn target() -> &'static str {
    isa::Isa::Gfx942.processor()
}

/// Runs clang on a text and returns the code object.
fn compile(text: &str, arguments: &[&str]) -> Result<Vec<u8>> {
    let folder = std::env::temp_dir().join(format!("rockhound-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (input, output) = (folder.join("k.in"), folder.join("k.hsaco"));
    std::fs::write(&input, text)?;
    let mut clang = Command::new("clang-22");
    let result = clang.args(arguments).arg(&input).arg("-o").arg(&output).output().context("clang-22")?;
    if !result.status.success() {
        bail!("{}", String::from_utf8_lossy(&result.stderr));
    }
    let bytes = std::fs::read(&output)?;
    std::fs::remove_dir_all(&folder)?;
    Ok(bytes)
}

fn assemble(body: &str, denormals: u8) -> Result<Vec<u8>> {
    let target = format!("-mcpu={}", target());
    let arguments = ["-target", "amdgcn-amd-amdhsa", &target, "-nogpulib", "-x", "assembler"];
    compile(&source(body, denormals), &arguments)
}

/// A kernel in HIP from the folder beside this file.
fn hip(name: &str) -> Result<Vec<u8>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bench/emulator").join(format!("{name}.hip"));
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let target = format!("--offload-arch={}", target());
    let rest = ["-x", "hip", "--cuda-device-only", "-nogpulib", "-nogpuinc", "-O3", "--no-gpu-bundle-output"];
    compile(&text, &[&rest[..], &[&target]].concat())
}

/// Runs a kernel once, counting; returns the summary and the seconds.
fn counted(job: &mut Job, launch: Launch<'_>) -> Result<(Summary, f64)> {
    let launch = job.launch(launch, &Hidden::default());
    let start = Instant::now();
    let (summary, _) = Recorder::count(&job.program, &job.table, &job.memory, &launch, &[])?;
    Ok((summary, start.elapsed().as_secs_f64()))
}

/// Runs it once as `profile` does, with caches and timing; returns the seconds, and a remark on the estimate.
fn profiled(job: &mut Job, launch: Launch<'_>, detail: Detail) -> Result<(f64, Option<RepresentativeXcds>)> {
    let launch = job.launch(launch, &Hidden::default());
    let start = Instant::now();
    let settings = Settings { shares_xcds: detail == Detail::Share, ..Settings::default() };
    let model = Model::by_name("mi300x").context("no such GPU")?;
    let mut recorder = settings.recorder(model, Some(host::spill::store()))?;
    recorder.run(&job.name, &job.program, &job.table, &job.memory, &launch)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((seconds, recorder.dispatches().first().and_then(|it| it.shared)))
}

/// Million wave instructions per second on one core, the best of some runs.
fn measure(bytes: &[u8]) -> Result<f64> {
    let mut job = Job::find(bytes, None)?;
    job.explicit = job.memory.allocate("data", 1 << 16).to_le_bytes().to_vec();
    let launch = |workgroups| Launch { threads: 1, ..Launch::new([workgroups, 1, 1], [64, 1, 1], 0) };
    let seconds = counted(&mut job, launch(1))?.1;
    let workgroups = (0.02 / seconds).clamp(1.0, 64.0) as u32;
    let mut best = 0.0f64;
    for _ in 0..8 {
        let (summary, seconds) = counted(&mut job, launch(workgroups))?;
        best = best.max(summary.instructions as f64 / seconds / 1e6);
    }
    Ok(best)
}

/// Million additions of two rows of 64 numbers that this process does in a second without an emulator, the
/// best of some runs.
fn reference() -> f64 {
    (0..3).map(|_| additions()).fold(0.0, f64::max)
}

/// One measurement.
fn additions() -> f64 {
    let mut rows = vec![[1.0f32; 64]; 8];
    let times = 2_000_000;
    let start = Instant::now();
    for time in 0..times {
        let (a, b) = (rows[time & 7], rows[(time + 3) & 7]);
        let sum = &mut rows[(time + 5) & 7];
        for lane in 0..64 {
            sum[lane] = a[lane] + b[lane];
        }
        std::hint::black_box(&mut rows);
    }
    times as f64 / start.elapsed().as_secs_f64() / 1e6
}

/// Current throughput of two threads relative to one thread, in additions.
fn scaling() -> f64 {
    let one = additions();
    let both: f64 = std::thread::scope(|scope| {
        let threads = [0, 1].map(|_| scope.spawn(additions));
        threads.into_iter().map(|thread| thread.join().unwrap_or(0.0)).sum()
    });
    both / one
}

fn doubles(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(f64::to_le_bytes).collect()
}

/// y^T A x of `n` rows and columns.
struct Product {
    job: Job,
    launch: Launch<'static>,
    result: u64,
    expected: f64,
}

impl Product {
    fn new(n: u32, workgroups: u32) -> Result<Product> {
        let mut job = Job::find(&hip("yax")?, None)?;
        let ones = |value: f64| doubles(std::iter::repeat_n(value, n as usize));
        let y = job.memory.allocate_with("y", &ones(0.5));
        let x = job.memory.allocate_with("x", &ones(2.0));
        let a = job.memory.allocate("a", 8 * n as usize * n as usize);
        // Row by row: the whole matrix a second time is more than there is room for.
        let row = ones(0.25);
        for number in 0..u64::from(n) {
            job.memory.write(a + number * row.len() as u64, &row).context("outside the matrix")?;
        }
        let result = job.memory.allocate("result", 8);
        let [y, a, x, result_at] = [y, a, x, result].map(u64::to_le_bytes);
        let [n_bytes, items] = [n, 64 * workgroups].map(u32::to_le_bytes);
        job.give([&y[..], &a, &x, &n_bytes, &n_bytes, &result_at, &items]);
        let launch = Launch::new([workgroups, 1, 1], [64, 1, 1], 0);
        Ok(Product { job, launch, result, expected: 0.25 * f64::from(n) * f64::from(n) })
    }

    /// Million wave instructions per second, and seconds.
    fn run(&mut self, threads: usize) -> Result<(f64, f64)> {
        self.job.memory.write(self.result, &[0; 8]).context("result")?;
        let (summary, seconds) = counted(&mut self.job, Launch { threads, ..self.launch })?;
        let found = self.job.memory.read(self.result, 8).context("result")?;
        let found = f64::from_le_bytes(found.try_into().unwrap_or_default());
        ensure!(found == self.expected, "{found} instead of {}", self.expected);
        Ok((summary.instructions as f64 / seconds / 1e6, seconds))
    }
}

/// True if both cores are available for a measurement.
fn has_two_cores() -> bool {
    std::thread::available_parallelism().is_ok_and(|cores| cores.get() >= 2)
}

fn mixed(lines: &mut Vec<Line>) -> Result<()> {
    let mut product = Product::new(4096, 64)?;
    let (mut best, mut scales) = ([0.0f64; 2], Vec::new());
    for _ in 0..6 {
        scales.push(scaling());
        for (threads, best) in [1, 2].iter().zip(&mut best) {
            *best = best.max(product.run(*threads)?.0);
        }
    }
    scales.sort_by(f64::total_cmp);
    let (least, most) = (scales[0], scales[scales.len() - 1]);
    let [one, two] = best;
    lines.push(Line {
        what: "y^T A x, n = 4096, one core".to_string(),
        value: format!("{one:.1} million wave instructions/s"),
        asked: Some(("at least 25".to_string(), one >= 25.0)),
    });
    lines.push(Line {
        what: "y^T A x, n = 4096, two cores".to_string(),
        value: format!(
            "{two:.1} million wave instructions/s, {:.2} x one core; meanwhile additions without an emulator: {least:.2} to {most:.2} x",
            two / one
        ),
        asked: has_two_cores().then(|| ("at least 1.8 x".to_string(), two / one >= 1.8)),
    });
    Ok(())
}

/// Rate of tinygrad's emulator on its matrix product, million wave instructions per second. At 20 us per
/// matrix instruction of 16 x 16 x 16, fewer than one in seven instructions of that product can be one.
const TINYGRAD: f64 = 0.34;

/// Rows and columns of the products.
const N: usize = 1024;

/// A product of matrices whose elements are 0, 1/2 or 1, so that every sum is exact.
struct Gemm {
    job: Job,
    launch: Launch<'static>,
    result: u64,
}

impl Gemm {
    /// The kernel decides whether B is stored by columns: the matrix is the same either way round.
    fn new(kernel: &str, launch: Launch<'static>, element: impl Fn(usize) -> Vec<u8>) -> Result<Gemm> {
        let mut job = Job::find(&hip(kernel)?, None)?;
        let numbers: Vec<u8> = (0..N * N).flat_map(|at| element((at / N * 7 + at % N * 7) % 3)).collect();
        let (a, b) = (job.memory.allocate_with("a", &numbers), job.memory.allocate_with("b", &numbers));
        let result = job.memory.allocate("c", 4 * N * N);
        let matrices = [a, b, result].map(u64::to_le_bytes);
        job.give([&matrices[0][..], &matrices[1], &matrices[2], &(N as u32).to_le_bytes()]);
        Ok(Gemm { job, launch, result })
    }

    /// The product of 16-bit floats with matrix instructions.
    fn halves() -> Result<Gemm> {
        let launch = Launch::new([N as u32 / 32, N as u32 / 32, 1], [64, 1, 1], 0);
        Gemm::new("gemm", launch, |at| [0u16, 0x3800, 0x3c00][at].to_le_bytes().to_vec())
    }

    /// Summary, and seconds.
    fn run(&mut self, threads: usize) -> Result<(Summary, f64)> {
        let (summary, seconds) = counted(&mut self.job, Launch { threads, ..self.launch })?;
        let value = |row: usize, k: usize| [0.0f32, 0.5, 1.0][(row * 7 + k * 7) % 3];
        for (row, column) in [(0, 0), (1023, 1023), (17, 900), (512, 3)] {
            let expected: f32 = (0..N).map(|k| value(row, k) * value(column, k)).sum();
            let at = self.result + 4 * (row * N + column) as u64;
            let found = self.job.memory.read(at, 4).context("result")?;
            let found = f32::from_le_bytes(found.try_into().unwrap_or_default());
            ensure!(found == expected, "row {row}, column {column}: {found} instead of {expected}");
        }
        Ok((summary, seconds))
    }

    /// Million wave instructions per second on one core.
    fn speed(&mut self) -> Result<f64> {
        let mut best = 0.0f64;
        for _ in 0..8 {
            let (summary, seconds) = self.run(1)?;
            best = best.max(summary.instructions as f64 / seconds / 1e6);
        }
        Ok(best)
    }
}

/// Products with and without matrix instructions; the first with everything from reading the code object on.
fn gemm(lines: &mut Vec<Line>) -> Result<()> {
    let operations = 2.0 * (N * N * N) as f64;
    let start = Instant::now();
    let mut halves = Gemm::halves()?;
    let seconds = halves.run(0)?.1;
    let all = start.elapsed().as_secs_f64();
    lines.push(Line {
        what: "matrix product of 1024^3 f16, all cores".to_string(),
        value: format!("{all:.2} s, {:.1} GFLOP/s", operations / seconds / 1e9),
        asked: Some(("at most 3 s".to_string(), all <= 3.0)),
    });
    let launch = Launch::new([N as u32 / 64, N as u32 / 64, 1], [256, 1, 1], 0);
    let mut floats = Gemm::new("gemm_f32", launch, |at| [0.0f32, 0.5, 1.0][at].to_le_bytes().to_vec())?;
    let products = [
        ("the same, one core; 4 of 18 instructions are matrix instructions", &mut halves),
        ("matrix product of 1024^3 f32, one core; no matrix instructions", &mut floats),
    ];
    for (what, product) in products {
        let speed = product.speed()?;
        lines.push(Line {
            what: what.to_string(),
            value: format!(
                "{speed:.1} million wave instructions/s, {:.0} x tinygrad's 0.34",
                speed / TINYGRAD
            ),
            asked: Some(("at least 60 x".to_string(), speed >= 60.0 * TINYGRAD)),
        });
    }
    Ok(())
}

pub(super) fn speed() -> Result<Vec<Line>> {
    let reference = reference();
    let mut lines = vec![Line {
        what: "additions of two rows without an emulator".to_string(),
        value: format!("{reference:.1} million/s, one core"),
        asked: None,
    }];
    for (name, body, asked) in BODIES {
        let speed = measure(&assemble(body, 3)?)?;
        lines.push(Line {
            what: (*name).to_string(),
            value: format!(
                "{speed:.1} million wave instructions/s, {:.2} of the reference",
                speed / reference
            ),
            asked: asked.map(|asked| (format!("at least {asked}"), speed >= asked)),
        });
    }
    let speed = measure(&assemble("v_add_f32 v4, v5, v6", 0)?)?;
    lines.push(Line {
        what: "v_add_f32 with denormals flushed".to_string(),
        value: format!("{speed:.1} million wave instructions/s, {:.2} of the reference", speed / reference),
        asked: None,
    });
    let (name, body, operations) = MATRIX;
    let gflops = measure(&assemble(body, 3)?)? * operations / 1e3;
    lines.push(Line {
        what: name.to_string(),
        value: format!("{gflops:.1} GFLOP/s, one core"),
        asked: Some(("at least 30".to_string(), gflops >= 30.0)),
    });
    mixed(&mut lines)?;
    gemm(&mut lines)?;
    Ok(lines)
}

/// Kernels that are profiled, and how many times as long as with counters only it may take.
const PROFILED: &[(&str, f64)] = &[("y^T A x, n = 4096", 4.0), ("matrix product of 1024^3 f16", 2.5)];

/// One of them with its launch on all cores.
fn profiled_job(kernel: &str) -> Result<(Job, Launch<'static>)> {
    let (job, launch) = if kernel == PROFILED[0].0 {
        let product = Product::new(4096, 64)?;
        (product.job, product.launch)
    } else {
        let product = Gemm::halves()?;
        (product.job, product.launch)
    };
    Ok((job, Launch { threads: 0, ..launch }))
}

/// Followed by a kernel and how it is profiled: `bench` says what one such run holds.
pub(super) const ALONE: &str = "alone";

/// Modes of profiling a kernel: counters only, some XCDs simulated, all simulated.
const WAYS: [(&str, Option<Detail>); 3] = [
    ("counters only", None),
    ("with caches and clock", Some(Detail::Share)),
    ("every XCD followed", Some(Detail::Full)),
];

/// Runs a kernel once and prints what this process holds meanwhile.
pub(super) fn alone(kernel: &str, how: &str) -> Result<()> {
    let (mut job, launch) = profiled_job(kernel)?;
    let (_, detail) = WAYS.iter().find(|(way, _)| *way == how).context("no such way to profile")?;
    let said = super::memory::during(|| match detail {
        None => counted(&mut job, launch).map(|_| ()),
        Some(detail) => profiled(&mut job, launch, *detail).map(|_| ()),
    })?;
    println!("{said}");
    Ok(())
}

/// Runs of a kernel, each with its profile after it: both have the speed that the machine has just then, so
/// it is their ratios that are compared.
const PAIRS: usize = 25;

/// The first quartile, the median and the third quartile of some values, at least one.
fn quartiles(values: &mut [f64]) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|quarter| values[(values.len() - 1) * quarter / 4])
}

/// A profile with caches and timing, compared with one that counts only the effects of execution.
pub(super) fn models() -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (name, most) in PROFILED {
        let (mut job, launch) = profiled_job(name)?;
        let (mut executed, mut modelled, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let mut shared = None;
        for _ in 0..PAIRS {
            let (_, alone) = counted(&mut job, launch)?;
            let (seconds, found) = profiled(&mut job, launch, Detail::Share)?;
            shared = found;
            executed.push(alone);
            modelled.push(seconds);
            ratios.push(seconds / alone);
        }
        let mut full = f64::INFINITY;
        for _ in 0..2 {
            full = full.min(profiled(&mut job, launch, Detail::Full)?.0);
        }
        let [_, executed, _] = quartiles(&mut executed);
        let [_, modelled, _] = quartiles(&mut modelled);
        let [low, ratio, high] = quartiles(&mut ratios);
        let differ = shared.map_or_else(String::new, |it| {
            format!(", {} of {} XCDs differ by {:.2} %", it.simulated, it.xcds, 100.0 * it.time_error)
        });
        lines.push(Line::plain(format!("{name}, counters only"), format!("{executed:.3} s")));
        lines.push(Line {
            what: format!("{name}, with caches and clock"),
            value: format!(
                "{modelled:.3} s{differ}; {ratio:.2} x counters only, half of all pairs {low:.2} to {high:.2} x"
            ),
            asked: Some((format!("at most {most} x"), ratio <= *most)),
        });
        let value = format!("{full:.3} s; {:.2} x counters only", full / executed);
        lines.push(Line::plain(format!("{name}, every XCD followed"), value));
        for (how, _) in WAYS {
            let run = Command::new(std::env::current_exe()?).args(["bench", ALONE, name, how]).output()?;
            ensure!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
            let held = String::from_utf8_lossy(&run.stdout).trim().to_string();
            lines.push(Line::plain(format!("its memory, {how}"), held));
        }
    }
    Ok(lines)
}

/// The training's matrix of 8 GiB, with its launch of four waves.
pub(super) fn large() -> Result<Vec<Line>> {
    let start = Instant::now();
    let (speed, seconds) = Product::new(32768, 4)?.run(0)?;
    let all = start.elapsed().as_secs_f64();
    Ok(vec![
        Line {
            what: "y^T A x, n = m = 32768, with filling the matrix".to_string(),
            value: format!("{all:.1} s, of these {seconds:.1} s emulated"),
            asked: Some(("at most 60 s".to_string(), all <= 60.0)),
        },
        Line::plain("the same, all cores".to_string(), format!("{speed:.1} million wave instructions/s")),
    ])
}

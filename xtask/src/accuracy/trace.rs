//! Waits of single instructions, compared with an issue trace.
//!
//! The trace is of four waves of one dispatch on an otherwise idle gfx950, so everything is cold; its
//! latencies are facts of the model, and the comparison shows their effect in a whole wave.

use super::Page;
use super::kernels::{Prepared, compile_with};
use crate::run::root;
use anyhow::{Context, Result};
use record::Recorder;

/// Places of `STALLS`.
const MEMORY: usize = 0;
const LOCAL: usize = 1;

/// Waits of the wave: which `s_waitcnt` of the kernel, for what, with how many instructions before it, words,
/// and the mean of the four traced waves.
const WAITS: &[(usize, usize, f64, &str, f64)] = &[
    (0, LOCAL, 1.0, "wait for two scalar loads", 748.0),
    (1, MEMORY, 1.0, "wait for three global loads", 1829.0),
    (2, LOCAL, 1.0, "wait for a store to the LDS", 38.0),
    (3, LOCAL, 7.0, "wait for a read of the LDS", 34.0),
];
/// Cycles an instruction takes a wave.
const STEP: f64 = 4.0;
/// Cycles from one addition to the next that needs its result, most often in the trace.
const DEPENDENT: f64 = 4.0;
/// Additions of a pass of the kernel that does nothing else.
const ADDITIONS: f64 = 512.0;
/// Mean lifetime of all waves, and the mean over shader engines of the cycles from the first start to the
/// last end.
const LIFE: f64 = 3843.0;
const ENGINE: f64 = 4261.0;
/// Recorded counters of the same run.
const HITS: f64 = 12_544.0;
const MISSES: f64 = 985.0;

/// Cycles per addition of a wave that does only dependent additions.
fn dependent(model: &'static arch::Model) -> Result<f64> {
    let source = root().join("xtask/src/accuracy/kernels.hip");
    let bytes = compile_with("clang++-22", &source, model.target().name)?.context("no clang++-22")?;
    let prepared = Prepared::of(bytes, "dependent");
    let cycles = |passes: i32| -> Result<f64> {
        let mut loaded = prepared.launch([4096; 1], &[1, passes])?;
        let mut recorder = Recorder::new(model);
        loaded.run(&mut recorder, [1, 1, 1], [64, 1, 1])?;
        let dispatch = recorder.dispatches().first().context("a dispatch")?;
        let found = dispatch.counters.iter().find(|it| it.0 == "SQ_WAVE_CYCLES").and_then(|it| it.1.known());
        Ok(STEP * found.context("`SQ_WAVE_CYCLES` is not known")? as f64)
    };
    const PASSES: i32 = 64;
    Ok((cycles(2 * PASSES)? - cycles(PASSES)?) / (f64::from(PASSES) * ADDITIONS))
}

/// Fills in the traced product.
pub(super) fn write(page: &mut Page) -> Result<()> {
    let model = arch::Model::by_name("mi355x").context("a model of the data files")?;
    let source = root().join("crates/3-measure/record/tests/sources/trace.hip");
    let Some(bytes) = compile_with("clang++-22", &source, model.target().name)? else { return Ok(()) };
    let prepared = Prepared::of(bytes, "product");
    let mut loaded = prepared.launch([4096; 3], &[])?;
    let mut recorder = Recorder::new(model);
    loaded.run(&mut recorder, [32, 32, 1], [16, 1, 1])?;
    let dispatch = recorder.dispatches().first().context("a dispatch")?;
    let add = |page: &mut Page, what: &str, truth: f64, found: f64| {
        let error = format!("{:+.1} %", 100.0 * (found - truth) / truth);
        println!("trace, {what}: {truth:.0} traced, {found:.0} modelled, {error}");
        page.row("trace", &[what.into(), format!("{truth:.0}"), format!("{found:.0}"), error]);
    };
    let waits: Vec<_> = dispatch.instructions.iter().filter(|it| it.text.starts_with("s_waitcnt")).collect();
    for &(number, reason, before, what, truth) in WAITS {
        let wait = waits.get(number).context("a wait")?;
        let cycles = wait.stalls.context("waits of instructions")?[reason];
        add(page, what, truth, STEP * before + cycles as f64 / wait.executions as f64);
    }
    add(page, "from an addition to one that needs it", DEPENDENT, dependent(model)?);
    let counter = |name: &str| {
        let found = dispatch.counters.iter().find(|it| it.0 == name).and_then(|it| it.1.known());
        found.map(|it| it as f64).with_context(|| format!("`{name}` is not known"))
    };
    let engines = f64::from(model.shader_engines.value);
    for (name, what, truth, found) in [
        ("SQ_WAVE_CYCLES", "life of a wave", LIFE, 4.0 * counter("SQ_WAVE_CYCLES")? / counter("SQ_WAVES")?),
        (
            "SQ_BUSY_CYCLES",
            "cycles in which a shader engine has waves",
            ENGINE,
            counter("SQ_BUSY_CYCLES")? / engines,
        ),
        ("TCC_HIT", "hits of the L2", HITS, counter("TCC_HIT")?),
        ("TCC_MISS", "misses of the L2", MISSES, counter("TCC_MISS")?),
    ] {
        add(page, what, truth, found);
        let of = format!("traced matrix product on {}", model.short());
        page.errors.add(model.target().name, name, of, (found - truth) / truth);
    }
    Ok(())
}

//! Published sets of kernels: profiled dispatches, and launches in a row.
//!
//! `sets.tsv` has the measured times. A kernel of `sets.hip` has the shape of the measured one, and this file says
//! how it is launched.

use super::events::{Argument, Contents, Step, Timed, launches, step};
use super::kernels::compile;
use super::{Page, row};
use crate::run::root;
use anyhow::{Context, Result, bail};
use record::{CacheState, Recorder, Settings};
use std::collections::BTreeMap;
use std::fmt::Write as _;

use Argument::{Buffer, Integer};

const MEASURED: &str = include_str!("sets.tsv");

/// Nodes of a cube of zones along an edge, beside the zones.
const BORDER: usize = 4;
/// Cells of a plane stencil beside each edge.
const RADIUS: usize = 4;
/// Bytes of a line to which rows of plane stencils are aligned.
const ALIGNED: usize = 64;
/// Longest measured time with a warm-up before it, microseconds: caches hold little of longer ones.
const WARMED: f64 = 1000.0;

/// Launches of a kernel at a size; `None` for an unknown kernel.
fn timed(kernel: &str, size: usize) -> Option<Timed> {
    match kernel {
        "planes9" => Some(planes(size)),
        "edges" | "volumes" | "to_nodes" => Some(zones(kernel, size)),
        "state" => Some(Timed {
            buffers: vec![(15 * 8 * size, Contents::Ones)],
            steps: ["state1", "state2", "state3", "state4", "state5", "state6"]
                .map(|kernel| step(kernel, size, &[Buffer(0), Integer(size as i32)]))
                .into(),
        }),
        _ => streams(kernel, size).or_else(|| laplacian(kernel, size)),
    }
}

/// A stream of doubles: kernels by name, with the buffers that they read.
fn streams(kernel: &str, size: usize) -> Option<Timed> {
    const KERNELS: [(&str, usize); 6] = [
        ("stream_write", 1),
        ("stream_read", 1),
        ("stream_copy", 1),
        ("stream_triad", 3),
        ("stream_near3", 1),
        ("stream_near5", 1),
    ];
    let (kernel, read) = KERNELS.into_iter().find(|it| it.0 == kernel)?;
    let launch = |out: usize, from: std::ops::Range<usize>| {
        let buffers = [out].into_iter().chain(from).map(Buffer);
        step(kernel, size, &buffers.chain([Integer(size as i32)]).collect::<Vec<_>>())
    };
    // A copy goes back and forth.
    let steps = match kernel {
        "stream_copy" => vec![launch(0, 1..2), launch(1, 0..1)],
        _ => vec![launch(0, 1..1 + read)],
    };
    Some(Timed { buffers: vec![(8 * size, Contents::Ones); 1 + read], steps })
}

/// A Laplacian of a cube: kernels by name, with the rows of each thread.
fn laplacian(kernel: &str, size: usize) -> Option<Timed> {
    const KERNELS: [(&str, usize); 7] = [
        ("laplacian_plain", 1),
        ("laplacian_streaming", 1),
        ("laplacian_rows2", 2),
        ("laplacian_rows8", 8),
        ("laplacian_order1", 1),
        ("laplacian_order4", 4),
        ("laplacian_order8", 8),
    ];
    let (kernel, rows) = KERNELS.into_iter().find(|it| it.0 == kernel)?;
    let cube = (8 * size.pow(3), Contents::Zeros);
    let n = Integer(size as i32);
    let mut one = step(kernel, size, &[Buffer(0), Buffer(1), n, n, n]);
    (one.workgroups[1], one.workgroups[2]) = (size.div_ceil(rows) as u32, size as u32);
    Some(Timed { buffers: vec![cube, cube], steps: vec![one] })
}

/// Weighted sums of planes; rows begin at a multiple of a line, less the radius.
fn planes(size: usize) -> Timed {
    let line = (size + 2 * RADIUS).next_multiple_of(ALIGNED);
    let slice = line * (size + 2 * RADIUS);
    let cube = (4 * (slice * (size + 2 * RADIUS) + ALIGNED), Contents::Zeros);
    let shift = 4 * (ALIGNED - RADIUS);
    let [line, slice, n] = [line, slice, size].map(|it| Integer(it as i32));
    let one = Step {
        kernel: "planes9",
        workgroups: [size.div_ceil(64) as u32, size.div_ceil(8) as u32, size as u32],
        workgroup: [64, 8, 1],
        arguments: vec![Argument::Inside(0, shift), Argument::Inside(1, shift), line, slice, n],
    };
    Timed { buffers: vec![cube, cube], steps: vec![one] }
}

/// Work on a cube of zones.
fn zones(kernel: &str, size: usize) -> Timed {
    let edge = (size as f64).cbrt().round() as usize;
    let row = edge + BORDER;
    let nodes = (8 * row.pow(3), Contents::Ones);
    let corners = (0..8).map(|it| 8 * ((it & 1) + (it >> 1 & 1) * row + (it >> 2) * row * row));
    let corners = |buffer| corners.clone().map(move |shift| Argument::Inside(buffer, shift));
    let integers = |of: &[usize]| of.iter().map(|&it| Integer(it as i32)).collect::<Vec<_>>();
    if kernel == "to_nodes" {
        let list = (8 * size, Contents::Zones(edge as u32));
        let arguments = [Buffer(0)].into_iter().chain(corners(1)).chain([Buffer(2)]).chain(integers(&[size]));
        let step = step("to_nodes", size, &arguments.collect::<Vec<_>>());
        return Timed { buffers: vec![nodes, nodes, list], steps: vec![step] };
    }
    // From the first zone of the border to the last.
    let diagonal = 1 + row + row * row;
    let last = (edge + 2) * diagonal + 1;
    let arguments =
        [Buffer(0)].into_iter().chain((1..4).flat_map(corners)).chain(integers(&[diagonal, last]));
    let kernel = if kernel == "edges" { "edges" } else { "volumes" };
    let step = step(kernel, last, &arguments.collect::<Vec<_>>());
    Timed { buffers: vec![nodes; 4], steps: vec![step] }
}

/// A measured time beside the modelled one, microseconds.
struct Compared {
    set: String,
    gpu: String,
    kernel: String,
    size: usize,
    measured: f64,
    modelled: f64,
}

impl Compared {
    /// Error relative to the measured time, percent.
    fn error(&self) -> f64 {
        100.0 * (self.modelled - self.measured) / self.measured
    }
}

/// Modelled microseconds of a row.
fn modelled(code: &[u8], gpu: &'static arch::Model, way: &str, timed: &Timed, measured: f64) -> Result<f64> {
    let settings = Settings { shares_xcds: true, ..Settings::default() };
    let mut recorder: Recorder = settings.recorder(gpu, None)?;
    let queued = match way {
        "dispatch" => 0.0,
        "row" => {
            recorder.caches(CacheState::AsRun);
            f64::from(gpu.target().launch.queued_ns.value().context("the cost of a launch in a row")?)
        }
        other => bail!("sets.tsv: no way `{other}`"),
    };
    let each = launches(code, timed, &mut recorder, measured < WARMED)?;
    Ok(each.iter().map(|it| it.nanoseconds + queued).sum::<f64>() / 1e3)
}

/// Models the rows whose `SET KERNEL SIZE` contains `only`; `None` without a compiler.
fn rows(only: &str) -> Result<Option<Vec<Compared>>> {
    let source = root().join("xtask/src/accuracy/sets.hip");
    let mut codes: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let mut rows = Vec::new();
    for line in MEASURED.lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [set, gpu, way, kernel, size, measured] = fields[..] else {
            bail!("sets.tsv: a row has 6 fields: {line}")
        };
        if !format!("{set} {kernel} {size}").contains(only) {
            continue;
        }
        let (size, measured): (usize, f64) = (size.parse()?, measured.parse()?);
        let model = arch::Model::by_name(gpu).context("a model of the data files")?;
        if !codes.contains_key(gpu) {
            let Some(code) = compile(&source, model.target().name)? else { return Ok(None) };
            codes.insert(gpu, code);
        }
        let timed = timed(kernel, size).with_context(|| format!("sets.tsv: no kernel `{kernel}`"))?;
        let start = std::time::Instant::now();
        let modelled = modelled(&codes[gpu], model, way, &timed, measured)?;
        let [set, gpu, kernel] = [set, gpu, kernel].map(str::to_owned);
        let compared = Compared { set, gpu, kernel, size, measured, modelled };
        println!(
            "{} {size}: {measured:.1} us measured, {modelled:.1} modelled, {:+.1} %, {:.1} s",
            compared.kernel,
            compared.error(),
            start.elapsed().as_secs_f64()
        );
        rows.push(compared);
    }
    Ok(Some(rows))
}

/// Fills in the sets; with a text in `only` the rows whose `SET KERNEL SIZE` contains it.
pub(super) fn write(page: &mut Page, only: &str) -> Result<()> {
    let Some(rows) = rows(only)? else { return Ok(()) };
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for it in &rows {
        let [measured, modelled] = [it.measured, it.modelled].map(|it| format!("{it:.1}"));
        let error = format!("{:+.1} %", it.error());
        let kernel = it.kernel.replace('_', " ");
        page.row("set_rows", &[it.gpu.clone(), kernel, it.size.to_string(), measured, modelled, error]);
        errors.entry(&it.set).or_default().push(it.error().abs());
    }
    let mut summary = String::new();
    for (set, errors) in &errors {
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst = errors.iter().copied().fold(0.0, f64::max);
        let near = errors.iter().filter(|it| **it <= 12.0).count();
        let numbers = [format!("{mean:.1} %"), format!("{worst:.1} %"), near.to_string()];
        let cells: Vec<String> =
            [(*set).to_owned(), errors.len().to_string()].into_iter().chain(numbers).collect();
        row(&mut summary, &cells);
    }
    let _ = write!(page.slots.entry("sets").or_default(), "{summary}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_launches() {
        for line in MEASURED.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<&str> = line.split('\t').collect();
            let timed = timed(fields[3], fields[4].parse().unwrap()).unwrap();
            let model = arch::Model::by_name(fields[1]).unwrap();
            assert!(fields[2] == "dispatch" || model.target().launch.queued_ns.value().is_some(), "{line}");
            let buffers = timed.buffers.len();
            let is_there = |it: &Argument| match it {
                Buffer(number) | Argument::Inside(number, _) => *number < buffers,
                _ => true,
            };
            assert!(timed.steps.iter().all(|step| step.arguments.iter().all(is_there)), "{line}");
        }
    }
}

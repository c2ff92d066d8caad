//! Choice of a tile for a matrix product.

use arch::{ElementType, Model};
use gemm::{Constants, Estimate, Operands, Problem, Scales, Tile, alternatives, compared};
use rules::{LaunchEvidence, check_launch};
use sorting::Sort;
use view::{
    Answer, Finding, NotChecked, NoteKind, TILE_SCHEMA, TileProblem, TileRow, TileTime, TileTotal, Tiles,
    UsageError,
};

/// Problem and GPU to choose a tile for, as a user writes them. Problems and tile have extents of at least 1.
#[derive(Clone, Debug)]
pub struct TileQuestion<'a> {
    /// The GPU.
    pub gpu: &'a str,
    /// Type of the factors.
    pub dtype: &'a str,
    /// Scales of the factors: `end`, `mx` or `blocks`; without it what the type's name implies.
    pub scales: Option<&'a str>,
    /// Layout of the factors: `tn`, `tt`, `nn` or `nt`.
    pub layout: &'a str,
    /// Rows, columns and depth of the products.
    pub mnk: &'a [[u64; 3]],
    /// These M in place of the products'; of none the powers of two.
    pub sweep: Option<&'a [u64]>,
    /// Elements from one row of the left factor to the next.
    pub left_stride: Option<u64>,
    /// Elements from one row of the right factor to the next.
    pub right_stride: Option<u64>,
    /// The tile to judge; without it the one of least expected time.
    pub tile: Option<[u64; 3]>,
    /// Stages of the tiles.
    pub stages: u32,
    /// Waves of the tile.
    pub waves: u32,
    /// Workgroups that share the depth of the tile; with any number shared depths are tried.
    pub split_k: Option<u64>,
    /// Other tiles shown.
    pub top: usize,
    /// `WorkGroupMapping`.
    pub workgroup_mapping: Option<u32>,
    /// The kernel deals its tiles to the XCDs itself.
    pub remaps_xcds: Option<bool>,
}

/// Largest M of a sweep without a list, as a power of two.
const SWEEP_TO: u32 = 13;

/// Accuracy of the times: errors of the comparison in the tests of `gemm`.
const TRUST: &str = "expected times are modelled: mean error 5.7 % (12.7 % for M up to 1,024) on 1,500 measured FP8 products on an MI300X that the model was not fitted to, and 12 to 20 % on 1,500 products of three types on an MI355X; other GPUs have not been compared";

/// Note on times that nothing measured confirms.
fn not_compared(model: &Model, problem: &Problem) -> String {
    let [least, most] = Constants::SHARES.map(|share| 100.0 * share);
    format!(
        "no measured product of {} (scales: {}) on GPUs like {} is known: a time is the range between {least:.0} and {most:.0} % of the \
         matrix units' peak, and the tiles are in no order",
        problem.element.name(),
        problem.scales.name(),
        model.name
    )
}

/// Note on the scales of the factors.
fn about(scales: Scales) -> Option<&'static str> {
    match scales {
        Scales::End => None,
        Scales::Mx => Some(
            "scales: MX, one for 32 elements of the depth; `--scales end` for factors scaled by tensor or row",
        ),
        Scales::Blocks => {
            Some("scales: one for each block of the depth, which the kernel multiplies into its sums")
        }
    }
}

/// Answers.
pub fn tile(question: &TileQuestion<'_>) -> Result<Answer<Tiles>, UsageError> {
    let model = Model::by_name(question.gpu)
        .ok_or_else(|| UsageError::new(format!("no GPU `{}`", question.gpu), ""))?;
    let problems = problems(question)?;
    let first = problems.first();
    let tiles = Tiles {
        gpu: model.name.clone(),
        compute_units: model.compute_units.value,
        xcds: model.xcds.value,
        dtype: first.map_or("", |it| it.element.name()),
        layout: first.map_or("", |it| it.operands.name()),
        problems: Vec::new(),
    };
    let mut answer = Answer::new(TILE_SCHEMA, tiles);
    if let Some(text) = first.and_then(|it| about(it.scales)) {
        answer.note(NoteKind::Info, text);
    }
    match first.filter(|it| compared(model, it.element, it.scales).is_none()) {
        None => answer.note(NoteKind::Info, TRUST),
        Some(it) => answer.note(NoteKind::Warning, not_compared(model, it)),
    }
    for it in problems {
        let (problem, findings, not_checked) = problem(question, model, it);
        let name = problem.name();
        let named = |it: Finding| Finding { kernel: Some(name.clone()), ..it };
        answer.findings.extend(findings.into_iter().map(named));
        for it in not_checked {
            if !answer.not_checked.contains(&it) {
                answer.not_checked.push(it);
            }
        }
        answer.part.problems.push(problem);
    }
    Ok(answer)
}

/// A tile as a search asks for it: rows, columns, depth, workgroups that share the depth, waves, stages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AskedTile {
    /// Rows, columns, depth.
    pub mnk: [u64; 3],
    /// Workgroups that share the depth.
    pub split_k: u64,
    /// Waves of a workgroup.
    pub waves: u32,
    /// Pipeline stages.
    pub stages: u32,
}

/// Modelled times of tiles of one product, microseconds; `None` where no workgroup fits or the GPU has no such
/// instructions.
///
/// # Errors
/// If GPU, type or layout are not known.
pub fn tile_times(
    (gpu, dtype, layout): (&str, &str, &str),
    mnk: [u64; 3],
    tiles: &[AskedTile],
) -> Result<Vec<Option<f64>>, UsageError> {
    let model = Model::by_name(gpu).ok_or_else(|| UsageError::new(format!("no GPU `{gpu}`"), ""))?;
    let question = TileQuestion {
        gpu,
        dtype,
        scales: None,
        layout,
        mnk: &[mnk],
        sweep: None,
        left_stride: None,
        right_stride: None,
        tile: None,
        stages: 2,
        waves: 4,
        split_k: None,
        top: 1,
        workgroup_mapping: None,
        remaps_xcds: None,
    };
    let problems = problems(&question)?;
    let Some(problem) = problems.first() else { return Ok(Vec::new()) };
    let time = |it: &AskedTile| {
        let [m, n, k] = it.mnk;
        if m == 0 || n == 0 || k == 0 {
            return None;
        }
        let tile = Tile { m, n, k, split_k: it.split_k.max(1), waves: it.waves, stages: it.stages };
        Some(Estimate::of(model, *problem, tile).time?.total_us)
    };
    Ok(tiles.iter().map(time).collect())
}

/// The products, all of one type and layout.
fn problems(question: &TileQuestion<'_>) -> Result<Vec<Problem>, UsageError> {
    let element = ElementType::by_name(question.dtype).filter(|it| ElementType::FACTORS.contains(it));
    let Some(element) = element else {
        let known: Vec<&str> = ElementType::FACTORS.iter().map(|it| it.name()).collect();
        return Err(UsageError::new(
            format!("no type `{}`", question.dtype),
            format!("known are {}", known.join(", ")),
        ));
    };
    let Some(operands) = Operands::by_name(question.layout) else {
        return Err(UsageError::new(
            format!("no layout `{}`", question.layout),
            "write `tn`, `tt`, `nn` or `nt`",
        ));
    };
    let scales = match question.scales {
        None => Scales::of_type(question.dtype, element),
        Some(name) => Scales::by_name(name)
            .ok_or_else(|| UsageError::new(format!("no scales `{name}`"), "write `end`, `mx` or `blocks`"))?,
    };
    let (left_stride, right_stride) = (question.left_stride, question.right_stride);
    let problem =
        |[m, n, k]: [u64; 3]| Problem { m, n, k, element, scales, operands, left_stride, right_stride };
    let Some(list) = question.sweep else { return Ok(question.mnk.iter().copied().map(problem).collect()) };
    let list = if list.is_empty() { (0..=SWEEP_TO).map(|it| 1 << it).collect() } else { list.to_vec() };
    if list.contains(&0) {
        return Err(UsageError::new("an M of 0 in `--sweep`", "write whole numbers of at least 1"));
    }
    let of = |[_, n, k]: &[u64; 3]| list.iter().map(|m| problem([*m, *n, *k])).collect::<Vec<_>>();
    Ok(question.mnk.iter().flat_map(of).collect())
}

fn problem(
    question: &TileQuestion<'_>,
    model: &'static Model,
    problem: Problem,
) -> (TileProblem, Vec<Finding>, Vec<NotChecked>) {
    let mut others = alternatives(model, problem, question.stages, question.split_k.is_some());
    let is_compared = compared(model, problem.element, problem.scales).is_some();
    if !is_compared {
        others.in_order_by_key(|it| std::cmp::Reverse((it.tile.m * it.tile.n, it.tile.m, it.tile.k)));
    }
    let tile = question.tile.map(|[m, n, k]| Tile {
        m,
        n,
        k,
        split_k: question.split_k.unwrap_or(1).max(1),
        waves: question.waves,
        stages: question.stages,
    });
    let asked = tile.map(|tile| Estimate::of(model, problem, tile));
    let chosen = asked.as_ref().or(others.first().filter(|_| is_compared));
    let (findings, not_checked) = chosen.map_or_else(Default::default, |it| {
        check_launch(&LaunchEvidence {
            model,
            workgroups: it.workgroups,
            gemm: Some(it),
            // Which tile is better is not known.
            alternatives: if is_compared { &others } else { &[] },
            workgroup_mapping: question.workgroup_mapping,
            remaps_xcds: question.remaps_xcds,
        })
    });
    let rest = others.iter().filter(|it| asked.as_ref().is_none_or(|asked| asked.tile != it.tile));
    let shown = if asked.is_some() { question.top } else { question.top.saturating_add(1) };
    let problem = TileProblem {
        m: problem.m,
        n: problem.n,
        k: problem.k,
        asked: asked.is_some(),
        tiles: asked.iter().chain(rest.take(shown)).map(row).collect(),
    };
    (problem, findings, not_checked)
}

fn row(it: &Estimate) -> TileRow {
    let no_time = match it.time {
        Some(_) => None,
        None if it.need.workgroups_per_cu == 0 => Some(format!("no workgroup fits: {}", it.need.limiter)),
        None => Some(format!("no matrix instructions for {} on this GPU", it.problem.element.name())),
    };
    TileRow {
        name: it.tile.name(),
        tile_m: it.tile.m,
        tile_n: it.tile.n,
        tile_k: it.tile.k,
        split_k: it.tile.split_k,
        warps: it.tile.waves,
        stages: it.tile.stages,
        grid: it.grid,
        workgroups: it.workgroups,
        rounds: it.rounds.rounds,
        utilisation: 100.0 * it.rounds.utilisation,
        last_round: 100.0 * it.rounds.last_round,
        xcd_utilisation: 100.0 * it.xcd.utilisation,
        useful: 100.0 * it.useful,
        memory_bytes: it.bytes.memory,
        l2_bytes: it.bytes.l2,
        fabric_bytes: it.bytes.fabric,
        fabric_grouped_bytes: it.bytes.fabric_grouped,
        lds_read_bytes: it.bytes.lds,
        lds_bytes: it.need.lds_bytes,
        sum_registers: it.need.sum_registers,
        least_registers: it.need.least_registers,
        workgroups_per_cu: it.need.workgroups_per_cu,
        limiter: it.need.limiter.to_owned(),
        time: it.time.map(|time| TileTime {
            launch_us: time.launch_us,
            memory_us: time.memory_us,
            total: time.range_us.is_none().then(|| TileTotal {
                total_us: time.total_us,
                compute_us: time.compute_us,
                bound: time.bound.name(),
                tera_ops: time.tera_ops,
                peak_share: 100.0 * time.peak_share,
            }),
            range_us: time.range_us,
        }),
        no_time,
    }
}

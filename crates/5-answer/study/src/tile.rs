//! Choice of a tile for a matrix product.

use arch::Model;
use gemm::{Estimate, Problem, Tile, alternatives};
use rules::{LaunchEvidence, check_launch};
use view::{Answer, Finding, NotChecked, NoteKind, TILE_SCHEMA, TileProblem, TileRow, TileTime, Tiles};

/// Problem and GPU to choose a tile for.
#[derive(Clone, Debug)]
pub struct TileQuestion {
    /// The GPU.
    pub model: &'static Model,
    /// The products; all of one type and layout.
    pub problems: Vec<Problem>,
    /// The tile to judge; without it the one of least expected time.
    pub tile: Option<Tile>,
    /// Stages of the other tiles.
    pub stages: u32,
    /// Try shared depths.
    pub split_k: bool,
    /// Other tiles shown.
    pub top: usize,
    /// `WorkGroupMapping`.
    pub workgroup_mapping: Option<u32>,
    /// The kernel deals its tiles to the XCDs itself.
    pub remaps_xcds: Option<bool>,
}

/// Accuracy of the times: errors of the comparison in the tests of `gemm`.
const TRUST: &str = "expected times are modelled: mean error 5.8 % (13.5 % for M up to 1,024) on 1,500 measured FP8 products on an MI300X that the model was not fitted to; other types and GPUs have not been compared";

/// Answers. Problems and tile have extents of at least 1.
pub fn tile(question: &TileQuestion) -> Answer<Tiles> {
    let model = question.model;
    let first = question.problems.first();
    let tiles = Tiles {
        gpu: model.name.clone(),
        compute_units: model.compute_units.value,
        xcds: model.xcds.value,
        dtype: first.map_or("", |it| it.element.name()),
        layout: first.map_or("", |it| it.operands.name()),
        problems: Vec::new(),
    };
    let mut answer = Answer::new(TILE_SCHEMA, tiles);
    answer.note(NoteKind::Info, TRUST);
    for it in &question.problems {
        let (problem, findings, not_checked) = problem(question, *it);
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
    answer
}

fn problem(question: &TileQuestion, problem: Problem) -> (TileProblem, Vec<Finding>, Vec<NotChecked>) {
    let others = alternatives(question.model, problem, question.stages, question.split_k);
    let asked = question.tile.map(|tile| Estimate::of(question.model, problem, tile));
    let chosen = asked.as_ref().or(others.first());
    let (findings, not_checked) = chosen.map_or_else(Default::default, |it| {
        check_launch(&LaunchEvidence {
            model: question.model,
            workgroups: it.workgroups,
            gemm: Some(it),
            alternatives: &others,
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
            total_us: time.total_us,
            launch_us: time.launch_us,
            compute_us: time.compute_us,
            memory_us: time.memory_us,
            bound: time.bound.name(),
            tera_ops: time.tera_ops,
            peak_share: 100.0 * time.peak_share,
        }),
        no_time,
    }
}

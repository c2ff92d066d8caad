//! CSV: one row per kernel, flat columns.
//!
//! A column is one row of [`COLUMNS`], so header and values cannot drift apart.

use std::borrow::Cow;
use view::{Comparison, KernelCard, Mix, Severity, Tiles};

/// A cell: borrowed where the card holds the text already.
type Cell<'a> = Cow<'a, str>;

/// A column: header and value. Absent values are empty cells.
type Column = (&'static str, fn(&KernelCard) -> Cell<'_>);

fn number<T: ToString>(value: Option<T>) -> Cell<'static> {
    value.map_or(Cow::Borrowed(""), |value| Cow::Owned(value.to_string()))
}

fn mix(card: &KernelCard, class: fn(&Mix) -> u32) -> Cell<'static> {
    number(card.mix.as_ref().map(class))
}

fn findings(card: &KernelCard, severity: Severity) -> Cell<'static> {
    Cow::Owned(card.findings.iter().filter(|finding| finding.severity == severity).count().to_string())
}

const COLUMNS: &[Column] = &[
    ("file", |card| Cow::Borrowed(&card.file)),
    ("origin", |card| Cow::Borrowed(&card.origin)),
    ("target", |card| Cow::Borrowed(&card.target)),
    ("name", |card| Cow::Borrowed(&card.name)),
    ("demangled", |card| Cow::Borrowed(&card.demangled)),
    ("source_file", |card| {
        card.source.as_ref().map_or(Cow::Borrowed(""), |source| Cow::Borrowed(source.file.as_str()))
    }),
    ("source_line", |card| number(card.source.as_ref().map(|source| source.line))),
    ("vgprs", |card| number(card.resources.vgprs)),
    ("agprs", |card| number(card.resources.agprs)),
    ("vgprs_allocated", |card| number(card.resources.vgprs_allocated)),
    ("sgprs", |card| number(card.resources.sgprs)),
    ("vgpr_spills", |card| number(card.resources.vgpr_spills)),
    ("sgpr_spills", |card| number(card.resources.sgpr_spills)),
    ("lds_bytes", |card| number(card.resources.lds_bytes)),
    ("launch_lds_bytes", |card| number(card.resources.launch_lds_bytes)),
    ("scratch_bytes", |card| number(card.resources.scratch_bytes)),
    ("dynamic_stack", |card| Cow::Borrowed(if card.resources.dynamic_stack { "true" } else { "false" })),
    ("kernarg_bytes", |card| number(card.resources.kernarg_bytes)),
    ("max_workgroup", |card| number(card.resources.max_workgroup)),
    ("required_workgroup", |card| {
        number(card.resources.required_workgroup.map(|[x, y, z]| format!("{x}x{y}x{z}")))
    }),
    ("wavefront_size", |card| number(card.resources.wavefront_size)),
    ("waves_per_workgroup", |card| number(card.resources.waves_per_workgroup)),
    ("waves_per_simd", |card| number(card.occupancy.as_ref().map(|occupancy| occupancy.waves_per_simd))),
    ("waves_per_cu", |card| number(card.occupancy.as_ref().map(|occupancy| occupancy.waves_per_cu))),
    ("max_waves_per_simd", |card| {
        number(card.occupancy.as_ref().map(|occupancy| occupancy.max_waves_per_simd))
    }),
    ("limiter", |card| {
        card.occupancy
            .as_ref()
            .map_or(Cow::Borrowed(""), |occupancy| Cow::Borrowed(occupancy.limiter.as_str()))
    }),
    ("code_bytes", |card| number(card.code_bytes)),
    ("instructions", |card| number(card.instructions)),
    ("unknown_instructions", |card| number(card.unknown_instructions)),
    ("valu", |card| mix(card, |mix| mix.valu)),
    ("mfma", |card| mix(card, |mix| mix.mfma)),
    ("salu", |card| mix(card, |mix| mix.salu)),
    ("smem", |card| mix(card, |mix| mix.smem)),
    ("vmem_load", |card| mix(card, |mix| mix.vmem_load)),
    ("vmem_store", |card| mix(card, |mix| mix.vmem_store)),
    ("vmem_atomic", |card| mix(card, |mix| mix.vmem_atomic)),
    ("lds", |card| mix(card, |mix| mix.lds)),
    ("branch", |card| mix(card, |mix| mix.branch)),
    ("wait", |card| mix(card, |mix| mix.wait)),
    ("barrier", |card| mix(card, |mix| mix.barrier)),
    ("message", |card| mix(card, |mix| mix.message)),
    ("control", |card| mix(card, |mix| mix.control)),
    ("peak_live_vgprs", |card| number(card.pressure.as_ref().map(|pressure| pressure.live_vgprs))),
    ("peak_live_agprs", |card| number(card.pressure.as_ref().map(|pressure| pressure.live_agprs))),
    ("loops", |card| Cow::Owned(card.loops.len().to_string())),
    ("deepest_loop", |card| number(card.loops.iter().map(|card| card.depth).max().or(Some(0)))),
    ("findings_severe", |card| findings(card, Severity::Severe)),
    ("findings_warning", |card| findings(card, Severity::Warning)),
    ("findings_info", |card| findings(card, Severity::Info)),
    ("rules", |card| {
        let mut rules: Vec<&str> = card.findings.iter().map(|finding| finding.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        Cow::Owned(rules.join(" "))
    }),
];

/// The header line.
pub fn header() -> String {
    record(COLUMNS.iter().map(|(name, _)| Cow::Borrowed(*name)))
}

/// One kernel as a line.
pub fn kernel(card: &KernelCard) -> String {
    record(COLUMNS.iter().map(|(_, value)| value(card)))
}

fn record<'a>(cells: impl Iterator<Item = Cell<'a>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail; a row that did would be missing, not broken.
    let _ = writer.write_record(cells.map(|cell| cell.into_owned()));
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Changes between two builds: one row per kernel and value, and one per kernel that came or went.
pub(crate) fn comparison(part: &Comparison) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut row = |cells: [&str; 9]| drop(writer.write_record(cells));
    row(["state", "kernel", "demangled", "target", "metric", "old", "new", "verdict", "breaks"]);
    for kernel in &part.changed {
        let it = &kernel.new;
        for change in &kernel.changes {
            let side = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let (old, new) = (side(change.old), side(change.new));
            let breaks = change.breaks.as_deref().unwrap_or_default();
            let verdict = change.verdict.as_str();
            row([
                "changed",
                &it.name,
                &it.demangled,
                &it.target,
                &change.metric,
                &old,
                &new,
                verdict,
                breaks,
            ]);
        }
    }
    for (state, names) in [("added", &part.added), ("removed", &part.removed)] {
        for it in names {
            row([state, &it.name, &it.demangled, &it.target, "", "", "", "", ""]);
        }
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// Tiles of matrix products: one row per shape and tile.
pub(crate) fn tile(report: &Tiles) -> String {
    const HEADER: &str = "gpu,dtype,layout,m,n,k,tile_m,tile_n,tile_k,split_k,warps,stages,workgroups,rounds,utilisation,xcd_utilisation,last_round,useful,memory_bytes,l2_bytes,fabric_bytes,fabric_grouped_bytes,lds_read_bytes,lds_bytes,sum_registers,least_registers,workgroups_per_cu,limiter,total_us,launch_us,compute_us,memory_us,bound,tera_ops,peak_share,least_us,most_us\n";
    let mut out = HEADER.to_owned();
    for problem in &report.problems {
        for row in &problem.tiles {
            let ranged = row.time.as_ref().and_then(|it| it.range_us);
            let bound_us =
                |at: usize| ranged.map_or_else(String::new, |it: [f64; 2]| format!("{:.3}", it[at]));
            // Where the time is a range, nothing else of it is known.
            let time = row.time.as_ref().filter(|_| ranged.is_none());
            let total = time.and_then(|it| it.total.as_ref());
            let number = |of: fn(&view::TileTotal) -> f64| {
                total.map_or_else(String::new, |it| format!("{:.3}", of(it)))
            };
            let part =
                |of: fn(&view::TileTime) -> f64| time.map_or_else(String::new, |it| format!("{:.3}", of(it)));
            let cells = [
                report.gpu.clone(),
                report.dtype.to_owned(),
                report.layout.to_owned(),
                problem.m.to_string(),
                problem.n.to_string(),
                problem.k.to_string(),
                row.tile_m.to_string(),
                row.tile_n.to_string(),
                row.tile_k.to_string(),
                row.split_k.to_string(),
                row.warps.to_string(),
                row.stages.to_string(),
                row.workgroups.to_string(),
                row.rounds.to_string(),
                format!("{:.3}", row.utilisation),
                format!("{:.3}", row.xcd_utilisation),
                format!("{:.3}", row.last_round),
                format!("{:.3}", row.useful),
                format!("{:.0}", row.memory_bytes),
                format!("{:.0}", row.l2_bytes),
                format!("{:.0}", row.fabric_bytes),
                format!("{:.0}", row.fabric_grouped_bytes),
                format!("{:.0}", row.lds_read_bytes),
                row.lds_bytes.to_string(),
                row.sum_registers.to_string(),
                row.least_registers.to_string(),
                row.workgroups_per_cu.to_string(),
                row.limiter.clone(),
                number(|it| it.total_us),
                part(|it| it.launch_us),
                number(|it| it.compute_us),
                part(|it| it.memory_us),
                total.map_or_else(String::new, |it| it.bound.to_owned()),
                number(|it| it.tera_ops),
                number(|it| it.peak_share),
                bound_us(0),
                bound_us(1),
            ];
            out.push_str(&cells.join(","));
            out.push('\n');
        }
    }
    out
}

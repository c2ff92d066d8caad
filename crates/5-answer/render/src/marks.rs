//! Accuracy of numbers in charts and findings, as a sign before each.
//!
//! A sign has one character, so it shows only the kind of a number; the legend gives the error of each kind.
//! Exact and measured numbers have no sign.

use view::{Finding, Guide, Mark, MemoryChart, Page, PageKernel, Percent, RooflineChart};

/// Prefix of a number; empty if it has no sign.
pub(crate) fn sign(mark: Option<Mark>) -> &'static str {
    mark.map_or("", Mark::sign)
}

/// A number with its sign. A number that is not known has none.
pub(crate) fn signed(mark: Option<Mark>, text: String) -> String {
    format!("{}{text}", sign(mark))
}

/// Legend of the signs that occur in a chart; `None` if nothing is marked.
pub(crate) fn legend(marks: impl Iterator<Item = Mark>) -> Option<String> {
    let marks: Vec<Mark> = marks.collect();
    if marks.is_empty() {
        return None;
    }
    let mut out: Vec<String> = Vec::new();
    for of in ["~", "≈"] {
        let errors = marks.iter().filter_map(|mark| match mark {
            Mark::Modelled(error) if sign(Some(*mark)) == of => *error,
            _ => None,
        });
        let errors: Vec<f64> = errors.collect();
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let most = errors.iter().copied().fold(0.0, f64::max);
        let (least, most) = (Percent(least).to_string(), Percent(most).to_string());
        match errors.is_empty() {
            true => {}
            false if least == most => out.push(format!("{of} modelled ±{most} %")),
            false => out.push(format!("{of} modelled ±{least} to ±{most} %")),
        }
    }
    for (mark, text) in [
        (Mark::Modelled(None), "modelled, not compared with hardware"),
        (Mark::Sampled, "from a sample of workgroups"),
    ] {
        if marks.contains(&mark) {
            out.push(format!("{} {text}", sign(Some(mark))));
        }
    }
    let exact = if out.is_empty() { "all numbers are exact" } else { "without a sign: exact" };
    out.push(exact.to_owned());
    Some(out.join(" · "))
}

/// The marks of a roofline.
pub(crate) fn of_roofline(chart: &RooflineChart) -> impl Iterator<Item = Mark> {
    chart.kernels.iter().flat_map(|kernel| {
        let own = [kernel.time_trust, kernel.flops_trust, kernel.rate_trust, kernel.verdict.trust];
        let levels = kernel.levels.iter();
        let levels = levels.flat_map(|it| [it.bytes_trust, it.intensity_trust, it.bandwidth_trust]);
        own.into_iter().chain(levels).flatten()
    })
}

/// The marks of a memory chart.
pub(crate) fn of_memory(chart: &MemoryChart) -> impl Iterator<Item = Mark> {
    let facts = chart.blocks.iter().flat_map(|block| &block.facts).filter_map(|fact| fact.trust);
    let links = chart.links.iter();
    facts.chain(links.flat_map(|it| [it.requests_trust, it.bytes_trust, it.bandwidth_trust]).flatten())
}

/// The marks of a guide's verdict, list of kernels and comparison.
pub(crate) fn of_guide(guide: &Guide) -> impl Iterator<Item = Mark> {
    let kernels = guide.kernels.iter().flat_map(|it| [it.time_trust, it.percent_trust, it.roof_trust]);
    let changes = guide.changes.iter().flat_map(|changes| &changes.kernels);
    let changes = changes.flat_map(|it| {
        it.trust.iter().copied().chain([it.before_trust, it.after_trust].into_iter().flatten())
    });
    kernels.flatten().chain(guide.verdict.trust).chain(changes)
}

/// The marks of a page's list of kernels.
pub(crate) fn of_kernels(page: &Page) -> impl Iterator<Item = Mark> {
    let of = |it: &PageKernel| [it.time_trust, it.percent_trust, it.occupancy_trust, it.roof_trust];
    page.kernels.iter().flat_map(of).flatten()
}

/// Marks of the signed numbers in findings.
pub(crate) fn of_findings<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> impl Iterator<Item = Mark> {
    let of = |it: &'a Finding| it.trust.iter().copied().chain(it.time_trust);
    findings.into_iter().flat_map(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_say_which_kind_and_the_legend_how_far() {
        let (fine, good) = (Mark::Modelled(Some(0.09)), Mark::Modelled(Some(10.0)));
        let (rough, unknown) = (Mark::Modelled(Some(46.1)), Mark::Modelled(None));
        for (marks, signs, text) in [
            (vec![], "", None),
            (vec![Mark::Exact], "", Some("all numbers are exact")),
            (vec![fine, Mark::Exact], "~", Some("~ modelled ±0.1 % · without a sign: exact")),
            (
                vec![fine, rough, good, unknown],
                "~≈~?",
                Some(
                    "~ modelled ±0.1 to ±10 % · ≈ modelled ±46 % · ? modelled, not compared with hardware · without a sign: exact",
                ),
            ),
            (vec![Mark::Sampled], "°", Some("° from a sample of workgroups · without a sign: exact")),
        ] {
            assert_eq!(marks.iter().map(|it| sign(Some(*it))).collect::<String>(), signs);
            assert_eq!(legend(marks.into_iter()).as_deref(), text);
        }
        assert_eq!(sign(None), "", "what was measured has no sign");
    }
}

//! Findings that hold for some shapes of the workgroup only.
//!
//! If the code object does not tell the shape, every usual shape is judged, and the finding names the shapes.

use analysis::KernelEvidence;
use analysis::affine::Addresses;
use sorting::Sort;
use std::collections::BTreeMap;
use view::{Finding, Severity};

/// A finding and how bad it is, in the rule's own unit.
pub(crate) type Weighed = (u32, Finding);

/// Findings by where they are, for the shape of the kernel's workgroup or, where that is unknown, for the
/// usual shapes.
pub(crate) fn judge<K: Ord + Copy>(
    evidence: &KernelEvidence<'_>,
    judge: impl Fn(&Addresses) -> BTreeMap<K, Weighed>,
) -> Vec<Finding> {
    let shaped = evidence.usual_shapes();
    if shaped.is_empty() {
        return judge(evidence.addresses()).into_values().map(|(_, finding)| finding).collect();
    }
    merge(shaped.iter().map(|one| (one.shape, judge(&one.addresses))).collect())
}

fn merge<K: Ord + Copy>(mut found: Vec<(&'static str, BTreeMap<K, Weighed>)>) -> Vec<Finding> {
    let mut keys: Vec<K> = found.iter().flat_map(|(_, findings)| findings.keys().copied()).collect();
    keys.in_order();
    keys.dedup();
    let of_key = |key| {
        let shapes: Vec<(&'static str, Option<Weighed>)> =
            found.iter_mut().map(|(shape, findings)| (*shape, findings.remove(&key))).collect();
        one_of(shapes)
    };
    keys.into_iter().filter_map(of_key).collect()
}

/// One finding of those for each shape: the worst.
fn one_of(shapes: Vec<(&'static str, Option<Weighed>)>) -> Option<Finding> {
    let worst = shapes.iter().filter_map(|(_, found)| found.as_ref()).max_by_key(|(weight, _)| *weight)?;
    let mut finding = worst.1.clone();
    let alike = |found: &Option<Weighed>| {
        found.as_ref().is_some_and(|(_, it)| it.message == finding.message && it.cost == finding.cost)
    };
    let names: Vec<&str> = shapes.iter().filter(|(_, it)| alike(it)).map(|(shape, _)| *shape).collect();
    if names.len() == shapes.len() {
        return Some(finding.with_evidence("workgroup shape", format!("the same in {}", names.join(", "))));
    }
    finding.severity = Severity::Info;
    finding.message = format!("in workgroups of {}: {}", names.join(", "), finding.message);
    let costs = shapes.iter().map(|(shape, found)| {
        let cost = found.as_ref().map(|(_, it)| it.cost.as_deref().unwrap_or(&it.message));
        format!("{shape}: {}", cost.unwrap_or("nothing"))
    });
    finding.cost = Some(costs.collect::<Vec<_>>().join("; "));
    for (shape, found) in &shapes {
        let words = found.as_ref().map_or("nothing", |(_, it)| it.message.as_str());
        finding = finding.with_evidence(format!("in workgroups of {shape}"), words);
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(message: &str) -> Finding {
        Finding::new("LDS002", Severity::Warning, message, "pad")
    }

    #[test]
    fn the_worst_shape_is_named() {
        let found = vec![
            ("64x1", BTreeMap::from([(1, (9, finding("32 cycles"))), (2, (5, finding("2 cycles")))])),
            ("32x8", BTreeMap::from([(2, (5, finding("2 cycles")))])),
            ("16x16", BTreeMap::from([(1, (3, finding("8 cycles"))), (2, (5, finding("2 cycles")))])),
        ];
        let merged = merge(found);
        let [one, two] = &merged[..] else { panic!("{merged:?}") };
        assert!(one.message.ends_with(" 64x1: 32 cycles") && one.severity == Severity::Info, "{one:?}");
        assert_eq!(one.cost.as_deref(), Some("64x1: 32 cycles; 32x8: nothing; 16x16: 8 cycles"));
        let words: Vec<&str> = one.evidence.iter().map(|it| it.value.as_str()).collect();
        assert_eq!(words, ["32 cycles", "nothing", "8 cycles"]);
        // What holds in every shape needs no shape.
        assert_eq!((two.message.as_str(), two.severity), ("2 cycles", Severity::Warning));
    }
}

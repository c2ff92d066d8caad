//! Rules that fire on candidates: each verdict with the rule for it.

use rockhound_rules::{CandidateEvidence, check_candidate};
use view::CandidateVerdict::{Faster, Hangs, Impossible, NotFaster, NotRun, Slower, Unsafe, Wrong};
use view::Severity;

#[test]
fn each_verdict_has_its_rule() {
    for (verdict, expected) in [
        (Wrong, Some(("JDG001", Severity::Severe))),
        (Unsafe, Some(("JDG002", Severity::Severe))),
        (Hangs, Some(("JDG002", Severity::Severe))),
        (Impossible, Some(("JDG003", Severity::Severe))),
        (NotFaster, Some(("JDG004", Severity::Info))),
        (Slower, Some(("JDG004", Severity::Info))),
        (Faster, None),
        // An error of the input, and no finding.
        (NotRun, None),
    ] {
        let evidence =
            CandidateEvidence { name: "wide.hip", verdict, because: "element 3", inputs: Some("seed 2") };
        let found = check_candidate(&evidence);
        let ids: Vec<_> = found.iter().map(|it| (it.rule, it.severity)).collect();
        assert_eq!(ids, expected.into_iter().collect::<Vec<_>>(), "{verdict:?}");
    }
}

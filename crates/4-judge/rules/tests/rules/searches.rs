//! Rules that fire on searches: a row that triggers each and a near miss.

use rockhound_rules::{SearchEvidence, check_search};
use view::Severity;

const BASE: SearchEvidence<'_> = SearchEvidence {
    gain: Some(1.01),
    least_gain: None,
    start: "TILE=32",
    winner: "TILE=64",
    wrong: 0,
    wrong_because: None,
};

#[test]
fn searches() {
    let rows = [
        ("equal", BASE, vec![]),
        ("a little", SearchEvidence { gain: Some(1.03), ..BASE }, vec![("SRC001", Severity::Info)]),
        ("more", SearchEvidence { gain: Some(1.2), ..BASE }, vec![("SRC001", Severity::Warning)]),
        ("much", SearchEvidence { gain: Some(1.3), ..BASE }, vec![("SRC001", Severity::Severe)]),
        ("not sure", SearchEvidence { gain: Some(1.3), least_gain: Some(1.0), ..BASE }, vec![]),
        (
            "less sure",
            SearchEvidence { gain: Some(1.3), least_gain: Some(1.1), ..BASE },
            vec![("SRC001", Severity::Warning)],
        ),
        (
            "wrong",
            SearchEvidence { wrong: 3, wrong_because: Some("element 1"), ..BASE },
            vec![("SRC002", Severity::Warning)],
        ),
    ];
    for (name, evidence, expected) in rows {
        let (findings, not_checked) = check_search(&evidence);
        let found: Vec<_> = findings.iter().map(|it| (it.rule, it.severity)).collect();
        assert_eq!(found, expected, "{name}");
        assert_eq!(not_checked.len(), 0, "{name}");
    }
    let (findings, not_checked) = check_search(&SearchEvidence { gain: None, ..BASE });
    assert_eq!((findings.len(), not_checked[0].rule), (0, "SRC001"));
}

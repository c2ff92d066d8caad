//! ENV003: MIOpen that searches while the program is measured.

use crate::{Check, HostEvidence, Judged, Profile, Rule};
use view::Severity;

pub(crate) const RULE: Rule = Rule {
    id: "ENV003",
    title: "MIOpen searches for kernels during the run",
    severity: Severity::Severe,
    page: include_str!("env003.md"),
    checks: &[Check::Host(check)],
    panels: &[],
};

const MODES: [(&str, u32); 7] = [
    ("NORMAL", 1),
    ("FAST", 2),
    ("HYBRID", 3),
    ("RESERVED", 4),
    ("DYNAMIC_HYBRID", 5),
    ("TRUST_VERIFY", 6),
    ("TRUST_VERIFY_FULL", 7),
];
const ENFORCE: [(&str, u32); 5] =
    [("NONE", 1), ("DB_UPDATE", 2), ("SEARCH", 3), ("SEARCH_DB_UPDATE", 4), ("DB_CLEAN", 5)];

fn number(text: &str, names: &[(&str, u32)]) -> Option<u32> {
    let by_name =
        names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())).map(|(_, number)| *number);
    by_name.or_else(|| text.trim().parse().ok().filter(|it| names.iter().any(|(_, number)| number == it)))
}

fn check(evidence: &HostEvidence<'_>) -> Vec<Judged> {
    const CHECK: &str = "miopen-find";
    let environment = match evidence.environment(CHECK) {
        Ok(environment) => environment,
        Err(judged) => return vec![judged],
    };
    let (enforce, mode) = (environment.said("MIOPEN_FIND_ENFORCE"), environment.said("MIOPEN_FIND_MODE"));
    let wrong = enforce.filter(|it| number(it, &ENFORCE).is_none()).map(|it| ("MIOPEN_FIND_ENFORCE", it));
    let wrong = wrong
        .or(mode.filter(|it| number(it, &MODES).is_none_or(|it| it == 4)).map(|it| ("MIOPEN_FIND_MODE", it)));
    if let Some((name, value)) = wrong {
        return vec![
            Judged::fail(CHECK, format!("{name}={value} is no value it takes"))
                .read(evidence.environment_from(name), value),
        ];
    }
    let mode = mode.map_or(5, |it| number(it, &MODES).unwrap_or(5));
    let judged = match enforce.map_or(1, |it| number(it, &ENFORCE).unwrap_or(1)) {
        1 => Judged::pass(CHECK, "no search is enforced"),
        value => {
            let name = ENFORCE.iter().find(|(_, it)| *it == value).map_or("", |(name, _)| name);
            let unsafe_with = if matches!(value, 2 | 4 | 5) && mode != 1 {
                format!("; unsafe with MIOPEN_FIND_MODE={mode}")
            } else {
                String::new()
            };
            let text = format!(
                "MIOPEN_FIND_ENFORCE={value} ({name}) tunes at the first call of each shape{unsafe_with}"
            );
            if evidence.profile.is_none_or(|it| it == Profile::Benchmark) {
                Judged::fail(CHECK, text)
            } else {
                Judged::warn(CHECK, text)
            }
        }
    };
    vec![judged.read(evidence.environment_from("MIOPEN_FIND_ENFORCE"), enforce.unwrap_or("not set"))]
}

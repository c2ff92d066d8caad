//! What findings say, whichever evidence they are from.

use view::Finding;

/// Most letters of a message and of an advice.
const LONGEST: [usize; 2] = [230, 300];
/// Expressions that hide subject or verb, as `cargo xtask words` counts them.
const HIDING: [&str; 12] = [
    " stands ",
    " stood ",
    " lies ",
    " that of ",
    " those of ",
    " of its own ",
    " of their own ",
    " is no ",
    " are no ",
    " anew ",
    " comes to ",
    " in the place of ",
];

/// Fails on findings that are long, end like sentences or hide what they mean.
pub(crate) fn are_well_said(findings: &[Finding]) {
    let mut faults = Vec::new();
    for finding in findings {
        let texts = [(&finding.message, LONGEST[0]), (&finding.advice, LONGEST[1])];
        for (text, longest) in texts {
            let length = text.chars().count();
            let fault = if length > longest {
                format!("{length} letters of {longest}")
            } else if text.is_empty() || text.ends_with(['.', ':', ',', ';', ' ']) || text.starts_with(' ') {
                "begins or ends wrongly".to_owned()
            } else if text.contains("  ") || text.contains(" ,") {
                "spaces".to_owned()
            } else if let Some(hiding) = HIDING.iter().find(|it| text.contains(**it)) {
                format!("says `{}`", hiding.trim())
            } else {
                continue;
            };
            faults.push(format!("{}: {fault}: {text}", finding.rule));
        }
    }
    faults.sort();
    faults.dedup();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

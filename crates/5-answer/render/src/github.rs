//! Workflow commands of GitHub, which show findings beside the lines of a pull request.
//!
//! A message is one line, so its breaks and percent signs are escaped.

use view::{Finding, KernelCard, Place, Severity, SourceLine};

/// One command per finding of a kernel; those without a source line are of the file of the code.
pub fn kernel(card: &KernelCard) -> String {
    let named = |it: &Finding| {
        let mut it = it.clone();
        it.message = format!("{} in kernel {}", it.message.trim_end_matches('.'), card.display_name());
        let source = it.places.first().and_then(|place| place.source.as_ref()).or(card.source.as_ref());
        if source.is_none_or(|source| source.line == 0) {
            let source = Some(SourceLine { file: card.file.clone(), line: 1, function: None });
            it.places.insert(0, Place { source, ..Place::default() });
        }
        it
    };
    annotations(&card.findings.iter().map(named).collect::<Vec<_>>())
}

/// One command per finding.
pub(crate) fn annotations(findings: &[Finding]) -> String {
    let mut out = String::new();
    for finding in findings {
        let (file, line) = place(finding);
        let command = match finding.severity {
            _ if finding.is_accepted() => "notice",
            Severity::Severe => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let mut message = finding.message.trim_end_matches('.').to_owned();
        if let Some(kernel) = &finding.kernel {
            message.push_str(&format!(" in kernel {kernel}"));
        }
        if let Some(cost) = &finding.cost {
            message.push_str(&format!(" (costs {cost})"));
        }
        message.push_str(&format!(". {}", finding.advice));
        if let Some(gate) = &finding.gate {
            message.push_str(&format!(" [{}]", gate.words()));
        }
        out.push_str(&format!(
            "::{command} {}title={}::{}\n",
            if file.is_empty() { String::new() } else { format!("file={},line={line},", property(file)) },
            finding.rule,
            data(&message)
        ));
    }
    out
}

/// File and line of a finding's main location; line 1 for the whole file.
pub(crate) fn place(finding: &Finding) -> (&str, u32) {
    let source = finding.places.first().and_then(|it| it.source.as_ref());
    source.map_or(("", 1), |it| (it.file.as_str(), it.line.max(1)))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_escaped() {
        let source = Some(SourceLine { file: "a,b.csv".to_owned(), line: 7, function: None });
        let place = Place { source, ..Place::default() };
        let finding =
            Finding::new("TUN002", Severity::Warning, "5 % slower", "Merge it").with_places([place]);
        assert_eq!(
            annotations(&[finding]),
            "::warning file=a%2Cb.csv,line=7,title=TUN002::5 %25 slower. Merge it\n"
        );
        let finding =
            Finding::new("CTR001", Severity::Info, "message", "Advice").of_kernel("copy", 98.2.into(), None);
        assert_eq!(annotations(&[finding]), "::notice title=CTR001::message in kernel copy. Advice\n");
    }
}

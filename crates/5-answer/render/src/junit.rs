//! JUnit's XML, as systems of continuous integration show tests.

use std::fmt::Write as _;

/// One test.
pub struct Case<'a> {
    /// Name.
    pub name: &'a str,
    /// Seconds; the modelled time of what was tested.
    pub seconds: Option<f64>,
    /// Kind and text of a failure.
    pub failure: Option<(&'a str, String)>,
    /// Text beside a test that passed.
    pub output: String,
}

/// A suite of tests.
pub fn suite(name: &str, cases: &[Case<'_>]) -> String {
    let failures = cases.iter().filter(|it| it.failure.is_some()).count();
    let name = escaped(name);
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{failures}\">\n<testsuite name=\"{name}\" tests=\"{0}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">\n",
        cases.len()
    );
    for case in cases {
        let time = case.seconds.map(|it| format!(" time=\"{it:.9}\"")).unwrap_or_default();
        let _ = write!(out, "<testcase classname=\"{name}\" name=\"{}\"{time}>", escaped(case.name));
        if let Some((kind, text)) = &case.failure {
            let _ = write!(out, "<failure type=\"{}\" message=\"{}\"/>", escaped(kind), escaped(text));
        }
        if !case.output.is_empty() {
            let _ = write!(out, "<system-out>{}</system-out>", escaped(&case.output));
        }
        out.push_str("</testcase>\n");
    }
    out.push_str("</testsuite>\n</testsuites>\n");
    out
}

/// Text in XML, without the characters that XML does not have.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => out.push('\u{fffd}'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_escaped() {
        let failed = Case {
            name: "a<int>&\u{1}",
            seconds: Some(1.5e-6),
            failure: Some(("wrong", "x > \"1\"\nand".to_owned())),
            output: String::new(),
        };
        let passed = Case { name: "b", seconds: None, failure: None, output: "1.2x".to_owned() };
        let text = suite("judge", &[failed, passed]);
        let expected = "<testcase classname=\"judge\" name=\"a&lt;int&gt;&amp;\u{fffd}\" time=\"0.000001500\"><failure type=\"wrong\" message=\"x &gt; &quot;1&quot;&#10;and\"/></testcase>\n<testcase classname=\"judge\" name=\"b\"><system-out>1.2x</system-out></testcase>\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("<testsuites tests=\"2\" failures=\"1\">"), "{text}");
    }
}

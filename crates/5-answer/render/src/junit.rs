//! JUnit's XML, as systems of continuous integration show tests.

use crate::svg::element::Svg;
use std::fmt::Display;

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
    let (tests, failures) = (cases.len(), cases.iter().filter(|it| it.failure.is_some()).count());
    let mut xml = Svg::default();
    xml.open("testsuites", &[("tests", &tests), ("failures", &failures)]);
    xml.open("testsuite", &[("name", &name), ("tests", &tests), ("failures", &failures)]);
    for case in cases {
        let time = case.seconds.map(|it| format!("{it:.9}"));
        let mut attributes: Vec<(&str, &dyn Display)> = vec![("classname", &name), ("name", &case.name)];
        attributes.extend(time.iter().map(|it| ("time", it as &dyn Display)));
        xml.open("testcase", &attributes);
        if let Some((kind, text)) = &case.failure {
            xml.leaf("failure", &[("type", kind), ("message", text)]);
        }
        if !case.output.is_empty() {
            xml.text("system-out", &[], &case.output);
        }
        xml.close();
    }
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", xml.finish())
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
        let expected = "<testcase classname=\"judge\" name=\"a&lt;int&gt;&amp;\u{fffd}\" time=\"0.000001500\"><failure type=\"wrong\" message=\"x &gt; &quot;1&quot;\nand\"/></testcase><testcase classname=\"judge\" name=\"b\"><system-out>1.2x</system-out></testcase>";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("<testsuites tests=\"2\" failures=\"1\">"), "{text}");
    }
}

//! JUnit's XML, as systems of continuous integration show tests.

use crate::svg::element::Svg;
use std::fmt::Display;
use view::Fidelity;

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
    // `errors` and `skipped` are required by readers; nothing here is either.
    let counts: [(&str, &dyn Display); 3] = [("tests", &tests), ("failures", &failures), ("errors", &0)];
    xml.open("testsuites", &counts);
    xml.open("testsuite", &[&[("name", &name as &dyn Display)][..], &counts, &[("skipped", &0)]].concat());
    for case in cases {
        let time = case.seconds.map(|it| format!("{it:.9}"));
        let mut attributes: Vec<(&str, &dyn Display)> = vec![("classname", &name), ("name", &case.name)];
        attributes.extend(time.iter().map(|it| ("time", it as &dyn Display)));
        xml.open("testcase", &attributes);
        if let Some((kind, text)) = &case.failure {
            // Readers make one line of an attribute.
            let message = text.lines().next().unwrap_or_default();
            xml.text("failure", &[("type", kind), ("message", &message)], text);
        }
        if !case.output.is_empty() {
            xml.text("system-out", &[], &case.output);
        }
        xml.close();
    }
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", xml.finish())
}

/// Tests of a run on an emulated GPU; `checked` are the mistakes that were looked for.
pub fn run(report: &Fidelity, checked: &[String]) -> String {
    let name = report.program.join(" ");
    let case = |name, failure: Option<(&'static str, String)>| Case {
        name,
        seconds: None,
        failure,
        output: String::new(),
    };
    let lines = |all: &[String]| (!all.is_empty()).then(|| all.join("\n"));
    let refused = report.not_supported.iter().map(|it| format!("{}: {}", it.function, it.why));
    let mut cases = vec![
        case(
            "ends with exit code 0",
            (report.exit_code != 0)
                .then(|| ("exit", format!("it ended with exit code {}", report.exit_code))),
        ),
        case(
            "calls the GPU",
            (!report.emulated).then(|| ("nothing", "it never called the HIP runtime".to_owned())),
        ),
        case("no kernel is stopped", lines(&report.stopped).map(|it| ("stopped", it))),
    ];
    let looked = format!("no mistakes: {}", checked.join(", "));
    if !checked.is_empty() {
        cases.push(case(&looked, lines(&report.mistakes).map(|it| ("mistakes", it))));
    }
    cases[1].output = lines(&refused.collect::<Vec<_>>())
        .map_or_else(String::new, |it| format!("functions that are not supported:\n{it}"));
    suite(&name, &cases)
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
        let expected = "<testcase classname=\"judge\" name=\"a&lt;int&gt;&amp;\u{fffd}\" time=\"0.000001500\"><failure type=\"wrong\" message=\"x &gt; &quot;1&quot;\">x &gt; &quot;1&quot;\nand</failure></testcase><testcase classname=\"judge\" name=\"b\"><system-out>1.2x</system-out></testcase>";
        assert!(text.contains(expected), "{text}");
        let suite = "<testsuite name=\"judge\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\">";
        assert!(text.contains(suite), "{text}");
        assert!(text.contains("<testsuites tests=\"2\" failures=\"1\" errors=\"0\">"), "{text}");
    }
}

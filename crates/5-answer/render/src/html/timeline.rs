//! A timeline as one HTML file.
//!
//! The one idea to keep in mind: spans are numbers in bytes, differences of variable length in base64, so a million of them are some
//! megabytes; the script draws on a canvas what a pixel shows and no more. Names reach the page as JSON and are only ever drawn or
//! set as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::fmt::Write;
use view::{Severity, TimelinePage};

/// The script of the page.
const SCRIPT: &str = include_str!("script/timeline.js");
/// Its style sheet.
const SHEET: &str = include_str!("timeline.css");

/// Renders a page.
pub fn timeline(page: &TimelinePage) -> String {
    let hash = super::hash(SCRIPT.as_bytes());
    let title = page.survey.inputs.first().map_or("timeline", |input| input.path.as_str());
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src '{hash}'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{0}</title>\n<style>{SHEET}</style></head><body>\n\
         <header><h1>{0}</h1><input id=\"search\" type=\"search\" placeholder=\"search names\" \
         aria-label=\"search names\"><span id=\"found\"></span><span id=\"keys\">W S zoom · A D pan · drag to pan · \
         shift-drag selects · click names a span · F shows all</span></header>\n",
        text(title)
    );
    out.push_str("<details><summary>what was found</summary>\n<table class=\"facts\">");
    for fact in page.survey.inputs.iter().flat_map(|input| &input.facts) {
        let _ = write!(out, "<tr><th>{}</th><td>{}</td></tr>", text(&fact.name), text(&fact.value));
    }
    out.push_str("</table>\n<ul>");
    for note in &page.survey.notes {
        let _ = write!(out, "<li class=\"note\">{}</li>", text(&note.text));
    }
    for finding in &page.survey.findings {
        let class = match finding.severity {
            Severity::Severe => "severe",
            Severity::Warning => "warning",
            Severity::Info => "info",
        };
        let _ = write!(
            out,
            "<li class=\"{class}\"><b>{}</b> {}<br>→ {}</li>",
            finding.rule,
            text(&finding.message),
            text(&finding.advice)
        );
    }
    out.push_str("</ul></details>\n<canvas id=\"chart\" tabindex=\"0\" aria-label=\"timeline\"></canvas>\n");
    out.push_str("<section><p id=\"detail\"></p><table id=\"sums\"></table></section>\n");
    let _ = write!(
        out,
        "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{SCRIPT}</script>\n",
        data(page)
    );
    out.push_str("</body></html>\n");
    out
}

/// Text in which a browser sees no markup, control characters made visible.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in crate::text::visible(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

/// Names, classes and lanes; what could end the script's element is escaped.
fn data(page: &TimelinePage) -> String {
    let lanes: Vec<serde_json::Value> = page
        .lanes
        .iter()
        .map(|lane| {
            let rows = lane.spans.iter().map(|span| span.depth).max().map_or(0, |depth| u32::from(depth) + 1);
            let mut bytes = Vec::with_capacity(lane.spans.len() * 8);
            let mut last = 0;
            for span in &lane.spans {
                for number in [span.start - last, span.duration, u64::from(span.name), u64::from(span.depth)]
                {
                    varint(&mut bytes, number);
                }
                last = span.start;
            }
            serde_json::json!({ "name": lane.name, "gpu": lane.gpu, "rows": rows, "count": lane.spans.len(),
                "spans": STANDARD.encode(&bytes) })
        })
        .collect();
    let all = serde_json::json!({ "names": page.names, "classOf": page.class_of, "classes": page.classes,
        "length": page.length, "lanes": lanes });
    all.to_string().replace('<', "\\u003c")
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::{Survey, TimelineLane, TimelineSpan};

    #[test]
    fn numbers_take_seven_bits_a_byte() {
        let mut out = Vec::new();
        varint(&mut out, 300);
        assert_eq!(out, [0xac, 2]);
    }

    #[test]
    fn hostile_names_stay_text() {
        let spans = vec![TimelineSpan { start: 0, duration: 5, name: 0, depth: 0 }];
        let evil = "</script><img src=x onerror=alert(1)>";
        let page = TimelinePage {
            survey: Survey {
                schema: "",
                inputs: vec![view::SurveyInput {
                    name: evil.to_owned(),
                    path: evil.to_owned(),
                    kind: String::new(),
                    facts: Vec::new(),
                }],
                findings: Vec::new(),
                not_checked: Vec::new(),
                tables: Vec::new(),
                notes: Vec::new(),
            },
            names: vec![evil.to_owned()],
            class_of: vec![0],
            classes: vec!["gemm".to_owned()],
            lanes: vec![TimelineLane { name: evil.to_owned(), gpu: true, spans }],
            length: 5,
        };
        let html = timeline(&page);
        assert!(!html.contains("<img"), "{html}");
        assert_eq!(html.matches("</script>").count(), 2);
    }
}

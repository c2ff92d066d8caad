//! SVG elements, written in order.
//!
//! Every value passes through [`escape`], names of kernels as well as numbers.

use std::fmt::{Display, Write};

/// Attributes of an element.
pub(crate) type Attributes<'a> = [(&'static str, &'a dyn Display)];

/// A document that is being written.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    out: String,
    open: Vec<&'static str>,
}

impl Svg {
    /// Begins an element that contains others.
    pub(crate) fn open(&mut self, name: &'static str, attributes: &Attributes<'_>) {
        self.start(name, attributes);
        self.out.push('>');
        self.open.push(name);
    }

    /// Ends the innermost element.
    pub(crate) fn close(&mut self) {
        if let Some(name) = self.open.pop() {
            let _ = write!(self.out, "</{name}>");
        }
    }

    /// An empty element.
    pub(crate) fn leaf(&mut self, name: &'static str, attributes: &Attributes<'_>) {
        self.start(name, attributes);
        self.out.push_str("/>");
    }

    /// An element with text in it.
    pub(crate) fn text(&mut self, name: &'static str, attributes: &Attributes<'_>, text: &str) {
        self.open(name, attributes);
        self.words(text);
        self.close();
    }

    /// Text that starts at a position.
    pub(crate) fn label(&mut self, class: &str, at: (f64, f64), text: &str) {
        self.text("text", &[("class", &class), ("x", &At(at.0)), ("y", &At(at.1))], text);
    }

    /// Text whose `anchor`, `start`, `middle` or `end`, is at a place.
    pub(crate) fn anchored(&mut self, class: &str, at: (f64, f64), anchor: &str, text: &str) {
        let place: &Attributes<'_> =
            &[("class", &class), ("x", &At(at.0)), ("y", &At(at.1)), ("text-anchor", &anchor)];
        self.text("text", place, text);
    }

    /// Tooltip of the innermost element.
    pub(crate) fn title(&mut self, text: &str) {
        self.text("title", &[], text);
    }

    /// A line through points.
    pub(crate) fn line(&mut self, class: &str, points: Vec<(f64, f64)>) {
        self.leaf("polyline", &[("class", &class), ("points", &Points(points))]);
    }

    /// A filled area between points.
    pub(crate) fn area(&mut self, class: &str, points: Vec<(f64, f64)>) {
        self.leaf("polygon", &[("class", &class), ("points", &Points(points))]);
    }

    /// A rectangle from its upper left corner, with further attributes.
    pub(crate) fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), also: &Attributes<'_>) {
        let (x, y, width, height) = (At(at.0), At(at.1), At(size.0), At(size.1));
        let own: &Attributes<'_> =
            &[("class", &class), ("x", &x), ("y", &y), ("width", &width), ("height", &height)];
        self.leaf("rect", &[own, also].concat());
    }

    /// Background of a standalone picture.
    pub(crate) fn ground(&mut self, width: f64, height: f64) {
        self.leaf("rect", &[("class", &"ground"), ("width", &At(width)), ("height", &At(height))]);
    }

    /// Text in the innermost element.
    pub(crate) fn words(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// Closes open elements and returns the text.
    pub(crate) fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn start(&mut self, name: &'static str, attributes: &Attributes<'_>) {
        let _ = write!(self.out, "<{name}");
        for (key, value) in attributes {
            let _ = write!(self.out, " {key}=\"");
            escape(&value.to_string(), &mut self.out);
            self.out.push('"');
        }
    }
}

/// A coordinate: a tenth of a pixel is enough.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At(pub(crate) f64);

impl Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        if rounded.fract() == 0.0 { write!(f, "{rounded:.0}") } else { write!(f, "{rounded:.1}") }
    }
}

/// Points of a line.
#[derive(Clone, Debug)]
pub(crate) struct Points(pub(crate) Vec<(f64, f64)>);

impl Display for Points {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, (x, y)) in self.0.iter().enumerate() {
            write!(f, "{}{},{}", if i > 0 { " " } else { "" }, At(*x), At(*y))?;
        }
        Ok(())
    }
}

/// Writes text so that it is text in elements and attributes; characters that XML does not have become `�`.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// Width of text of a size, in pixels, about: digits and lower-case letters are half as wide as they are
/// high.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let units: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'l' | 'j' | 't' | 'f' | '.' | ',' | ':' | '|' | '(' | ')' | ' ' => 0.33,
            'm' | 'w' | 'M' | 'W' | '%' => 0.88,
            'A'..='Z' => 0.68,
            c if c.is_ascii() => 0.56,
            _ => 0.8,
        })
        .sum();
    units * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place() {
        let mut svg = Svg::default();
        svg.open("g", &[("class", &"a\" onload=\"x")]);
        svg.text("text", &[("x", &At(1.25))], "</text><script>'\u{1}&");
        assert_eq!(
            svg.finish(),
            "<g class=\"a&quot; onload=&quot;x\"><text x=\"1.3\">&lt;/text&gt;&lt;script&gt;&#39;\u{fffd}&amp;</text></g>"
        );
    }
}

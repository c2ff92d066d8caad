//! Charts as files: SVG as it is, PNG and PDF made from it, HTML around it.

#[cfg(feature = "pictures")]
mod drawn;

use crate::exit::usage;
use anyhow::Result;
use render::svg::Theme;
use std::path::Path;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Svg,
    Png,
    Pdf,
    Html,
}

impl Kind {
    /// By the end of a file's name.
    pub(crate) fn of(path: &Path) -> Result<Kind> {
        let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        Ok(match end.as_deref() {
            Some("svg") => Kind::Svg,
            Some("png") => Kind::Png,
            Some("pdf") => Kind::Pdf,
            Some("html" | "htm") => Kind::Html,
            _ => {
                return Err(usage(
                    format!("`{}` does not say which kind of picture to write", path.display()),
                    "end its name with `.svg`, `.png`, `.pdf` or `.html`",
                ));
            }
        })
    }
}

/// A chart with its texts on a page.
pub(crate) struct Chart<'a> {
    pub(crate) svg: &'a str,
    pub(crate) title: &'a str,
    /// Content of the picture, as text.
    pub(crate) numbers: &'a str,
    pub(crate) theme: &'a Theme,
}

/// A file of this kind.
pub(crate) fn make(chart: &Chart<'_>, kind: Kind) -> Result<Vec<u8>> {
    let Chart { svg, title, numbers, theme } = *chart;
    match kind {
        Kind::Svg => Ok(svg.as_bytes().to_vec()),
        Kind::Html => Ok(render::picture::html(title, svg, numbers, theme).into_bytes()),
        #[cfg(feature = "pictures")]
        Kind::Png => drawn::png(svg),
        #[cfg(feature = "pictures")]
        Kind::Pdf => drawn::pdf(svg),
        #[cfg(not(feature = "pictures"))]
        Kind::Png | Kind::Pdf => Err(crate::exit::left_out(
            "drawing PNG and PDF (`.svg` and `.html` are always there) is",
            "pictures",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_names() {
        for (name, kind) in [
            ("a.svg", Some(Kind::Svg)),
            ("b/a.PNG", Some(Kind::Png)),
            ("a.pdf", Some(Kind::Pdf)),
            ("a.html", Some(Kind::Html)),
            ("a.jpg", None),
            ("svg", None),
        ] {
            assert_eq!(Kind::of(Path::new(name)).ok(), kind, "{name}");
        }
    }
}

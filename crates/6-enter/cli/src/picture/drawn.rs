//! Charts as PNG and PDF.
//!
//! Letters are drawn with a font that is part of the program, so a picture looks the same on a machine
//! without fonts; only characters that font lacks are looked for among those installed.

use anyhow::{Result, anyhow};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// Letters, digits and signs of western Europe, of DejaVu Sans.
const REGULAR: &[u8] = include_bytes!("font/DejaVuSans.ttf");
const BOLD: &[u8] = include_bytes!("font/DejaVuSans-Bold.ttf");
const FAMILY: &str = "DejaVu Sans";
/// Pixels of a PNG for one of the chart.
const SCALE: f32 = 2.0;

/// A chart as PNG.
pub(super) fn png(svg: &str) -> Result<Vec<u8>> {
    let tree = read(svg)?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let size = size.ok_or_else(|| anyhow!("the picture has no size"))?;
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| anyhow!("a picture of {}x{} pixels is too large", size.width(), size.height()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| anyhow!("cannot make a PNG: {error}"))
}

/// A chart as PDF, its text as text.
pub(super) fn pdf(svg: &str) -> Result<Vec<u8>> {
    let options = svg2pdf::ConversionOptions::default();
    svg2pdf::to_pdf(&read(svg)?, options, svg2pdf::PageOptions::default())
        .map_err(|error| anyhow!("cannot make a PDF: {error}"))
}

/// Reads a chart with fonts for all its letters.
fn read(svg: &str) -> Result<Tree> {
    let mut fonts = own_fonts();
    if svg.chars().any(|c| !own(c)) {
        fonts.load_system_fonts();
        if fonts.len() <= 2 {
            eprintln!(
                "note: some characters of names have no glyph: no fonts are installed\nhint: install one that has them, \
                 for example the package fonts-noto-core"
            );
        }
    }
    tree(svg, fonts)
}

fn own_fonts() -> Database {
    let mut fonts = Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(BOLD.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    fonts
}

fn tree(svg: &str, fonts: Database) -> Result<Tree> {
    let options = Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| anyhow!("cannot draw the chart: {error}"))
}

/// True if the program's font has a character.
fn own(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{a0}'..='\u{ff}' | '–' | '—' | '‘'..='”' | '•' | '…' | '←'..='↓' | '−' | '○' | '●' | '≤' | '≥')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One character in the program's own font, as pixels.
    fn drawn(c: char, weight: u32) -> Vec<u8> {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='30' height='30'><text x='5' y='20' \
             font-weight='{weight}'>&#{};</text></svg>",
            u32::from(c)
        );
        let mut pixels = Pixmap::new(30, 30).unwrap();
        resvg::render(&tree(&svg, own_fonts()).unwrap(), Transform::identity(), &mut pixels.as_mut());
        pixels.data().to_vec()
    }

    #[test]
    fn the_font_has_what_it_is_said_to_have() {
        assert_eq!(own_fonts().faces().filter(|face| face.families[0].0 == FAMILY).count(), 2);
        for weight in [400, 700] {
            // A letter of Thai, which looks like every character that is not there.
            let absent = drawn('\u{e01}', weight);
            for c in ('!'..='\u{2fff}').filter(|c| own(*c) && !matches!(c, '\u{a0}' | '\u{ad}')) {
                let it = drawn(c, weight);
                assert!(it != absent && it.iter().any(|byte| *byte > 0), "{c:?} at {weight}");
            }
        }
        assert_ne!(drawn('a', 400), drawn('a', 700));
    }
}

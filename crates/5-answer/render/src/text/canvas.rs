//! A grid of characters to draw on, with dots between them.
//!
//! Lines are dots of a fine grid, eight to a character; text put on a cell hides its dots.

use super::page::{Page, Span, span};
use crate::Role;

/// Dots of a character, across and down.
const ACROSS: usize = 2;
const DOWN: usize = 4;
/// Bit of each dot in the braille block, by row and column.
const BITS: [[u8; ACROSS]; DOWN] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

#[derive(Clone, Copy)]
struct Cell {
    text: Option<char>,
    dots: u8,
    role: Role,
}

/// Drawing surface.
pub(super) struct Canvas {
    width: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let cell = Cell { text: None, dots: 0, role: Role::Plain };
        Canvas { width, cells: vec![cell; width * height] }
    }

    fn height(&self) -> usize {
        self.cells.len().checked_div(self.width).unwrap_or(0)
    }

    fn cell(&mut self, x: usize, y: usize) -> Option<&mut Cell> {
        if x < self.width && y < self.height() { self.cells.get_mut(y * self.width + x) } else { None }
    }

    /// Writes text from a cell to the right; what does not fit is cut.
    pub(super) fn text(&mut self, x: usize, y: usize, role: Role, text: &str) {
        for (i, c) in text.chars().enumerate() {
            if let Some(cell) = self.cell(x + i, y) {
                cell.text = Some(c);
                cell.role = role;
            }
        }
    }

    /// True if `cells` cells from here on are empty.
    pub(super) fn is_free(&self, x: usize, y: usize, cells: usize) -> bool {
        x + cells <= self.width
            && y < self.height()
            && self.cells[y * self.width + x..][..cells].iter().all(|cell| cell.text.is_none())
    }

    /// Draws a straight line between two points given as fractions of width and height from the lower left
    /// corner; it is clipped at the edges.
    pub(super) fn line(&mut self, role: Role, from: (f64, f64), to: (f64, f64)) {
        let size = ((self.width * ACROSS) as f64, (self.height() * DOWN) as f64);
        let steps =
            (size.0 * (to.0 - from.0).abs()).max(size.1 * (to.1 - from.1).abs()).ceil().clamp(1.0, 4096.0);
        for step in 0..=steps as usize {
            let t = step as f64 / steps;
            let x = from.0 + t * (to.0 - from.0);
            let y = from.1 + t * (to.1 - from.1);
            if !(0.0..=1.0).contains(&x) || !(0.0..=1.0).contains(&y) {
                continue;
            }
            let column = ((x * size.0) as usize).min(size.0 as usize - 1);
            let row = (((1.0 - y) * size.1) as usize).min(size.1 as usize - 1);
            if let Some(cell) = self.cell(column / ACROSS, row / DOWN) {
                cell.dots |= BITS[row % DOWN][column % ACROSS];
                if cell.text.is_none() {
                    cell.role = role;
                }
            }
        }
    }

    /// The cell of a point given as for [`Canvas::line`]; points outside go to the border.
    pub(super) fn at(&self, point: (f64, f64)) -> (usize, usize) {
        let place =
            |part: f64, cells: usize| ((part * cells as f64).max(0.0) as usize).min(cells.saturating_sub(1));
        (place(point.0, self.width), place(1.0 - point.1, self.height()))
    }

    /// Writes the rows, each after a prefix.
    pub(super) fn write(&self, page: &mut Page, prefix: impl Fn(usize) -> Vec<Span>) {
        for (y, row) in self.cells.chunks(self.width.max(1)).enumerate() {
            let mut spans = prefix(y);
            let last = row.iter().rposition(|cell| cell.text.is_some_and(|c| c != ' ') || cell.dots > 0);
            for run in row[..last.map_or(0, |last| last + 1)].chunk_by(|a, b| a.role == b.role) {
                spans.push(span(run[0].role, run.iter().map(Cell::show).collect::<String>()));
            }
            page.raw(&spans);
        }
    }
}

impl Cell {
    fn show(&self) -> char {
        match (self.text, self.dots) {
            (Some(c), _) => c,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Style;

    fn show(canvas: &Canvas) -> String {
        let mut page = Page::new(&Style::default());
        canvas.write(&mut page, |_| Vec::new());
        page.finish()
    }

    #[test]
    fn lines_are_dots_and_text_hides_them() {
        let mut canvas = Canvas::new(4, 2);
        canvas.line(Role::Plain, (0.0, 0.0), (1.0, 1.0));
        assert_eq!(show(&canvas), "  ⢀⠜\n⣀⠔⠁\n");
        canvas.text(1, 0, Role::Strong, "AB");
        assert_eq!(show(&canvas), " AB⠜\n⣀⠔⠁\n");
        assert!(!canvas.is_free(0, 0, 2) && canvas.is_free(0, 1, 4) && !canvas.is_free(3, 1, 2));
    }

    #[test]
    fn nothing_outside_is_drawn() {
        let mut canvas = Canvas::new(3, 1);
        canvas.line(Role::Plain, (-1.0, 2.0), (2.0, 2.0));
        canvas.text(2, 0, Role::Plain, "xyz");
        canvas.text(0, 7, Role::Plain, "far");
        assert_eq!(show(&canvas), "  x\n");
        assert_eq!(canvas.at((7.0, -3.0)), (2, 0));
    }
}

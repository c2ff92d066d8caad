//! A text as the lines of a screen, and its visible part.
//!
//! The text contains the colour codes of the text renderers. They are the only escapes in it, because the
//! renderers make escapes in names visible.

use super::Key;
use crate::Role;
use crate::text::display_width;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// Columns that ← and → move by.
const SIDEWAYS: usize = 8;

/// A text and the visible position.
#[derive(Default)]
pub(super) struct View {
    pub(super) lines: Vec<Line<'static>>,
    /// Search text: the same without colours, in small letters.
    plain: Vec<String>,
    /// Lines to jump to, ascending.
    places: Vec<usize>,
    /// Width it was written for.
    width: Option<usize>,
    /// First line seen.
    pub(super) top: usize,
    /// First column seen.
    pub(super) left: usize,
    /// Line that was found last.
    pub(super) found: Option<usize>,
}

impl View {
    pub(super) fn is_for(&self, width: usize) -> bool {
        self.width == Some(width)
    }

    /// The text is to be written again; from its beginning if it is another one.
    pub(super) fn forget(&mut self, other: bool) {
        self.width = None;
        if other {
            (self.top, self.left, self.found) = (0, 0, None);
        }
    }

    pub(super) fn set(&mut self, text: &str, places: Vec<usize>, width: usize, color: bool) {
        // The top line stays at the top as well as possible when the width changes.
        let part = if self.lines.is_empty() { 0.0 } else { self.top as f64 / self.lines.len() as f64 };
        self.lines = text.lines().map(|line| colored(line, color)).collect();
        self.plain = self.lines.iter().map(|line| line.to_string().to_lowercase()).collect();
        self.places = places;
        self.width = Some(width);
        self.top = (part * self.lines.len() as f64).round() as usize;
        self.found = None;
    }

    /// Most that can be scrolled down.
    fn last_top(&self, rows: usize) -> usize {
        self.lines.len().saturating_sub(rows)
    }

    /// Keeps the part seen within the text.
    pub(super) fn clamp(&mut self, rows: usize) {
        self.top = self.top.min(self.last_top(rows));
    }

    pub(super) fn key(&mut self, key: Key, rows: usize) {
        let page = rows.saturating_sub(1).max(1);
        self.top = match key {
            Key::Up | Key::Char('k') => self.top.saturating_sub(1),
            Key::Down | Key::Char('j') => self.top + 1,
            Key::PageUp => self.top.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => self.top + page,
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => usize::MAX,
            _ => self.top,
        }
        .min(self.last_top(rows));
        let widest = self.lines.iter().map(Line::width).max().unwrap_or(0);
        let room = self.width.unwrap_or(0);
        self.left = match key {
            Key::Left => self.left.saturating_sub(SIDEWAYS),
            Key::Right => (self.left + SIDEWAYS).min(widest.saturating_sub(room)),
            _ => self.left,
        };
    }

    /// Goes to the next or the previous place.
    pub(super) fn next_place(&mut self, forward: bool) {
        let next = if forward {
            self.places.iter().find(|line| **line > self.top)
        } else {
            self.places.iter().rev().find(|line| **line < self.top)
        };
        self.top = next.copied().unwrap_or(if forward { self.top } else { 0 });
    }

    /// Line of a place.
    pub(super) fn line_of(&self, place: usize) -> Option<usize> {
        self.places.get(place).copied()
    }

    /// The place on a line, or the first after it.
    pub(super) fn place_at(&self, line: usize) -> Option<usize> {
        let at = self.places.partition_point(|place| *place < line);
        (at < self.places.len()).then_some(at)
    }

    /// Scrolls as little as shows a place.
    pub(super) fn follow(&mut self, place: usize, rows: usize) {
        let Some(line) = self.line_of(place) else { return };
        let rows = rows.max(1);
        if line < self.top + 1 {
            // With the line before, which may name the source.
            self.top = line.saturating_sub(1);
            // The head of the first kernel belongs to its first instruction.
            if place == 0 {
                self.top = 0;
            }
        } else if line >= self.top + rows {
            self.top = line + 1 - rows;
        }
    }

    /// Scrolls to the next line with a text in small letters.
    pub(super) fn find(&mut self, wanted: &str, forward: bool, rows: usize) -> Option<usize> {
        let count = self.plain.len();
        let start = self.found.unwrap_or(if forward { self.top.wrapping_sub(1) } else { self.top });
        let order = (1..=count).map(|step| {
            if forward {
                start.wrapping_add(step) % count.max(1)
            } else {
                (start + count - step % count) % count
            }
        });
        let line =
            order.into_iter().find(|line| self.plain.get(*line).is_some_and(|it| it.contains(wanted)))?;
        self.found = Some(line);
        if line < self.top || line >= self.top + rows {
            self.top = line.saturating_sub(rows / 3);
        }
        // Sideways as far as shows where it is.
        let room = self.width.unwrap_or(usize::MAX);
        let plain = &self.plain[line];
        if let Some(at) = plain.find(wanted) {
            let column = display_width(&plain[..at]);
            if column < self.left || column + display_width(wanted) > self.left + room {
                self.left = (column + display_width(wanted)).saturating_sub(room);
            }
        }
        Some(line)
    }
}

/// The look of a role.
pub(super) fn look(role: Role, color: bool) -> Style {
    let mut style = Style::new();
    if let Some(index) = role.color().filter(|_| color) {
        style = style.fg(Color::Indexed(index));
    }
    if role.bold() {
        style = style.add_modifier(Modifier::BOLD);
    }
    if role == Role::Dim {
        style = style.add_modifier(Modifier::DIM);
    }
    style
}

/// Reads the colour codes of a line.
fn colored(line: &str, color: bool) -> Line<'static> {
    let mut spans = Vec::new();
    let mut style = Style::new();
    for (index, piece) in line.split("\x1b[").enumerate() {
        let (code, text) =
            if index == 0 { ("", piece) } else { piece.split_once('m').unwrap_or(("", piece)) };
        if index > 0 {
            style = Role::of_code(code).map_or_else(Style::new, |role| look(role, color));
        }
        if !text.is_empty() {
            spans.push(Span::styled(text.to_owned(), style));
        }
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(lines: &[&str], places: &[usize]) -> View {
        let mut view = View::default();
        view.set(&lines.join("\n"), places.to_vec(), 20, true);
        view
    }

    #[test]
    fn codes_become_roles() {
        let mut text = String::new();
        let style = crate::Style { color: true, ..crate::Style::default() };
        for role in Role::ALL {
            style.paint(&mut text, role, "x");
        }
        let line = colored(&text, true);
        assert_eq!(line.to_string(), "x".repeat(Role::ALL.len()));
        let looks: Vec<Style> = line.spans.iter().map(|span| span.style).collect();
        assert_eq!(looks, Role::ALL.map(|role| look(role, true)));
        assert!(colored(&text, false).spans.iter().all(|span| span.style.fg.is_none()));
    }

    #[test]
    fn places_are_jumped_to() {
        let mut it = view(&["a", "b", "c", "d", "e", "f", "g"], &[1, 4]);
        for (forward, top) in [(true, 1), (true, 4), (true, 4), (false, 1), (false, 0)] {
            it.next_place(forward);
            assert_eq!(it.top, top);
        }
        assert_eq!((it.place_at(0), it.place_at(2), it.place_at(5)), (Some(0), Some(1), None));
        it.follow(1, 3);
        assert_eq!(it.top, 2);
        it.follow(0, 3);
        assert_eq!(it.top, 0);
    }

    #[test]
    fn a_search_goes_round() {
        let mut it = view(&["one", "two", "Three", "two"], &[]);
        for (wanted, forward, line) in [
            ("two", true, Some(1)),
            ("two", true, Some(3)),
            ("two", true, Some(1)),
            ("two", false, Some(3)),
            ("three", false, Some(2)),
            ("four", true, None),
        ] {
            assert_eq!(it.find(wanted, forward, 2), line, "{wanted}");
        }
        assert_eq!(view(&[], &[]).find("x", true, 2), None);
        assert_eq!(view(&[], &[]).find("x", false, 2), None);
    }

    #[test]
    fn scrolling_ends_with_the_text() {
        let mut it = view(&["a", "b", "c"], &[]);
        for (key, top) in [
            (Key::Up, 0),
            (Key::End, 1),
            (Key::Down, 1),
            (Key::PageUp, 0),
            (Key::PageDown, 1),
            (Key::Home, 0),
        ] {
            it.key(key, 2);
            assert_eq!(it.top, top, "{key:?}");
        }
    }
}

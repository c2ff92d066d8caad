//! The list of kernels.
//!
//! Only the rows seen are made, so thousands of kernels scroll like ten.

use super::lines::look;
use super::{App, Ask, KernelEntry, Key};
use crate::Role;
use crate::marks::signed;
use crate::text::{display_width, shorten, visible};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use view::duration;

/// From this width on a row has the number of dispatches and a bar.
const WIDE: usize = 100;
/// Columns of the bar.
const BAR: usize = 10;

impl App {
    pub(super) fn key_in_kernels(&mut self, key: Key) -> Ask {
        let last = self.data.kernels.len().saturating_sub(1);
        let page = self.rows.max(1);
        self.row = match key {
            Key::Up | Key::Char('k') => self.row.saturating_sub(1),
            Key::Down | Key::Char('j') => self.row + 1,
            Key::PageUp => self.row.saturating_sub(page),
            Key::PageDown | Key::Char(' ') => self.row + page,
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            Key::Enter if !self.data.kernels.is_empty() => return Ask::Kernel(Some(self.row)),
            _ => self.row,
        }
        .min(last);
        Ask::Nothing
    }

    pub(super) fn find_kernel(&mut self, wanted: &str, forward: bool) -> bool {
        let count = self.data.kernels.len();
        let order = (1..=count)
            .map(|step| if forward { (self.row + step) % count } else { (self.row + count - step) % count });
        let found =
            order.into_iter().find(|at| self.data.kernels[*at].kernel.name.to_lowercase().contains(wanted));
        self.row = found.unwrap_or(self.row);
        found.is_some()
    }

    /// The list in `height` rows, with its head.
    pub(super) fn kernel_rows(&mut self, width: usize, height: usize) -> Vec<Line<'static>> {
        let seen = height.saturating_sub(1).max(1);
        self.first_row = self.first_row.clamp(self.row.saturating_sub(seen - 1), self.row);
        let wide = width >= WIDE;
        let mut head = format!("{:>5} {:>7} ", "", "time");
        if wide {
            head += &format!(" {:BAR$} {:>8}", "", "calls");
        }
        head += &format!(" {:>8}  {:<20} {:>4}  kernel", "total", "bound by", "find");
        let mut lines = vec![Line::styled(head, look(Role::Dim, self.color))];
        let rows = self.data.kernels.iter().enumerate().skip(self.first_row).take(seen);
        lines.extend(rows.map(|(at, entry)| self.kernel_row(at, entry, width, wide)));
        lines
    }

    fn kernel_row(&self, at: usize, entry: &KernelEntry, width: usize, wide: bool) -> Line<'static> {
        let kernel = &entry.kernel;
        let percent = kernel.time_percent.get();
        let shown = percent
            .map_or("n/a".to_owned(), |percent| signed(kernel.percent_trust, format!("{percent:.1} %")));
        let total =
            kernel.time_ns.get().map_or("n/a".to_owned(), |ns| signed(kernel.time_trust, duration(ns)));
        let bound = kernel.bound().unwrap_or_else(|| "n/a".to_owned());
        let of_kernel = self.data.findings.iter().filter(|f| f.kernel() == kernel.name);
        let worst = of_kernel.clone().map(|f| f.severity).max();
        let count = of_kernel.count();
        let mark = if self.data.chosen == Some(at) { '▸' } else { ' ' };
        let mut spans = vec![
            Span::raw(format!("{mark}{at:>4} ")),
            Span::styled(format!("{shown:>7} "), look(Role::Strong, self.color)),
        ];
        if wide {
            spans.push(Span::styled(
                format!(" {}", bar(percent.unwrap_or(0.0))),
                look(Role::Info, self.color),
            ));
            spans.push(Span::raw(format!(" {:>8}", kernel.dispatches)));
        }
        spans.push(Span::raw(format!(" {total:>8}  {bound:<20} ")));
        let role = worst.map_or(Role::Dim, crate::text::severity_role);
        spans.push(Span::styled(format!("{count:>4}  "), look(role, self.color)));
        let used: usize = spans.iter().map(Span::width).sum();
        let room = width.saturating_sub(used).max(1);
        let name = visible(&shorten(&kernel.name, room)).chars().take(room).collect::<String>();
        let rest = room.saturating_sub(display_width(&name));
        spans.push(Span::raw(name));
        spans.push(Span::raw(" ".repeat(rest)));
        let line = Line::from(spans);
        if at == self.row { line.style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
    }
}

/// A bar of a percentage.
fn bar(percent: f64) -> String {
    let full = (percent.clamp(0.0, 100.0) / 100.0 * BAR as f64).round() as usize;
    // A kernel with any time shows at least one cell.
    let full = if percent > 0.0 { full.max(1) } else { 0 };
    format!("{}{}", "█".repeat(full), "·".repeat(BAR - full))
}

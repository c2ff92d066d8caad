//! Capabilities of the terminal.
//!
//! This is the only place that asks; everything else gets a [`Style`].

use crate::args::{Color, Look};
use render::Style;
use std::io::IsTerminal;

/// Width without a terminal.
const PLAIN_WIDTH: usize = 100;
/// The same for a line on standard error, which logs hold.
const MESSAGE_WIDTH: usize = 80;

/// The style for standard output, or for a file.
pub(crate) fn style(look: &Look, to_file: bool) -> Style {
    let terminal = !to_file && std::io::stdout().is_terminal();
    let color = match look.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && allows_color(),
    };
    let width = look
        .width
        .map(usize::from)
        .or_else(wanted_columns)
        .or_else(|| if terminal { columns() } else { None });
    Style { width: width.unwrap_or(PLAIN_WIDTH), color, full_names: look.full_names }
}

/// NO_COLOR (https://no-color.org) counts when it is set and not empty; dumb terminals have no colour.
fn allows_color() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// True if an overwritten line makes sense on standard error.
pub(crate) fn shows_progress() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Columns for a line on standard error.
pub(crate) fn message_columns() -> usize {
    let terminal =
        || terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| usize::from(width.0));
    wanted_columns().or_else(terminal).filter(|width| *width > 0).unwrap_or(MESSAGE_WIDTH)
}

/// COLUMNS, if exported: also for pagers and scripts.
fn wanted_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok().filter(|width| (40..=1000).contains(width))
}

/// Columns of the terminal on standard output.
fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(std::io::stdout())
        .map(|(width, _)| usize::from(width.0))
        .filter(|width| *width > 0)
}

//! Statements with any number of rows.

use crate::engine::{Cell, Dialect, Statements};
use crate::error::StoreError;

/// `(?3, ?4)`: placeholders from a number.
pub(super) fn placeholders(from: usize, count: usize) -> String {
    let all: Vec<String> = (from..from + count).map(|it| format!("?{it}")).collect();
    format!("({})", all.join(", "))
}

/// Inserts rows of equal length, as many per statement as the engine takes well.
pub(super) fn inserted(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    begin: &str,
    rows: &[Vec<Cell>],
    end: &str,
) -> Result<(), StoreError> {
    let Some(first) = rows.first() else { return Ok(()) };
    let width = first.len().max(1);
    let most = (dialect.most_parameters / width).max(1);
    let text = |count: usize| {
        let values: Vec<String> = (0..count).map(|row| placeholders(1 + row * width, width)).collect();
        dialect.sql(&format!("{begin}{}{end}", values.join(", ")))
    };
    let whole = text(most.min(rows.len()));
    for some in rows.chunks(most) {
        let last = if some.len() < most.min(rows.len()) { Some(text(some.len())) } else { None };
        statements.rows(last.as_ref().unwrap_or(&whole), &some.concat())?;
    }
    Ok(())
}

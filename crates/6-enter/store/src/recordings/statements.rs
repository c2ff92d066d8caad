//! Statements with any number of rows.

use crate::engine::{Cell, Dialect, Statements};
use crate::error::StoreError;

/// Parameters of one statement; engines have a limit.
const MOST_PARAMETERS: usize = 8000;

/// `(?3, ?4)`: placeholders from a number.
pub(super) fn placeholders(from: usize, count: usize) -> String {
    let all: Vec<String> = (from..from + count).map(|it| format!("?{it}")).collect();
    format!("({})", all.join(", "))
}

/// Inserts rows of equal length, many per statement.
pub(super) fn inserted(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    begin: &str,
    rows: &[Vec<Cell>],
    end: &str,
) -> Result<(), StoreError> {
    let width = rows.first().map_or(1, Vec::len).max(1);
    for some in rows.chunks((MOST_PARAMETERS / width).max(1)) {
        let values: Vec<String> = (0..some.len()).map(|row| placeholders(1 + row * width, width)).collect();
        let text = format!("{begin}{}{end}", values.join(", "));
        statements.rows(&dialect.sql(&text), &some.concat())?;
    }
    Ok(())
}

//! Configurations of tunings, and tables of answers and timelines.

use super::Archive;
use super::model::NewRecording;
use super::names::plain;
use super::read::{real, text};
use super::statements::inserted;
use crate::engine::{Cell, Dialect, Row, Statements};
use crate::error::StoreError;
use view::{StoredCell, StoredConfiguration};

const CONFIGURATIONS: &str = "SELECT study, configuration, us, status, why FROM {s}tuned_configurations
    WHERE recording = ?1 ORDER BY {order}sequence";
/// The fastest first, those without a time last.
const FASTEST: &str = "us IS NULL, us, ";
const CELLS: &str = "SELECT table_title, line, column_title, unit, value, words FROM {s}answer_cells
    WHERE recording = ?1 ORDER BY place";

/// Inserts the rows of a tuning, a timeline or an answer.
pub(super) fn written(
    statements: &mut dyn Statements,
    dialect: &Dialect,
    (recording, id): (&NewRecording, i64),
) -> Result<(), StoreError> {
    let configuration = |(sequence, it): (i64, &StoredConfiguration)| {
        vec![
            id.into(),
            sequence.into(),
            plain(&it.study),
            plain(&it.configuration),
            it.us.into(),
            plain(&it.status),
            it.why.as_deref().map_or(Cell::Null, plain),
        ]
    };
    let rows: Vec<Row> = (0..).zip(&recording.configurations).map(configuration).collect();
    let begin = "INSERT INTO {s}tuned_configurations
        (recording, sequence, study, configuration, us, status, why) VALUES ";
    inserted(statements, dialect, begin, &rows, "")?;
    let cell = |(place, it): (i64, &StoredCell)| {
        vec![
            id.into(),
            place.into(),
            plain(&it.table),
            it.line.into(),
            plain(&it.column),
            plain(&it.unit),
            it.number.into(),
            it.text.as_deref().map_or(Cell::Null, plain),
        ]
    };
    let rows: Vec<Row> = (0..).zip(&recording.cells).map(cell).collect();
    let begin = "INSERT INTO {s}answer_cells
        (recording, place, table_title, line, column_title, unit, value, words) VALUES ";
    inserted(statements, dialect, begin, &rows, "")
}

impl Archive {
    /// Configurations of a tuning, fastest first or in the order in which they were added.
    pub(super) fn configurations(
        &mut self,
        id: i64,
        fastest_first: bool,
    ) -> Result<Vec<StoredConfiguration>, StoreError> {
        let sql = CONFIGURATIONS.replace("{order}", if fastest_first { FASTEST } else { "" });
        let rows = self.engine.rows(&self.sql(&sql), &[id.into()])?;
        let one = |row: &Row| match &row[..] {
            [Cell::Text(study), Cell::Text(configuration), us, Cell::Text(status), why] => {
                Some(StoredConfiguration {
                    study: study.clone(),
                    configuration: configuration.clone(),
                    us: real(us),
                    status: status.clone(),
                    why: text(why),
                })
            }
            _ => None,
        };
        let all = rows.iter().map(one).collect::<Option<_>>();
        all.ok_or_else(|| self.unreadable("tuned_configurations"))
    }

    /// Cells of the tables of an answer or timeline.
    pub(super) fn cells(&mut self, id: i64) -> Result<Vec<StoredCell>, StoreError> {
        let rows = self.engine.rows(&self.sql(CELLS), &[id.into()])?;
        let one = |row: &Row| match &row[..] {
            [Cell::Text(table), Cell::Integer(line), Cell::Text(column), Cell::Text(unit), number, words] => {
                Some(StoredCell {
                    table: table.clone(),
                    line: *line,
                    column: column.clone(),
                    unit: unit.clone(),
                    number: real(number),
                    text: text(words),
                })
            }
            _ => None,
        };
        rows.iter().map(one).collect::<Option<_>>().ok_or_else(|| self.unreadable("answer_cells"))
    }
}

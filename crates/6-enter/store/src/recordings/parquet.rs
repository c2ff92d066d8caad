//! Recordings as Parquet files in long form, a file for each table.
//!
//! A row group is written when it has [`GROUP`] rows, so memory does not grow with the database.

use super::Archive;
use super::add::summary_of;
use super::copy::KernelNumbers;
use crate::engine::Cell;
use crate::error::StoreError;
use ::parquet::basic::Compression;
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use view::StoredRecording;

/// Rows of a row group.
const GROUP: usize = 1 << 17;

/// Type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Text,
    Whole,
    Real,
    /// Milliseconds since 1970, UTC.
    Time,
}

use Kind::{Real, Text, Time, Whole};

type Columns = &'static [(&'static str, Kind)];

/// Tables and their columns. Each value may be null.
const TABLES: [(&str, Columns); 9] = [
    (
        "recordings",
        &[
            ("id", Whole),
            ("sort", Text),
            ("name", Text),
            ("path", Text),
            ("kind", Text),
            ("gpu", Text),
            ("emulated_by", Text),
            ("version", Text),
            ("dispatches", Whole),
            ("bytes", Whole),
            ("measured", Time),
            ("added", Time),
        ],
    ),
    ("labels", &[("recording", Whole), ("name", Text), ("value", Text)]),
    (
        "kernels",
        &[
            ("recording", Whole),
            ("kernel", Text),
            ("base_name", Text),
            ("dispatches", Whole),
            ("grid", Real),
            ("workgroup", Real),
            ("total_ns", Real),
            ("mean_ns", Real),
            ("median_ns", Real),
            ("spread_ns", Real),
        ],
    ),
    ("dispatches", &[("recording", Whole), ("kernel", Text), ("dispatch", Whole), ("ns", Real)]),
    ("counters", &[("recording", Whole), ("kernel", Text), ("name", Text), ("value", Real)]),
    (
        "metrics",
        &[
            ("recording", Whole),
            ("kernel", Text),
            ("kind", Text),
            ("name", Text),
            ("unit", Text),
            ("value", Real),
        ],
    ),
    (
        "findings",
        &[("recording", Whole), ("kernel", Text), ("rule", Text), ("severity", Text), ("time_lost_ns", Real)],
    ),
    (
        "configurations",
        &[
            ("recording", Whole),
            ("study", Text),
            ("configuration", Text),
            ("us", Real),
            ("status", Text),
            ("why", Text),
        ],
    ),
    (
        "answer_cells",
        &[
            ("recording", Whole),
            ("table_title", Text),
            ("line", Whole),
            ("column_title", Text),
            ("unit", Text),
            ("value", Real),
            ("words", Text),
        ],
    ),
];

impl Archive {
    /// Writes recordings into a folder as Parquet: a file for each table. Returns the names of the files with their
    /// numbers of rows.
    ///
    /// # Errors
    /// If a file cannot be written, or with the database.
    pub fn to_parquet(
        &mut self,
        wanted: &[StoredRecording],
        folder: &Path,
    ) -> Result<Vec<(String, u64)>, StoreError> {
        let mut tables = Tables::new(folder)?;
        for it in wanted {
            self.add_to(&mut tables, it)?;
        }
        tables.close()
    }

    fn add_to(&mut self, tables: &mut Tables, it: &StoredRecording) -> Result<(), StoreError> {
        let id = || Cell::Integer(it.id);
        let text = |it: &str| Cell::from(it);
        tables.push(
            "recordings",
            [
                id(),
                text(it.sort.word()),
                text(&it.name),
                text(&it.path),
                text(&it.kind),
                it.gpu.as_deref().into(),
                it.emulated_by.as_deref().into(),
                text(&it.version),
                it.dispatches.into(),
                it.bytes.into(),
                it.measured_ms.into(),
                it.added_ms.into(),
            ],
        )?;
        for (name, value) in &it.labels {
            tables.push("labels", [id(), text(name), text(value)])?;
        }
        let stored = self.show(&it.id.to_string())?;
        for f in &stored.findings {
            let kernel = f.kernel.as_deref().into();
            tables
                .push("findings", [id(), kernel, text(&f.rule), text(&f.severity), f.time_lost_ns.into()])?;
        }
        for c in &stored.configurations {
            let (us, why) = (c.us.into(), c.why.as_deref().into());
            tables.push(
                "configurations",
                [id(), text(&c.study), text(&c.configuration), us, text(&c.status), why],
            )?;
        }
        for c in &stored.cells {
            let (value, words) = (c.number.into(), c.text.as_deref().into());
            let (table, column) = (text(&c.table), text(&c.column));
            tables.push("answer_cells", [id(), table, c.line.into(), column, text(&c.unit), value, words])?;
        }
        let numbers = self.numbers_of(it.id)?;
        add_numbers(tables, it.id, &numbers)
    }
}

fn add_numbers(tables: &mut Tables, recording: i64, numbers: &KernelNumbers) -> Result<(), StoreError> {
    let KernelNumbers { quantities, normal_quantities, kernels } = numbers;
    for run in kernels {
        let start = || [Cell::Integer(recording), Cell::from(run.name.as_str())];
        let [a, b] = start();
        let [total, mean, median, spread] = summary_of(run).map(Cell::from);
        let dispatches = Cell::Integer(run.dispatches.cast_signed());
        let (grid, workgroup) = (run.grid.into(), run.workgroup.into());
        let base = Cell::from(run.base_name.as_str());
        tables.push("kernels", [a, b, base, dispatches, grid, workgroup, total, mean, median, spread])?;
        for (dispatch, ns) in (0i64..).zip(&run.times) {
            let [a, b] = start();
            tables.push("dispatches", [a, b, dispatch.into(), (*ns).into()])?;
        }
        let all = quantities.iter().zip(&run.numbers).chain(normal_quantities.iter().zip(&run.normals));
        for (quantity, value) in all.filter(|(_, value)| value.is_some()) {
            let [a, b] = start();
            let (name, value) = (Cell::from(quantity.name.as_str()), (*value).into());
            if quantity.kind == view::QuantityKind::Counter {
                tables.push("counters", [a, b, name, value])?;
            } else {
                let (kind, unit) = (quantity.kind.word().into(), quantity.unit.as_str().into());
                tables.push("metrics", [a, b, kind, name, unit, value])?;
            }
        }
    }
    Ok(())
}

/// The files under construction.
struct Tables(Vec<Table>);

struct Table {
    name: &'static str,
    columns: Columns,
    place: String,
    writer: SerializedFileWriter<BufWriter<File>>,
    rows: Vec<Vec<Cell>>,
    written: u64,
}

impl Tables {
    fn new(folder: &Path) -> Result<Tables, StoreError> {
        let one = |(name, columns): (&'static str, Columns)| {
            let path = folder.join(format!("{name}.parquet"));
            let place = path.display().to_string();
            let file = File::create(&path)
                .map_err(|error| StoreError::ReadOnly { place: place.clone(), why: error.to_string() })?;
            let failed = |error| failure(&place, &error);
            let schema = parse_message_type(&message(name, columns)).map_err(failed)?;
            let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
            let writer =
                SerializedFileWriter::new(BufWriter::new(file), Arc::new(schema), Arc::new(properties));
            let writer = writer.map_err(failed)?;
            Ok(Table { name, columns, place, writer, rows: Vec::new(), written: 0 })
        };
        TABLES.into_iter().map(one).collect::<Result<_, _>>().map(Tables)
    }

    fn push<const N: usize>(&mut self, name: &str, row: [Cell; N]) -> Result<(), StoreError> {
        let Some(table) = self.0.iter_mut().find(|it| it.name == name) else { return Ok(()) };
        debug_assert_eq!(table.columns.len(), N, "{name}");
        table.rows.push(row.into());
        if table.rows.len() >= GROUP { table.flush() } else { Ok(()) }
    }

    fn close(self) -> Result<Vec<(String, u64)>, StoreError> {
        let close = |mut table: Table| {
            table.flush()?;
            let Table { name, place, writer, written, .. } = table;
            writer.close().map_err(|error| failure(&place, &error))?;
            Ok((format!("{name}.parquet"), written))
        };
        self.0.into_iter().map(close).collect()
    }
}

impl Table {
    /// Writes the rows as a row group.
    fn flush(&mut self) -> Result<(), StoreError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let written = write(&mut self.writer, self.columns, &self.rows);
        written.map_err(|error| failure(&self.place, &error))?;
        self.written += self.rows.len() as u64;
        self.rows.clear();
        Ok(())
    }
}

fn write(
    writer: &mut SerializedFileWriter<BufWriter<File>>,
    columns: Columns,
    rows: &[Vec<Cell>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (at, (_, kind)) in columns.iter().enumerate() {
        let cells = || rows.iter().map(|row| &row[at]);
        let levels: Vec<i16> = cells().map(|it| i16::from(*it != Cell::Null)).collect();
        match kind {
            Text => {
                let values = cells().filter_map(|it| match it {
                    Cell::Text(it) => Some(ByteArray::from(it.as_bytes().to_vec())),
                    _ => None,
                });
                put::<ByteArrayType>(&mut group, &values.collect::<Vec<_>>(), &levels)?;
            }
            Whole | Time => {
                let values = cells().filter_map(|it| match it {
                    Cell::Integer(it) => Some(*it),
                    _ => None,
                });
                put::<Int64Type>(&mut group, &values.collect::<Vec<_>>(), &levels)?;
            }
            Real => {
                let values = cells().filter_map(|it| match it {
                    Cell::Real(it) => Some(*it),
                    _ => None,
                });
                put::<DoubleType>(&mut group, &values.collect::<Vec<_>>(), &levels)?;
            }
        }
    }
    group.close().map(|_| ())
}

fn put<T: ::parquet::data_type::DataType>(
    group: &mut SerializedRowGroupWriter<'_, BufWriter<File>>,
    values: &[T::T],
    levels: &[i16],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns than the table".to_owned()));
    };
    column.typed::<T>().write_batch(values, Some(levels), None)?;
    column.close()
}

/// The schema of a table in Parquet's own notation.
fn message(name: &str, columns: Columns) -> String {
    let column = |(name, kind): &(&str, Kind)| match kind {
        Text => format!("OPTIONAL BYTE_ARRAY {name} (UTF8);"),
        Whole => format!("OPTIONAL INT64 {name};"),
        Real => format!("OPTIONAL DOUBLE {name};"),
        Time => format!("OPTIONAL INT64 {name} (TIMESTAMP(MILLIS,true));"),
    };
    let columns: Vec<String> = columns.iter().map(column).collect();
    format!("message {name} {{ {} }}", columns.join(" "))
}

fn failure(place: &str, error: &ParquetError) -> StoreError {
    let why = error.to_string();
    let is_full = matches!(error, ParquetError::External(it)
        if it.downcast_ref::<std::io::Error>().is_some_and(|it| it.kind() == std::io::ErrorKind::StorageFull));
    if is_full {
        return StoreError::Full { place: place.to_owned() };
    }
    StoreError::Engine { place: place.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_is_one_of_parquet() {
        for (name, columns) in TABLES {
            let schema = parse_message_type(&message(name, columns)).unwrap();
            assert_eq!(schema.get_fields().len(), columns.len(), "{name}");
        }
    }
}

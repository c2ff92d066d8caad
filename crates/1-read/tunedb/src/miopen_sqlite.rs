//! MIOpen's PerfDb as SQLite.
//!
//! The database is opened from bytes in memory, read-only and with a bound on the work, since a damaged file
//! may hold anything; heights and widths of results are not stored, so they are computed if they follow from
//! other columns.

use crate::error::Error;
use crate::format::Format;
use crate::miopen_key::base_name;
use crate::model::{Kind, MOST_ROWS, Row, Shape, Tunings, Version};
use rusqlite::Row as Record;
use std::borrow::Cow;

/// Steps of SQLite's machine one file may cost, in thousands.
const STEP_THOUSANDS: u64 = 1_000_000;
const QUERY: &str = "SELECT c.layout, c.data_type, c.direction, c.spatial_dim, c.in_channels, c.in_d, c.in_h, c.in_w, \
     c.fil_d, c.fil_h, c.fil_w, c.out_channels, c.batchsize, c.pad_d, c.pad_h, c.pad_w, c.conv_stride_d, \
     c.conv_stride_h, c.conv_stride_w, c.dilation_d, c.dilation_h, c.dilation_w, c.bias, c.group_count, \
     p.solver, p.params FROM perf_db p JOIN config c ON c.id = p.config ORDER BY p.id";

/// Reads a database.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let broken = |error: rusqlite::Error| {
        Error::new(0, format!("the database cannot be read: {error}"))
            .hint("the file is damaged, or no PerfDb of MIOpen with tables `config` and `perf_db`")
    };
    let mut tunings = Tunings::new(name, Format::PerfDbSqlite, bytes);
    let named = base_name(tunings.base_name());
    if let Some(version) = named.version {
        tunings.versions.push(Version {
            key: Cow::Borrowed("MIOpen version"),
            value: Cow::Owned(version),
            line: 0,
        });
    }
    let db = rocprof::database::open(bytes, STEP_THOUSANDS).map_err(broken)?;
    let mut query = db.prepare(QUERY).map_err(broken)?;
    let mut records = query.query([]).map_err(broken)?;
    while let Some(record) = records.next().map_err(broken)? {
        if tunings.rows.len() >= MOST_ROWS {
            return Err(Error::new(0, format!("more than {MOST_ROWS} rows")));
        }
        let mut row = one(record).map_err(broken)?;
        row.target =
            named.target.clone().map(Cow::Owned).ok_or("the file's name does not begin with a target");
        row.cu_count = named.cu_count.ok_or("the file's name holds no number of compute units");
        tunings.rows.push(row);
    }
    Ok(tunings)
}

fn one<'a>(record: &Record<'_>) -> rusqlite::Result<Row<'a>> {
    let word = |at: usize| record.get::<_, String>(at);
    let number = |at: usize| record.get::<_, i64>(at);
    let (layout, data_type, direction) = (word(0)?, word(1)?, word(2)?);
    let three = number(3)? == 3;
    let from = if three { 0 } else { 1 };
    // Depth, height and width of each group.
    let mut groups = [[0i64; 3]; 5];
    for (group, first) in groups.iter_mut().zip([5, 8, 13, 16, 19]) {
        for (at, value) in group.iter_mut().enumerate() {
            *value = number(first + at)?;
        }
    }
    let [input, filter, pad, stride, dilation] = groups;
    let by = |group: &[i64; 3]| group[from..].iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    let outputs: Vec<String> = (from..3)
        .map(|at| output(input[at], filter[at], pad[at], stride[at], dilation[at], &direction))
        .map(|it| it.map_or_else(|| "?".to_owned(), |it| it.to_string()))
        .collect();
    let inputs: Vec<String> = input[from..].iter().map(i64::to_string).collect();
    let layouts =
        if matches!(layout.as_str(), "NCHW" | "NCDHW") { layout.clone() } else { [&*layout; 3].join("-") };
    let groups = number(23)?;
    let suffix = if groups > 1 { format!("_g{groups}") } else { String::new() };
    let key = format!(
        "{}-{}-{}-{}-{}-{}-{}-{}-{}-{}-{layouts}-{data_type}-{direction}{suffix}",
        number(4)?,
        inputs.join("-"),
        by(&filter),
        number(11)?,
        outputs.join("-"),
        number(12)?,
        by(&pad),
        by(&stride),
        by(&dilation),
        number(22)?,
    );
    let (solver, params) = (word(24)?, word(25)?);
    let operation = match direction.as_str() {
        "B" => "conv backward data",
        "W" => "conv backward weights",
        _ => "conv forward",
    };
    let mut row = Row::new(0, 0..0, Kind::Convolution, operation);
    row.shape = Ok(Shape::Text(Cow::Owned(key.clone())));
    row.key = Cow::Owned(key);
    row.types = Ok(Cow::Owned(data_type));
    row.layout = Ok(Cow::Owned(layout));
    row.candidate = Ok(Cow::Owned(if params.is_empty() { solver } else { format!("{solver}: {params}") }));
    row.time_us = Err("PerfDb holds parameters and no times");
    Ok(row)
}

/// Size of the other side. Backward of a stride above 1 several sizes are possible, and none is stored.
fn output(input: i64, filter: i64, pad: i64, stride: i64, dilation: i64, direction: &str) -> Option<i64> {
    let reach = dilation.max(1).checked_mul(filter.checked_sub(1)?)?.checked_add(1)?;
    let padded = pad.checked_mul(2)?;
    if direction == "F" {
        return Some(input.checked_add(padded)?.checked_sub(reach)? / stride.max(1) + 1).filter(|it| *it > 0);
    }
    (stride == 1).then(|| input.checked_sub(1)?.checked_add(reach)?.checked_sub(padded))?.filter(|it| *it > 0)
}

//! Tables of text as columns: numbers of a column differ little, so only the bytes of their differences are stored.
//!
//! A column is text, one value for all rows, or integers as differences from the least one, byte by byte. The encoder
//! decodes its result and compares it with the table, so a table that would change is not encoded.

/// Fewest rows of a table below its header.
const FEWEST: usize = 8;
/// Most fields of a table.
const MOST: usize = 16 << 20;

/// Kinds of columns.
const TEXT: u8 = 0;
const ONE: u8 = 1;
const WHOLE: u8 = 2;
const STEPS: u8 = 3;

/// Encodes a table as columns; `None` unless all rows have the same number of fields.
pub(super) fn encoded(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let mut rows: Vec<Vec<&str>> = Vec::new();
    let mut fields = 0;
    for line in text.split('\n') {
        let row = split(line);
        fields += row.len();
        if fields > MOST || rows.first().is_some_and(|first| first.len() != row.len()) {
            return None;
        }
        rows.push(row);
    }
    let width = rows.first()?.len();
    if rows.len() <= FEWEST || width < 2 {
        return None;
    }
    let mut out = Vec::new();
    number(&mut out, rows.len() as u64 - 1);
    number(&mut out, width as u64);
    out.extend(rows[0].join(",").as_bytes());
    out.push(b'\n');
    for at in 0..width {
        let column: Vec<&str> = rows[1..].iter().map(|row| row[at]).collect();
        put(&mut out, &column);
    }
    (decoded(&out).as_deref() == Some(bytes)).then_some(out)
}

/// Fields of a line with their quotes, which `csv` would remove. A comma between quotes does not end a field.
fn split(line: &str) -> Vec<&str> {
    let (mut from, mut quoted) = (0, false);
    let mut all = Vec::new();
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                all.push(&line[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    all.push(&line[from..]);
    all
}

fn put(out: &mut Vec<u8>, column: &[&str]) {
    if column.iter().all(|it| *it == column[0]) {
        out.push(ONE);
        out.extend(column[0].as_bytes());
        out.push(b'\n');
        return;
    }
    let whole = |text: &&str| text.parse::<i64>().ok().filter(|it| it.to_string() == **text);
    let Some(values) = column.iter().map(whole).collect::<Option<Vec<i64>>>() else {
        out.push(TEXT);
        column.iter().for_each(|it| {
            out.extend(it.as_bytes());
            out.push(b'\n');
        });
        return;
    };
    let steps: Vec<i64> = values.windows(2).map(|it| it[1].wrapping_sub(it[0])).collect();
    if bytes_of(&steps) < bytes_of(&values) {
        out.push(STEPS);
        number(out, values[0].cast_unsigned());
        planes(out, &steps);
    } else {
        out.push(WHOLE);
        planes(out, &values);
    }
}

fn range(values: &[i64]) -> (i64, u64) {
    let least = values.iter().copied().min().unwrap_or(0);
    let most = values.iter().copied().max().unwrap_or(0);
    (least, most.wrapping_sub(least).cast_unsigned())
}

/// Bytes that each difference from the least value needs.
fn bytes_of(values: &[i64]) -> usize {
    (64 - range(values).1.leading_zeros() as usize).div_ceil(8)
}

/// Writes the least value and the differences from it: first the lowest byte of each, then the next byte of each.
fn planes(out: &mut Vec<u8>, values: &[i64]) {
    let (least, _) = range(values);
    let bytes = bytes_of(values);
    number(out, least.cast_unsigned());
    out.push(bytes as u8);
    for plane in 0..bytes {
        out.extend(values.iter().map(|it| (it.wrapping_sub(least).cast_unsigned() >> (8 * plane)) as u8));
    }
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Decodes columns to their table; `None` if they are damaged.
pub(super) fn decoded(columns: &[u8]) -> Option<Vec<u8>> {
    let mut from = Reader(columns);
    let rows = usize::try_from(from.number()?).ok()?;
    let width = usize::try_from(from.number()?).ok()?;
    if rows == 0 || width == 0 || rows.checked_mul(width)? > MOST {
        return None;
    }
    let mut out = from.line()?.to_vec();
    out.push(b'\n');
    let columns = (0..width).map(|_| from.column(rows)).collect::<Option<Vec<_>>>()?;
    for row in 0..rows {
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            match column {
                Column::One(it) => out.extend(*it),
                Column::Text(all) => out.extend(all[row]),
                Column::Whole(all) => out.extend(all[row].to_string().bytes()),
            }
        }
        out.push(b'\n');
    }
    from.0.is_empty().then_some(out)
}

enum Column<'a> {
    One(&'a [u8]),
    Text(Vec<&'a [u8]>),
    Whole(Vec<i64>),
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|it| *it == b'\n')?;
        let line = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(line)
    }

    fn column(&mut self, rows: usize) -> Option<Column<'a>> {
        Some(match self.byte()? {
            ONE => Column::One(self.line()?),
            TEXT => Column::Text((0..rows).map(|_| self.line()).collect::<Option<_>>()?),
            WHOLE => Column::Whole(self.planes(rows)?),
            STEPS => {
                let mut value = self.number()?.cast_signed();
                let steps = self.planes(rows - 1)?;
                let all = std::iter::once(value).chain(steps.into_iter().map(|step| {
                    value = value.wrapping_add(step);
                    value
                }));
                Column::Whole(all.collect())
            }
            _ => return None,
        })
    }

    fn planes(&mut self, count: usize) -> Option<Vec<i64>> {
        let least = self.number()?.cast_signed();
        let bytes = usize::from(self.byte()?);
        if bytes > 8 || self.0.len() < bytes.checked_mul(count)? {
            return None;
        }
        let (planes, rest) = self.0.split_at(bytes * count);
        self.0 = rest;
        let value = |at: usize| {
            let far = (0..bytes)
                .fold(0u64, |far, plane| far | u64::from(planes[plane * count + at]) << (8 * plane));
            least.wrapping_add(far.cast_signed())
        };
        Some((0..count).map(value).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Random;

    fn table(rows: &[&str]) -> Vec<u8> {
        rows.iter().map(|it| format!("{it}\n")).collect::<String>().into_bytes()
    }

    #[test]
    fn tables_come_back_exactly() {
        let header = "id,name,a,b";
        let row = |at: i64| {
            format!(
                "{},\"f(int, {at})\",{},-{}",
                i64::MIN.wrapping_add(at * i64::from(i32::MAX)),
                at * at,
                7 - at % 3
            )
        };
        let rows: Vec<String> = std::iter::once(header.to_owned()).chain((0..40).map(row)).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let plain = table(&rows);
        let columns = encoded(&plain).unwrap();
        assert_eq!(decoded(&columns).unwrap(), plain);
        assert!(columns.len() < plain.len() * 2 / 3, "{} of {}", columns.len(), plain.len());
        // A cut or changed byte never panics.
        for end in 0..columns.len() {
            assert_eq!(decoded(&columns[..end]), None, "{end}");
        }
        let mut random = Random(48);
        for _ in 0..2000 {
            let mut damaged = columns.clone();
            damaged[random.below(columns.len())] = random.next() as u8;
            let _ = decoded(&damaged);
        }
    }

    #[test]
    fn tables_that_would_change_are_not_encoded() {
        let same = |row: &str| table(&[row; 12]);
        for (what, text) in [
            ("empty", Vec::new()),
            ("no end", b"a,b\n".repeat(12)[..47].to_vec()),
            ("unequal", [same("1,2"), table(&["1,2,3"])].concat()),
            ("one column", same("x")),
            ("few", table(&["a,b", "1,2"])),
            ("bytes", b"\xff,\xfe\n".repeat(12)),
        ] {
            assert_eq!(encoded(&text), None, "{what}");
        }
        for text in
            [same("01,+2,1.50"), same("1,\r"), same(",,"), same("\"a,b"), same("9223372036854775808,0")]
        {
            let columns = encoded(&text);
            assert_eq!(columns.and_then(|it| decoded(&it)).unwrap_or(text.clone()), text);
        }
    }
}

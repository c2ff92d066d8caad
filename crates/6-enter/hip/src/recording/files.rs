//! Files of a recording while they grow.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Error, ErrorKind, Result, Write as _};
use std::path::Path;

/// Puts a file in place of an older one in one step.
pub(super) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let next = folder.join(format!(".{name}.new"));
    std::fs::write(&next, bytes)?;
    std::fs::rename(next, folder.join(name))
}

/// Adds lines to a file, or nothing: a part of a line would spoil what is added later.
pub(super) fn add(file: &mut File, lines: &[u8]) -> Result<()> {
    let mut rest = lines;
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(count) if count > 0 => rest = rest.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            failed => {
                let added = (lines.len() - rest.len()) as u64;
                let length = file.metadata()?.len();
                file.set_len(length.saturating_sub(added))?;
                return Err(failed.err().unwrap_or_else(|| ErrorKind::WriteZero.into()));
            }
        }
    }
    Ok(())
}

/// Gives a file its first line, in which an older one has the same columns and more: its lines get gaps.
pub(super) fn widen(folder: &Path, name: &str, old: Option<&str>, header: &str) -> Result<()> {
    let Some(old) = old else { return replace(folder, name, header.as_bytes()) };
    if old == header {
        return Ok(());
    }
    let places = places(old, header).ok_or_else(|| Error::other("a column is gone"))?;
    let next = folder.join(format!(".{name}.new"));
    let mut lines = BufReader::new(File::open(folder.join(name))?);
    let mut out = BufWriter::new(File::create(&next)?);
    out.write_all(header.as_bytes())?;
    lines.read_until(b'\n', &mut Vec::new())?;
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        // Names of kernels may have quoted ends of lines.
        if line.iter().filter(|byte| **byte == b'"').count() % 2 == 1 {
            continue;
        }
        write(&mut out, &line, &places)?;
        line.clear();
    }
    out.flush()?;
    std::fs::rename(next, folder.join(name))
}

/// For each new column the place of the old one.
fn places(old: &str, header: &str) -> Option<Vec<Option<usize>>> {
    let old = cells(old.as_bytes());
    let new: Vec<_> =
        cells(header.as_bytes()).iter().map(|it| old.iter().position(|old| old == it)).collect();
    (new.iter().flatten().count() == old.len()).then_some(new)
}

/// Cells of a line as they are written.
fn cells(line: &[u8]) -> Vec<&[u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut quoted = false;
    line.split(|byte| {
        quoted ^= *byte == b'"';
        *byte == b',' && !quoted
    })
    .collect()
}

fn write(out: &mut impl std::io::Write, line: &[u8], places: &[Option<usize>]) -> Result<()> {
    let cells = cells(line);
    for (column, place) in places.iter().enumerate() {
        if column > 0 {
            out.write_all(b",")?;
        }
        out.write_all(place.and_then(|it| cells.get(it)).copied().unwrap_or_default())?;
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_lines_get_gaps() {
        let folder = std::env::temp_dir().join(format!("rockhound-widen-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (old, header) = ("ID,Name,B,D\n", "ID,Name,A,B,C,D\n");
        widen(&folder, "f.csv", None, old).unwrap();
        let lines = "0,\"a, \"\"b\"\"\",1,2\n1,\"two\nlines\",,3\n";
        let mut file = std::fs::OpenOptions::new().append(true).open(folder.join("f.csv")).unwrap();
        add(&mut file, lines.as_bytes()).unwrap();
        widen(&folder, "f.csv", Some(old), header).unwrap();
        let expected = "ID,Name,A,B,C,D\n0,\"a, \"\"b\"\"\",,1,,2\n1,\"two\nlines\",,,,3\n";
        assert_eq!(std::fs::read_to_string(folder.join("f.csv")).unwrap(), expected);
        assert!(widen(&folder, "f.csv", Some(header), old).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}

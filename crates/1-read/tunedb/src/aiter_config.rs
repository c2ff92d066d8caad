//! AITER's Triton configurations: JSON files with settings by number of rows or by name.
//!
//! Half of the key is the path (target, kernel, N and K), and a file for one N and K replaces the kernel's
//! default file as a whole.

pub use crate::config_name::ConfigName;
use crate::error::Error;
use crate::format::Format;
use crate::json::{Member, Placed};
use crate::lines::LineIndex;
use crate::model::{Detail, FlawKind, Kind, Row, Shape, Tunings};
use crate::moe::{check_settings, finish, settings};
use std::borrow::Cow;

mod merge;

pub use merge::merged;

/// Bounds of `M_LEQ_n` and `M_GEQ_n` that the loader looks up, unless a kernel defines its own.
pub const BOUNDS: [u64; 13] = [1, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];
/// Rows of the first matrix below which a mixture of experts takes `small_M`, and `medium_M`.
pub const MOE_BOUNDS: [(&str, u64); 2] = [("small_M", 256), ("medium_M", 1024)];
/// Entry of a mixture of experts for all larger ones.
pub const MOE_REST: &str = "large_M";

/// Reads a configuration.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8], root: &Placed<'a>) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::AiterJson, bytes);
    let index = LineIndex::new(bytes);
    let Some(members) = root.value.object() else { return Err(Error::new(1, "no object of configurations")) };
    let what = ConfigName::parse(name);
    check_bounds(members, &index, &mut tunings);
    for member in members.iter().filter(|it| !it.is_note()) {
        walk(member, String::new(), &index, &what, &mut tunings)?;
    }
    tunings.detail = Detail::Config(what);
    finish(tunings)
}

/// The bound of `M_LEQ_n`.
fn up_to(key: &str) -> Option<&str> {
    key.strip_prefix("M_LEQ_")
}

/// The bound of `M_GEQ_n`.
fn at_least(key: &str) -> Option<&str> {
    key.strip_prefix("M_GEQ_")
}

/// Reports entries that are unordered, that no loader looks up, and that are missing.
fn check_bounds(members: &[Member<'_>], index: &LineIndex<'_>, tunings: &mut Tunings<'_>) {
    let mut last: Option<u64> = None;
    for member in members {
        let line = index.line(member.span.start);
        let Some(text) = up_to(&member.key).or_else(|| at_least(&member.key)) else { continue };
        let Ok(bound) = text.parse::<u64>() else {
            tunings.bad_row(line, FlawKind::Malformed, format!("`{}` has no number", member.key));
            continue;
        };
        if !BOUNDS.contains(&bound) {
            let text = format!(
                "`{}`: {bound} is none of the bounds that AITER asks for (powers of two from 4 to 8192, and 1), so only a kernel with \
                 bounds of its own takes the entry",
                member.key
            );
            tunings.flaw(line, FlawKind::Unused, text);
        }
        if at_least(&member.key).is_some() {
            continue;
        }
        if let Some(last) = last.filter(|last| bound <= *last) {
            tunings.flaw(line, FlawKind::NotSorted, format!("`{}` comes after M_LEQ_{last}", member.key));
            continue;
        }
        last = Some(bound);
    }
    let rest = |it: &Member<'_>| it.key == "any" || at_least(&it.key).is_some();
    if last.is_some() && !members.iter().any(rest) {
        tunings.flaw(1, FlawKind::Unused, "no entry `any`: a larger M finds nothing");
    }
}

fn walk<'a>(
    member: &Member<'a>,
    above: String,
    index: &LineIndex<'_>,
    what: &ConfigName,
    tunings: &mut Tunings<'a>,
) -> Result<(), Error> {
    let line = index.line(member.span.start);
    let path = if above.is_empty() { member.key.to_string() } else { format!("{above}.{}", member.key) };
    let Some(members) = member.value.value.object() else {
        return Err(Error::new(line, format!("`{path}` is no configuration")));
    };
    if members.iter().any(|it| it.value.value.object().is_some()) {
        for it in members.iter().filter(|it| !it.is_note()) {
            walk(it, path.clone(), index, what, tunings)?;
        }
        return Ok(());
    }
    let kind = match () {
        () if what.kernel.contains("moe") => Kind::Moe,
        () if what.kernel.contains("gemm") => Kind::Gemm,
        () => Kind::Kernel,
    };
    let mut row = Row::new(line, member.span.clone(), kind, Cow::Owned(what.words.clone()));
    row.target = what.target.clone().map(Cow::Owned).ok_or("neither name nor folder is a target");
    let number = |text: Option<&str>| text.and_then(|it| it.parse().ok());
    row.shape = match (number(up_to(&member.key)), number(at_least(&member.key))) {
        (Some(bound), _) => Ok(Shape::UpTo(Some(bound))),
        (_, Some(bound)) => Ok(Shape::AtLeast(bound)),
        _ if member.key == "any" => Ok(Shape::UpTo(None)),
        _ => Ok(Shape::Text(Cow::Owned(path.clone()))),
    };
    row.key = Cow::Owned(path);
    row.candidate = Ok(Cow::Owned(settings(&member.value.value)));
    check_settings(&member.value.value, line, tunings);
    tunings.rows.push(row);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_no_configurations() {
        let text =
            "{\"_note\": \"made on one board\",\n\"M_LEQ_16\": {\"BLOCK_M\": 1},\n\"any\": {\"BLOCK_M\": 2}}";
        let file = crate::read("gfx950-GEMM-A16W16.json", text.as_bytes()).unwrap();
        assert_eq!((file.rows.len(), file.flaws.len()), (2, 0));
        assert_eq!(file.write(), text.as_bytes());
        let other = "{\"_note\": \"another\", \"any\": {\"BLOCK_M\": 4}}";
        let merged = merged(text.as_bytes(), other.as_bytes(), &|_| true).unwrap();
        assert_eq!(String::from_utf8(merged).unwrap(), text.replace("\"BLOCK_M\": 2", "\"BLOCK_M\": 4"));
        // A number without a sign of a remark is a mistake.
        let text = "{\"M_LEQ_16\": 3, \"any\": {\"BLOCK_M\": 2}}";
        assert!(crate::read("gfx950-GEMM-A16W16.json", text.as_bytes()).is_err());
    }

    #[test]
    fn bounds_that_nobody_asks_for() {
        let text = "{\"M_LEQ_16\": {\"BLOCK_M\": 1},\n\"M_LEQ_96\": {\"BLOCK_M\": 1},\n\"M_LEQ_8\": {\"BLOCK_M\": 1},\n\"M_GEQ_4096\": {\"BLOCK_M\": 1}}";
        let file = crate::read("gfx942-GEMM-A16W16.json", text.as_bytes()).unwrap();
        let found: Vec<_> = file.flaws.iter().map(|it| (it.line, it.kind)).collect();
        assert_eq!(found, [(2, FlawKind::Unused), (3, FlawKind::NotSorted)]);
        assert_eq!(file.rows[3].shape, Ok(Shape::AtLeast(4096)));
    }
}

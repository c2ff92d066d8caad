//! Configurations by size: fused-MoE files of vLLM and SGLang, and AITER's Triton configurations.
//!
//! The one idea to keep in mind: half of the key is the file's name, as text; two names that differ by a blank are two keys.

use crate::error::Error;
use crate::json::{Json, Member, Placed, join_pairs};
use crate::lines::{LineIndex, TextCheck, lines, text};
use crate::model::{Detail, FlawKind, Format, Kind, MoeShape, Row, Shape, Tunings, Version};
pub use crate::moe_name::MoeName;
use std::borrow::Cow;

/// Whether a JSON file is one of these, by its name or its keys.
pub(crate) fn recognize(name: &str, root: &Json<'_>) -> Option<Format> {
    let members = root.object()?;
    if MoeName::parse(name).is_some() {
        return Some(Format::MoeJson);
    }
    let numbers = members.iter().filter(|it| it.key.parse::<u64>().is_ok()).count();
    let nested = members.iter().any(|it| it.value.value.object().is_some());
    let sized = |it: &Member<'_>| it.key.starts_with("M_LEQ_") || it.key == "any";
    match () {
        () if members.iter().any(sized) => Some(Format::AiterJson),
        () if numbers > 0 && nested => Some(Format::MoeJson),
        () if nested && leaves(root) => Some(Format::AiterJson),
        () => None,
    }
}

/// Whether every branch ends in an object of settings of a Triton kernel.
fn leaves(value: &Json<'_>) -> bool {
    const SETTINGS: [&str; 4] = ["num_warps", "num_stages", "waves_per_eu", "BLOCK_SIZE_M"];
    match value.object() {
        Some(members) if members.iter().all(|it| it.value.value.is_scalar()) => {
            members.iter().any(|it| SETTINGS.contains(&&*it.key) || it.key.contains("BLOCK"))
        }
        Some(members) => members.iter().all(|it| leaves(&it.value.value)),
        None => false,
    }
}

/// Reads a fused-MoE file.
pub(crate) fn read_moe<'a>(name: &str, bytes: &'a [u8], root: &Placed<'a>) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::MoeJson, bytes);
    let index = LineIndex::new(bytes);
    let key = MoeName::parse(name);
    let Some(members) = root.value.object() else { return Err(Error::new(1, "no object of configurations")) };
    let mut last = None;
    for member in members {
        let line = index.line(member.span.start);
        if member.key == "triton_version" {
            let value = Cow::Owned(member.value.value.words());
            tunings.versions.push(Version { key: Cow::Borrowed("triton_version"), value, line });
            continue;
        }
        let (Ok(m), true) = (member.key.parse::<u64>(), member.value.value.object().is_some()) else {
            return Err(Error::new(line, format!("the key `{}` is no number of tokens", member.key))
                .hint("vLLM and SGLang take numbers and `triton_version`"));
        };
        if last.is_some_and(|last| m <= last) {
            let text = format!("{m} tokens after {}", last.unwrap_or_default());
            tunings.flaw(line, FlawKind::NotSorted, text);
        }
        last = Some(m);
        let mut row = Row::new(line, member.span.clone(), Kind::Moe, "fused_moe");
        row.key = member.key.clone();
        row.candidate = Ok(Cow::Owned(settings(&member.value.value)));
        let mut shape = MoeShape { tokens: m, model: None, inter: None, experts: 0, top_k: None };
        row.shape = Err("the file's name does not say experts and size");
        if let Some(key) = &key {
            (shape.experts, shape.inter) = (key.experts, Some(key.n));
            row.shape = Ok(Shape::Moe(shape));
            row.types = match &key.dtype {
                Some(dtype) => Ok(Cow::Owned(dtype.clone())),
                None => Err("the name has no `dtype`: those of the model"),
            };
        }
        row.target = Err("the name holds the device's name, not its target");
        check_settings(&member.value.value, line, &mut tunings);
        tunings.rows.push(row);
    }
    if let Some(key) = key {
        let device = Cow::Owned(key.device.clone());
        tunings.versions.push(Version { key: Cow::Borrowed("device_name"), value: device, line: 0 });
        if let Some(folder) = &key.folder {
            let value = Cow::Owned(folder.trim_start_matches("triton_").replace('_', "."));
            tunings.versions.push(Version { key: Cow::Borrowed("triton folder"), value, line: 0 });
        }
        tunings.detail = Detail::Moe(key);
    }
    finish(tunings)
}

/// Reads one of AITER's Triton configurations.
pub(crate) fn read_aiter<'a>(name: &str, bytes: &'a [u8], root: &Placed<'a>) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::AiterJson, bytes);
    let index = LineIndex::new(bytes);
    let Some(members) = root.value.object() else { return Err(Error::new(1, "no object of configurations")) };
    let what = AiterName::parse(name);
    let mut last: Option<u64> = None;
    for member in members {
        let line = index.line(member.span.start);
        if let Some(limit) = member.key.strip_prefix("M_LEQ_") {
            match limit.parse::<u64>() {
                Ok(limit) if last.is_some_and(|last| limit <= last) => {
                    let text = format!("`{}` comes after M_LEQ_{}", member.key, last.unwrap_or_default());
                    tunings.flaw(line, FlawKind::NotSorted, text);
                }
                Ok(limit) => last = Some(limit),
                Err(_) => {
                    tunings.bad_row(line, FlawKind::Malformed, format!("`{}` has no number", member.key));
                }
            }
        }
        walk(member, String::new(), &index, &what, &mut tunings)?;
    }
    if last.is_some() && !members.iter().any(|it| it.key == "any") {
        tunings.flaw(1, FlawKind::Unused, "no entry `any`: a larger M finds nothing");
    }
    finish(tunings)
}

/// What the path of one of AITER's configurations says.
struct AiterName {
    target: Option<String>,
    operation: String,
}

impl AiterName {
    /// `gfx942-GEMM-A16W16-N=256-K=6144.json`, or `gfx942/triton/gemm/gemm_afp4wfp4/DEFAULT.json`.
    fn parse(path: &str) -> AiterName {
        let parts: Vec<&str> = path.split('/').collect();
        let stem = parts.last().map_or("", |it| it.strip_suffix(".json").unwrap_or(it));
        let is_target = |text: &str| text.starts_with("gfx") && text.len() > 3;
        if let Some((first, rest)) = stem.split_once('-')
            && is_target(first)
        {
            return AiterName { target: Some(first.to_owned()), operation: rest.to_owned() };
        }
        let target = parts.iter().find(|it| is_target(it)).map(|it| (*it).to_owned());
        let folder = parts.len().checked_sub(2).and_then(|at| parts.get(at)).copied().unwrap_or_default();
        let operation = if stem == "DEFAULT" && !folder.is_empty() { folder } else { stem };
        AiterName { target, operation: operation.to_owned() }
    }
}

fn walk<'a>(
    member: &Member<'a>,
    above: String,
    index: &LineIndex,
    what: &AiterName,
    tunings: &mut Tunings<'a>,
) -> Result<(), Error> {
    let line = index.line(member.span.start);
    let path = if above.is_empty() { member.key.to_string() } else { format!("{above}.{}", member.key) };
    let Some(members) = member.value.value.object() else {
        return Err(Error::new(line, format!("`{path}` is no configuration")));
    };
    let nested = members.iter().any(|it| it.value.value.object().is_some());
    if nested {
        for it in members {
            walk(it, path.clone(), index, what, tunings)?;
        }
        return Ok(());
    }
    let kind = if what.operation.to_ascii_uppercase().contains("GEMM") { Kind::Gemm } else { Kind::Kernel };
    let mut row = Row::new(line, member.span.clone(), kind, Cow::Owned(what.operation.clone()));
    row.target = what.target.clone().map(Cow::Owned).ok_or("neither name nor folder is a target");
    row.shape = match member.key.strip_prefix("M_LEQ_").and_then(|it| it.parse().ok()) {
        Some(limit) => Ok(Shape::UpTo(Some(limit))),
        None if member.key == "any" => Ok(Shape::UpTo(None)),
        None => Ok(Shape::Text(Cow::Owned(path.clone()))),
    };
    row.key = Cow::Owned(path);
    row.candidate = Ok(Cow::Owned(settings(&member.value.value)));
    check_settings(&member.value.value, line, tunings);
    tunings.rows.push(row);
    Ok(())
}

/// Settings of a Triton kernel as one line.
fn settings(value: &Json<'_>) -> String {
    let members = value.object().unwrap_or_default();
    join_pairs(members.iter().map(|it| (&*it.key, it.value.value.words())))
}

/// Notes settings that no Triton kernel takes.
fn check_settings(value: &Json<'_>, line: u32, tunings: &mut Tunings<'_>) {
    let number = |key: &str| value.get(key).and_then(Json::number);
    for member in value.object().unwrap_or_default() {
        let Some(size) = member.value.value.number().filter(|_| member.key.starts_with("BLOCK")) else {
            continue;
        };
        let whole = size.fract() == 0.0 && (1.0..=1e9).contains(&size);
        if !whole || !(size as u64).is_power_of_two() {
            let text = format!("`{}` is {size}, no power of two", member.key);
            tunings.flaw(line, FlawKind::Contradiction, text);
        }
    }
    let Some(edge) = number("matrix_instr_nonkdim") else { return };
    if ![0.0, 4.0, 16.0, 32.0].contains(&edge) {
        let text = format!("`matrix_instr_nonkdim` is {edge}: there are 0 (default), 4, 16 and 32");
        tunings.flaw(line, FlawKind::Contradiction, text);
        return;
    }
    for key in ["BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_M", "BLOCK_N"] {
        if let Some(size) = number(key).filter(|size| *size < edge) {
            let text = format!("`matrix_instr_nonkdim` {edge} is larger than `{key}` {size}");
            tunings.flaw(line, FlawKind::Contradiction, text);
        }
    }
}

/// Checks the text and that no entry occurs twice within one object.
fn finish(mut tunings: Tunings<'_>) -> Result<Tunings<'_>, Error> {
    text(tunings.bytes)?;
    let mut check = TextCheck::default();
    lines(tunings.bytes).for_each(|line| check.see(&line));
    check.note(&mut tunings);
    // Blank lines mean nothing in JSON.
    tunings.flaws.retain(|flaw| !matches!(flaw.kind, FlawKind::EmptyLine | FlawKind::CarriageReturn));
    tunings.flaws.sort_by_key(|flaw| (flaw.line, flaw.kind));
    Ok(tunings)
}

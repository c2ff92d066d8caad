//! Configurations by number of tokens: fused-MoE files of vLLM and SGLang, and their files for products with
//! scales by block.
//!
//! Half of the key is the file's name, as text; two names that differ by a blank are two keys.

use crate::error::Error;
use crate::format::Format;
use crate::json::{Json, Member, Placed, join_pairs};
use crate::lines::{LineIndex, TextCheck, lines, text};
use crate::model::{Detail, FlawKind, GemmShape, Kind, MoeShape, Row, Shape, Tunings, Version};
pub use crate::moe_name::MoeName;
use sorting::Sort;
use std::borrow::Cow;

/// Whether a JSON file is one of these, by its name or its keys.
pub(crate) fn recognize(name: &str, root: &Json<'_>) -> Option<Format> {
    let members = root.object()?;
    if let Some(name) = MoeName::parse(name) {
        return Some(if name.k.is_some() { Format::BlockGemmJson } else { Format::MoeJson });
    }
    let numbers = members.iter().filter(|it| it.key.parse::<u64>().is_ok()).count();
    let nested = members.iter().any(|it| it.value.value.object().is_some());
    let sized =
        |it: &Member<'_>| it.key.starts_with("M_LEQ_") || it.key.starts_with("M_GEQ_") || it.key == "any";
    match () {
        () if members.iter().any(sized) => Some(Format::AiterJson),
        () if numbers > 0 && members.iter().any(|it| leaves(&it.value.value)) => Some(Format::MoeJson),
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
        Some(members) => members.iter().filter(|it| !it.is_note()).all(|it| leaves(&it.value.value)),
        None => false,
    }
}

/// Reads a fused-MoE file, or one for products.
pub(crate) fn read_moe<'a>(name: &str, bytes: &'a [u8], root: &Placed<'a>) -> Result<Tunings<'a>, Error> {
    let key = MoeName::parse(name);
    let dense = key.as_ref().and_then(|key| Some([key.n, key.k?]));
    let format = if dense.is_some() { Format::BlockGemmJson } else { Format::MoeJson };
    let mut tunings = Tunings::new(name, format, bytes);
    let index = LineIndex::new(bytes);
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
        let (kind, operation) =
            if dense.is_some() { (Kind::Gemm, "block_scaled_mm") } else { (Kind::Moe, "fused_moe") };
        let mut row = Row::new(line, member.span.clone(), kind, operation);
        row.key = member.key.clone();
        row.candidate = Ok(Cow::Owned(settings(&member.value.value)));
        let mut shape = MoeShape { tokens: m, model: None, inter: None, experts: 0, top_k: None };
        row.shape = Err("the file's name does not say experts and size");
        if let Some(key) = &key {
            (shape.experts, shape.inter) = (key.experts, Some(key.n));
            row.shape = match dense {
                Some([n, k]) => GemmShape::of_long([m, n, k, 1], None).map(Shape::Gemm),
                None => Ok(Shape::Moe(Box::new(shape))),
            };
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

/// Settings of a Triton kernel as one line.
pub(crate) fn settings(value: &Json<'_>) -> String {
    let members = value.object().unwrap_or_default();
    join_pairs(members.iter().map(|it| (&*it.key, it.value.value.words())))
}

/// Notes settings that no Triton kernel takes.
pub(crate) fn check_settings(value: &Json<'_>, line: u32, tunings: &mut Tunings<'_>) {
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
pub(crate) fn finish(mut tunings: Tunings<'_>) -> Result<Tunings<'_>, Error> {
    text(tunings.bytes)?;
    let mut check = TextCheck::default();
    lines(tunings.bytes).for_each(|line| check.see(&line));
    check.note(&mut tunings);
    // Blank lines mean nothing in JSON.
    tunings.flaws.retain(|flaw| !matches!(flaw.kind, FlawKind::EmptyLine | FlawKind::CarriageReturn));
    tunings.flaws.in_order_by_key(|flaw| (flaw.line, flaw.kind));
    Ok(tunings)
}

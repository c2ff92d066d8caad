//! Metadata of all code-object versions, from either notation, into one shape.
//!
//! Version 2 and the later versions differ in spelling only, so each fact has one line here that lists both
//! spellings. Source: the AMDGPU back-end user guide, "Code Object Metadata".

use crate::ReadError;
use crate::events::{Event, Events};
use crate::{Argument, Metadata};

/// Numbers of kernels and arguments above which a note is rejected as damaged: several times what the largest
/// libraries have in one code object.
pub(crate) const MOST_KERNELS: usize = 100_000;
const MOST_ARGUMENTS: usize = 1_000_000;
/// The same for texts of `printf`.
const MOST_FORMATS: usize = 100_000;

/// All that the metadata of one code object says.
#[derive(Default, Debug)]
pub(crate) struct Document {
    /// Target id, where it is given.
    pub(crate) target: Option<String>,
    /// Metadata version, for example 1.2.
    pub(crate) version: Option<(u64, u64)>,
    pub(crate) kernels: Vec<KernelEntry>,
    /// Texts of `printf` that device code names by number.
    pub(crate) formats: Vec<String>,
}

/// One kernel's entry.
#[derive(Default, Debug)]
pub(crate) struct KernelEntry {
    pub(crate) name: String,
    /// Symbol of the descriptor; may be empty.
    pub(crate) symbol: String,
    pub(crate) metadata: Metadata,
}

impl KernelEntry {
    /// Linker name of the kernel's code.
    pub(crate) fn linker_name(&self) -> &str {
        let symbol = self.symbol.as_str();
        let symbol = symbol.strip_suffix(".kd").or_else(|| symbol.strip_suffix("@kd")).unwrap_or(symbol);
        if symbol.is_empty() { &self.name } else { symbol }
    }
}

/// Reads a whole metadata document.
pub(crate) fn read<'a>(source: &mut impl Events<'a>) -> Result<Document, ReadError> {
    let mut document = Document::default();
    let mut arguments = 0;
    let first = source.next()?;
    map(source, first, "the metadata", |source, key, value| {
        match key {
            "amdhsa.target" => document.target = text(&value),
            "amdhsa.version" | "Version" => document.version = version(source, value)?,
            "amdhsa.kernels" | "Kernels" => {
                sequence(source, value, "the list of kernels", |source, value| {
                    if document.kernels.len() == MOST_KERNELS {
                        return Err(ReadError::new(
                            source.position(),
                            format!("more than {MOST_KERNELS} kernels"),
                        ));
                    }
                    document.kernels.push(kernel(source, value, &mut arguments)?);
                    Ok(())
                })?;
            }
            "amdhsa.printf" => {
                let formats = &mut document.formats;
                sequence(source, value, "the texts of `printf`", |_, value| {
                    if formats.len() < MOST_FORMATS {
                        formats.extend(text(&value));
                    }
                    Ok(())
                })?;
            }
            _ => source.skip(&value)?,
        }
        Ok(())
    })?;
    Ok(document)
}

fn kernel<'a, S: Events<'a>>(
    source: &mut S,
    first: Event<'a>,
    total: &mut usize,
) -> Result<KernelEntry, ReadError> {
    let mut entry = KernelEntry::default();
    map(source, first, "a kernel", |source, key, value| {
        match key {
            ".name" | "Name" => entry.name = text(&value).unwrap_or_default(),
            ".symbol" | "SymbolName" => entry.symbol = text(&value).unwrap_or_default(),
            ".args" | "Args" => entry.metadata.arguments = arguments(source, value, total)?,
            // Version 2 keeps these two groups in maps of their own.
            "CodeProps" | "Attrs" => {
                let metadata = &mut entry.metadata;
                map(source, value, "a kernel's properties", |source, key, value| {
                    field(source, metadata, key, value)
                })?;
            }
            _ => field(source, &mut entry.metadata, key, value)?,
        }
        Ok(())
    })?;
    Ok(entry)
}

fn field<'a>(
    source: &mut impl Events<'a>,
    metadata: &mut Metadata,
    key: &str,
    value: Event<'a>,
) -> Result<(), ReadError> {
    let number = || value.number().and_then(|value| u32::try_from(value).ok());
    match key {
        ".vgpr_count" | "NumVGPRs" => metadata.vgprs = number(),
        ".agpr_count" => metadata.agprs = number(),
        ".sgpr_count" | "NumSGPRs" => metadata.sgprs = number(),
        ".vgpr_spill_count" | "NumSpilledVGPRs" => metadata.vgpr_spills = number(),
        ".sgpr_spill_count" | "NumSpilledSGPRs" => metadata.sgpr_spills = number(),
        ".group_segment_fixed_size" | "GroupSegmentFixedSize" => metadata.lds_bytes = number(),
        ".private_segment_fixed_size" | "PrivateSegmentFixedSize" => metadata.scratch_bytes = number(),
        ".kernarg_segment_size" | "KernargSegmentSize" => metadata.kernarg_bytes = number(),
        ".kernarg_segment_align" | "KernargSegmentAlign" => metadata.kernarg_align = number(),
        ".max_flat_workgroup_size" | "MaxFlatWorkGroupSize" => metadata.max_workgroup = number(),
        ".wavefront_size" | "WavefrontSize" => metadata.wavefront_size = number(),
        ".uses_dynamic_stack" | "IsDynamicCallStack" => metadata.dynamic_stack = value.truth(),
        ".uniform_work_group_size" => metadata.uniform_workgroup = value.truth(),
        ".language" | "Language" => metadata.language = text(&value),
        ".kind" => metadata.kind = text(&value),
        ".reqd_workgroup_size" | "ReqdWorkGroupSize" => {
            let mut sizes = Vec::new();
            sequence(source, value, "the required workgroup", |_, value| {
                if sizes.len() < 3 {
                    sizes.extend(value.number().and_then(|value| u32::try_from(value).ok()));
                }
                Ok(())
            })?;
            metadata.required_workgroup = sizes.try_into().ok();
            return Ok(());
        }
        _ => {}
    }
    source.skip(&value)
}

fn arguments<'a, S: Events<'a>>(
    source: &mut S,
    first: Event<'a>,
    total: &mut usize,
) -> Result<Vec<Argument>, ReadError> {
    let mut arguments = Vec::new();
    let mut end = 0u32;
    sequence(source, first, "the list of arguments", |source, value| {
        *total += 1;
        if *total > MOST_ARGUMENTS {
            return Err(ReadError::new(
                source.position(),
                format!("more than {MOST_ARGUMENTS} kernel arguments"),
            ));
        }
        let argument = argument(source, value, end)?;
        end = argument.offset.saturating_add(argument.size);
        arguments.push(argument);
        Ok(())
    })?;
    Ok(arguments)
}

/// Reads one argument; `end` is where the one before it ended.
fn argument<'a>(source: &mut impl Events<'a>, first: Event<'a>, end: u32) -> Result<Argument, ReadError> {
    let mut argument = Argument::default();
    let (mut offset, mut align) = (None, 1u32);
    map(source, first, "an argument", |source, key, value| {
        let number = || value.number().and_then(|value| u32::try_from(value).ok());
        match key {
            ".name" | "Name" => argument.name = text(&value).unwrap_or_default(),
            ".type_name" | "TypeName" => argument.type_name = text(&value).unwrap_or_default(),
            ".offset" => offset = number(),
            ".size" | "Size" => argument.size = number().unwrap_or(0),
            "Align" => align = number().unwrap_or(1).max(1),
            ".value_kind" | "ValueKind" => argument.kind = snake_case(&value),
            ".address_space" | "AddrSpaceQual" => argument.address_space = snake_case(&value),
            ".access" | "AccQual" => argument.access = snake_case(&value),
            ".actual_access" | "ActualAccQual" if argument.access.is_empty() => {
                argument.access = snake_case(&value)
            }
            ".is_const" | "IsConst" => argument.is_const = value.truth().unwrap_or(false),
            ".is_restrict" | "IsRestrict" => argument.is_restrict = value.truth().unwrap_or(false),
            _ => {}
        }
        source.skip(&value)
    })?;
    // Version 2 gives alignments instead of offsets.
    argument.offset = offset.unwrap_or_else(|| end.checked_next_multiple_of(align).unwrap_or(end));
    Ok(argument)
}

fn version<'a>(source: &mut impl Events<'a>, first: Event<'a>) -> Result<Option<(u64, u64)>, ReadError> {
    let mut numbers = [None; 2];
    let mut count = 0;
    sequence(source, first, "the metadata version", |_, value| {
        if let Some(slot) = numbers.get_mut(count) {
            *slot = value.number();
        }
        count += 1;
        Ok(())
    })?;
    Ok(numbers[0].zip(numbers[1]))
}

/// Calls `each` for every pair of a map; `each` consumes the value whose first event it is given.
fn map<'a, S: Events<'a>>(
    source: &mut S,
    first: Event<'a>,
    what: &str,
    mut each: impl FnMut(&mut S, &str, Event<'a>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    if first != Event::Map {
        return Err(not_a(source, what, "map"));
    }
    loop {
        match source.next()? {
            Event::End => return Ok(()),
            Event::Text(key) => {
                let value = source.next()?;
                each(source, &key, value)?;
            }
            other => {
                source.skip(&other)?;
                let value = source.next()?;
                source.skip(&value)?;
            }
        }
    }
}

/// Calls `each` for every element of a sequence; `each` consumes the value whose first event it is given.
fn sequence<'a, S: Events<'a>>(
    source: &mut S,
    first: Event<'a>,
    what: &str,
    mut each: impl FnMut(&mut S, Event<'a>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    if first != Event::Seq {
        return Err(not_a(source, what, "sequence"));
    }
    loop {
        match source.next()? {
            Event::End => return Ok(()),
            value => each(source, value)?,
        }
    }
}

fn not_a<'a>(source: &impl Events<'a>, what: &str, expected: &str) -> ReadError {
    ReadError::new(source.position(), format!("{what} is not a {expected}"))
}

fn text(value: &Event<'_>) -> Option<String> {
    match value {
        Event::Text(text) => Some(text.to_string()),
        _ => None,
    }
}

/// `GlobalBuffer` of version 2 and `global_buffer` of later versions alike.
fn snake_case(value: &Event<'_>) -> String {
    let Event::Text(text) = value else { return String::new() };
    let mut out = String::with_capacity(text.len() + 4);
    for (index, letter) in text.chars().enumerate() {
        if letter.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

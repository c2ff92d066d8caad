//! Little-endian numbers and ranges out of bytes nobody vouches for.
//!
//! Every offset and length is checked here, in 64 bits, before it touches a slice.

use std::ffi::CStr;

use crate::ReadError;

/// A range of the data, or an error that says which part ends where.
pub(crate) fn range<'a>(data: &'a [u8], offset: u64, length: u64, what: &str) -> Result<&'a [u8], ReadError> {
    let end = offset.checked_add(length);
    match end {
        Some(end) if end <= data.len() as u64 => Ok(&data[offset as usize..end as usize]),
        _ => Err(ReadError::new(
            offset,
            format!(
                "{what} needs {length} bytes and only {} are left",
                (data.len() as u64).saturating_sub(offset)
            ),
        )
        .hint("the file is cut short or damaged")),
    }
}

/// A 16-bit number.
pub(crate) fn u16_at(data: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*data.get(offset..)?.first_chunk()?))
}

/// A 32-bit number.
pub(crate) fn u32_at(data: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*data.get(offset..)?.first_chunk()?))
}

/// A 64-bit number.
pub(crate) fn u64_at(data: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*data.get(offset..)?.first_chunk()?))
}

/// Bytes up to the next zero.
pub(crate) fn c_string(data: &[u8], offset: usize) -> Option<&[u8]> {
    Some(CStr::from_bytes_until_nul(data.get(offset..)?).ok()?.to_bytes())
}

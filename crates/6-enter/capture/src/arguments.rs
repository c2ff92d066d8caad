//! Values of the arguments of a launch, as they are laid out in memory.

use codeobj::Argument;
use std::ffi::c_void;

/// Pointers to the values, or a list of keys and values.
pub(crate) type Pointers = *mut *mut c_void;

/// Keys of the list that gives the arguments as one piece of memory.
const BUFFER: usize = 1;
const BUFFER_SIZE: usize = 2;
const END: usize = 3;
/// Largest segment of arguments, bytes.
const MOST: usize = 1 << 16;

/// The values of a launch.
///
/// # Safety
/// `pointers` is null or has a pointer to each argument; `extra` is null or a list that ends with its end key.
pub(crate) unsafe fn values(arguments: &[&Argument], pointers: Pointers, extra: Pointers) -> Option<Vec<u8>> {
    if pointers.is_null() && !extra.is_null() {
        // SAFETY: as the caller says.
        return unsafe { from_list(extra) };
    }
    let mut bytes = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let (start, size) = (argument.offset as usize, argument.size as usize);
        let end = start.checked_add(size).filter(|end| *end <= MOST && !pointers.is_null())?;
        // SAFETY: one pointer for each argument.
        let value = unsafe { pointers.add(index).read_unaligned() }.cast::<u8>();
        if value.is_null() {
            return None;
        }
        bytes.resize(end.max(bytes.len()), 0);
        // SAFETY: the program's value has the size that its kernel says.
        unsafe { std::ptr::copy_nonoverlapping(value, bytes[start..].as_mut_ptr(), size) };
    }
    Some(bytes)
}

/// # Safety
/// `extra` is a list of keys and values that ends with its end key.
unsafe fn from_list(extra: Pointers) -> Option<Vec<u8>> {
    let (mut start, mut size) = (std::ptr::null_mut::<c_void>(), 0);
    for at in (0..8).step_by(2) {
        // SAFETY: the list has not ended yet.
        let key = unsafe { extra.add(at).read_unaligned() }.addr();
        if key == END {
            break;
        }
        // SAFETY: a key other than the end has a value.
        let value = unsafe { extra.add(at + 1).read_unaligned() };
        match key {
            BUFFER => start = value,
            // SAFETY: the value of this key leads to a size.
            BUFFER_SIZE => size = unsafe { value.cast::<usize>().read_unaligned() },
            _ => return None,
        }
    }
    if size > MOST || start.is_null() {
        return None;
    }
    let mut bytes = vec![0; size];
    // SAFETY: the program gives a buffer of that size.
    unsafe { std::ptr::copy_nonoverlapping(start.cast::<u8>(), bytes.as_mut_ptr(), size) };
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_behind_pointers_and_in_lists() {
        let argument = |offset, size| Argument { offset, size, ..Argument::default() };
        let (a, b) = (argument(0, 8), argument(12, 4));
        let (mut first, mut second) = (7u64, 9u32);
        let mut pointers = [(&raw mut first).cast::<c_void>(), (&raw mut second).cast()];
        let expected = [&7u64.to_le_bytes()[..], &[0; 4], &9u32.to_le_bytes()].concat();
        // SAFETY: both arguments have their pointers.
        let found = unsafe { values(&[&a, &b], pointers.as_mut_ptr(), std::ptr::null_mut()) };
        assert_eq!(found, Some(expected.clone()));
        let (mut buffer, mut size) = (expected.clone(), expected.len());
        let key = |key: usize| std::ptr::without_provenance_mut::<c_void>(key);
        let mut list =
            [key(BUFFER), buffer.as_mut_ptr().cast(), key(BUFFER_SIZE), (&raw mut size).cast(), key(END)];
        // SAFETY: the list has its end.
        let found = unsafe { values(&[&a, &b], std::ptr::null_mut(), list.as_mut_ptr()) };
        assert_eq!(found, Some(expected));
        // SAFETY: null is allowed.
        let found = unsafe { values(&[&a], std::ptr::null_mut(), std::ptr::null_mut()) };
        assert_eq!(found, None);
    }
}

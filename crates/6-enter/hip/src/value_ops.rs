//! Values that streams write and wait for.

use crate::codes::Code;
use crate::message::say_once;
use crate::runtime::Runtime;
use crate::work::ValueOp;
use std::ptr::with_exposed_provenance_mut as pointer;

/// Whether a stream that waits for a value goes on.
pub(crate) fn arrived(value: u64, wanted: u64, flags: u32, mask: u64) -> Result<bool, Code> {
    let value = value & mask;
    match flags {
        0 => Ok(value >= wanted),
        1 => Ok(value == wanted),
        2 => Ok(value & wanted != 0),
        3 => Ok(!(value | wanted) & mask != 0),
        _ => Err(Code::hipErrorInvalidValue),
    }
}

impl ValueOp {
    /// Writes the value, or checks that it is there: streams do their work at once, so one that is not can only come from
    /// work after this call.
    pub(crate) fn perform(&self, runtime: &mut Runtime) -> Result<(), Code> {
        let ValueOp { address, bytes, value, wait } = *self;
        if address == 0 {
            return Err(Code::hipErrorInvalidValue);
        }
        let what = if wait.is_some() { "wait for a value at" } else { "write of a value at" };
        runtime.allocations.check(what, address, bytes)?;
        let place = pointer::<u8>(runtime.allocations.host(address));
        // SAFETY: inside an allocation as just checked, or memory the program vouches for.
        let found = unsafe {
            match (wait, bytes) {
                (None, 4) => {
                    place.cast::<u32>().write_unaligned(value as u32);
                    return Ok(());
                }
                (None, _) => {
                    place.cast::<u64>().write_unaligned(value);
                    return Ok(());
                }
                (Some(_), 4) => u64::from(place.cast::<u32>().read_unaligned()),
                (Some(_), _) => place.cast::<u64>().read_unaligned(),
            }
        };
        let (flags, mask) = wait.unwrap_or_default();
        if arrived(found, value, flags, mask)? {
            return Ok(());
        }
        say_once(
            "hipStreamWaitValue waits for a value that comes later, which is not supported: streams do their work at once",
        );
        Err(Code::hipErrorNotSupported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_end_as_the_header_says() {
        for (value, wanted, flags, mask, expected) in [
            (5, 5, 0, u64::MAX, Ok(true)),
            (4, 5, 0, u64::MAX, Ok(false)),
            (0x105, 5, 1, 0xff, Ok(true)),
            (6, 2, 2, u64::MAX, Ok(true)),
            (4, 2, 2, u64::MAX, Ok(false)),
            (0xff, 0, 3, 0xff, Ok(false)),
            (0xf0, 0, 3, 0xff, Ok(true)),
            (0, 0, 4, 0, Err(Code::hipErrorInvalidValue)),
        ] {
            assert_eq!(arrived(value, wanted, flags, mask), expected, "{value} {wanted} {flags}");
        }
    }
}

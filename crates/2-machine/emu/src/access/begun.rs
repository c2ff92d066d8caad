//! Buffer accesses of which a lane reaches only the first dwords.
//!
//! The range check looks at each dword of a load or store alone; LLVM's guide of the AMDGPU backend says so.

use super::range::{locate, put_shared, shared_word};
use crate::fault::Stop;
use crate::lanes::{Row, active};
use crate::machine::Machine;

/// Loads the dwords in range of lanes whose buffer access ends behind the range.
#[cold]
#[inline(never)]
pub(super) fn load_begun(machine: &mut Machine<'_>, out: &mut [Row]) -> Result<(), Box<Stop>> {
    let Machine { addresses, memory, hint, begun, .. } = machine;
    for lane in active(begun.lanes) {
        for (row, number) in out.iter_mut().zip(0..begun.dwords[lane]) {
            let address = addresses[0][lane] + 4 * u64::from(number);
            let (range, start) = locate(memory, hint, address, 4, lane, "load")?;
            row.0[lane] = shared_word(range, start, 4);
        }
    }
    Ok(())
}

/// Stores the dwords in range of lanes whose buffer access ends behind the range.
#[cold]
#[inline(never)]
pub(super) fn store_begun(machine: &mut Machine<'_>, rows: &[Row]) -> Result<(), Box<Stop>> {
    let Machine { addresses, memory, hint, begun, .. } = machine;
    for lane in active(begun.lanes) {
        for (row, number) in rows.iter().zip(0..begun.dwords[lane]) {
            let address = addresses[0][lane] + 4 * u64::from(number);
            let (range, start) = locate(memory, hint, address, 4, lane, "store")?;
            put_shared(range, start, 4, row.0[lane]);
        }
    }
    Ok(())
}

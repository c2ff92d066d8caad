//! Memory in which kernels find their arguments and their dispatch packet.
//!
//! A launch has done everything when it returns, so two rings of memory serve all launches, as the queue and
//! the pool of arguments of a real runtime do; nothing is allocated for a launch.

use crate::codes::Code;
use crate::memory::{Allocations, Kind};

/// Bytes of a ring.
const BYTES: usize = 1 << 20;
/// Alignment of places: no line has parts of two.
const STEP: usize = 256;

/// Memory that is given out from the beginning again when its end is reached.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    base: Option<usize>,
    used: usize,
}

impl Ring {
    /// First address; 0 while there is none.
    pub(crate) fn base(&self) -> u64 {
        self.base.unwrap_or_default() as u64
    }

    /// A place with these contents.
    pub(crate) fn place(&mut self, bytes: &[u8], allocations: &mut Allocations) -> Result<u64, Code> {
        let base = match self.base {
            Some(base) => base,
            None => allocations.allocate(Kind::Internal, BYTES, 0, usize::MAX)?,
        };
        self.base = Some(base);
        if bytes.len() > BYTES {
            return Err(Code::hipErrorInvalidValue);
        }
        if self.used + bytes.len() > BYTES {
            self.used = 0;
        }
        let place = (base + self.used) as u64;
        self.used = (self.used + bytes.len()).next_multiple_of(STEP);
        allocations.emulated.write(place, bytes);
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_each_other_and_begin_again() {
        let mut allocations = Allocations::default();
        let mut ring = Ring::default();
        let mut place = |bytes: &[u8]| {
            let place = ring.place(bytes, &mut allocations).unwrap();
            assert_eq!(allocations.emulated.read(place, bytes.len()).unwrap(), bytes);
            place
        };
        let first = place(&[1; 8]);
        assert_eq!([place(&[2; 300]), place(&[3; 64])].map(|it| it - first), [256, 768]);
        let rest = (BYTES as u64 - 1024) / 65_536;
        let last = (0..rest).map(|_| place(&[4; 65_536])).last().unwrap() - first;
        assert!(last + 2 * 65_536 > BYTES as u64);
        assert_eq!(place(&[5; 65_536]), first);
        assert_eq!(
            Ring::default().place(&vec![0; BYTES + 1], &mut allocations),
            Err(Code::hipErrorInvalidValue)
        );
    }
}

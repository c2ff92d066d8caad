//! Buffer of `printf` that the host reads when the kernel has ended (`-mprintf-kind=buffered`).
//!
//! The one idea to keep in mind: device code appends records: a control word (stream, constant text or not,
//! length), the text or its number in the code object's metadata, the arguments.

use crate::host::Stream;
use crate::memory::Memory;
use crate::printf::printf;
use std::collections::BTreeMap;

/// Bytes before the records: bytes used, bytes available.
const START: u64 = 8;

/// A buffer in memory.
#[derive(Clone, Copy, Debug)]
pub struct PrintBuffer {
    base: u64,
    bytes: u32,
}

impl PrintBuffer {
    /// Initialises an empty buffer at an address; `None` if its bytes are not in memory.
    pub fn new(memory: &Memory, base: u64, bytes: u32) -> Option<PrintBuffer> {
        let room = bytes.checked_sub(START as u32)?;
        memory.locate(base, u64::from(bytes))?;
        memory.write(base, &(u64::from(room) << 32).to_le_bytes())?;
        Some(PrintBuffer { base, bytes })
    }

    /// Prints all records and empties the buffer; true if output may be lost because the buffer was full.
    /// `formats` are the texts of the code object's metadata.
    pub fn print(&self, memory: &Memory, formats: &[String], mut print: impl FnMut(Stream, &[u8])) -> bool {
        let texts: BTreeMap<u64, &str> = formats.iter().filter_map(|it| format(it)).collect();
        let used = memory.read(self.base, 4).and_then(|it| Some(u32::from_le_bytes(*it.first_chunk()?)));
        let used = used.unwrap_or(0).min(self.bytes - START as u32);
        let records = memory.read(self.base + START, used as usize).unwrap_or_default();
        let mut rest = records.as_slice();
        while let Some((control, _)) = rest.split_first_chunk() {
            let control = u32::from_le_bytes(*control);
            let length = (control >> 2) as usize;
            let Some(record) = rest.get(4..length) else { break };
            rest = &rest[length..];
            let stream = if control & 1 == 0 { Stream::Out } else { Stream::Error };
            let words = |bytes: &[u8]| {
                bytes.as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect::<Vec<_>>()
            };
            let mut message = words(record);
            if control & 2 != 0 {
                let Some(text) = message.first().and_then(|number| texts.get(number)) else { continue };
                let mut bytes = text.as_bytes().to_vec();
                bytes.resize((bytes.len() + 1).next_multiple_of(8), 0);
                message.splice(0..1, words(&bytes));
            }
            print(stream, &printf(&message));
        }
        let _ = memory.write(self.base, &[0; 4]);
        self.bytes - START as u32 - used < 64
    }
}

/// Number and text of an entry `0:0:NUMBER,TEXT`.
fn format(entry: &str) -> Option<(u64, &str)> {
    let (number, text) = entry.splitn(3, ':').nth(2)?.split_once(',')?;
    Some((u64::from_str_radix(number, 16).ok()?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_printed_in_order() {
        let mut memory = Memory::new();
        let base = memory.allocate("buffer", 256);
        let buffer = PrintBuffer::new(&memory, base, 256).unwrap();
        let constant =
            [(20u32 << 2 | 2).to_le_bytes().as_slice(), &0xabcdu64.to_le_bytes(), &5u64.to_le_bytes()]
                .concat();
        let own = [(20u32 << 2 | 1).to_le_bytes().as_slice(), b"own %d\n\0", &6u64.to_le_bytes()].concat();
        let unknown = [(12u32 << 2 | 2).to_le_bytes().as_slice(), &7u64.to_le_bytes()].concat();
        let cut = (400u32 << 2).to_le_bytes();
        let records = [constant, own, unknown, cut.to_vec()].concat();
        memory.write(base, &(records.len() as u32).to_le_bytes()).unwrap();
        memory.write(base + 8, &records).unwrap();
        let mut printed = Vec::new();
        let formats = ["0:0:abcd,constant, %d:%%\n".to_string(), "nonsense".to_string()];
        let full = buffer.print(&memory, &formats, |stream, text| printed.push((stream, text.to_vec())));
        assert!(!full);
        assert_eq!(
            printed,
            [(Stream::Out, b"constant, 5:%\n".to_vec()), (Stream::Error, b"own 6\n".to_vec())]
        );
        assert!(!buffer.print(&memory, &formats, |_, _| panic!("it is empty")));
        memory.write(base, &230u32.to_le_bytes()).unwrap();
        assert!(buffer.print(&memory, &formats, |_, _| {}));
    }
}

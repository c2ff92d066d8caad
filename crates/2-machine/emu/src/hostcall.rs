//! Buffer through which device code calls the host: `printf`, `assert`, memory.
//!
//! The one idea to keep in mind: a request is a packet with a slot per lane; packets wait on a stack in memory.
//! The buffer's last word is a mask in newer device libraries and a number of bits in older ones. A value whose
//! low six bits are all set serves both, because shifts use six bits only.

use crate::host::{Host, Services, Stream};
use crate::memory::Memory;
use crate::printf::printf;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Fewest packets, so that the low six bits of the last word are all set.
const FEWEST: u32 = 64;

/// Offsets in the buffer.
mod at {
    pub(super) const HEADERS: u64 = 0;
    pub(super) const PAYLOADS: u64 = 8;
    pub(super) const DOORBELL: u64 = 16;
    pub(super) const FREE: u64 = 24;
    pub(super) const READY: u64 = 32;
    pub(super) const INDEX: u64 = 40;
    /// The doorbell: a signal whose mailbox device code writes before it interrupts the host.
    pub(super) const SIGNAL: u64 = 64;
    pub(super) const MAILBOX_OF_SIGNAL: u64 = SIGNAL + 16;
    pub(super) const MAILBOX: u64 = 128;
    /// End of the fixed part; headers follow, then payloads.
    pub(super) const END: u64 = 192;
}

/// Bytes of a packet's header: next packet, active lanes, service, control.
const HEADER: u64 = 24;
/// Bytes of a lane's slot.
const SLOT: u64 = 64;
/// Bytes of a packet's payload.
const PAYLOAD: u64 = 64 * SLOT;

/// Service numbers.
mod service {
    pub(super) const PRINTF: u32 = 2;
    pub(super) const MEMORY: u32 = 3;
}

/// Most words of a message; a longer one is an error.
const MOST_WORDS: usize = 1 << 20;

/// A hostcall buffer and the services behind it.
pub struct Hostcall<'a> {
    base: u64,
    packets: u32,
    services: &'a dyn Services,
    messages: Mutex<Messages>,
}

/// Messages in progress: a text longer than a slot arrives in pieces.
#[derive(Default)]
struct Messages {
    open: BTreeMap<u64, Vec<u64>>,
}

impl fmt::Debug for Hostcall<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Hostcall").field("base", &self.base).field("packets", &self.packets).finish()
    }
}

impl<'a> Hostcall<'a> {
    /// Packets for `waves` waves that may call at the same time.
    pub fn packets(waves: u32) -> u32 {
        waves.max(FEWEST).checked_next_power_of_two().unwrap_or(1 << 31)
    }

    /// Bytes of a buffer with `packets` packets.
    pub fn bytes(packets: u32) -> u64 {
        at::END + u64::from(packets) * (HEADER + PAYLOAD)
    }

    /// Initialises a buffer at an address; `None` if its bytes are not in one range of memory.
    pub fn new(memory: &Memory, base: u64, packets: u32, services: &'a dyn Services) -> Option<Hostcall<'a>> {
        memory.locate(base, Self::bytes(packets))?;
        let hostcall = Hostcall { base, packets, services, messages: Mutex::default() };
        let word = |offset: u64, value: u64| memory.write(base + offset, &value.to_le_bytes());
        word(at::HEADERS, hostcall.header(0))?;
        word(at::PAYLOADS, hostcall.payload(0))?;
        word(at::DOORBELL, base + at::SIGNAL)?;
        word(at::MAILBOX_OF_SIGNAL, base + at::MAILBOX)?;
        word(at::INDEX, u64::from(packets) - 1)?;
        // 0 ends the stack, so no packet's number may be 0: the first one has a bit that no index reaches.
        let mut next = 1 << 63;
        word(at::END, 0)?;
        for index in 1..packets {
            memory.write(hostcall.header(index), &u64::to_le_bytes(next))?;
            next = u64::from(index);
        }
        word(at::FREE, next)?;
        word(at::READY, 0)?;
        Some(hostcall)
    }

    /// Address for the hidden argument.
    pub fn address(&self) -> u64 {
        self.base
    }

    fn header(&self, index: u32) -> u64 {
        self.base + at::END + u64::from(index) * HEADER
    }

    fn payload(&self, index: u32) -> u64 {
        self.header(self.packets) + u64::from(index) * PAYLOAD
    }

    /// Answers the request of one lane; the answer replaces the first two words of its slot.
    fn lane(&self, memory: &Memory, service: u32, slot: u64) -> Result<(), String> {
        let words: Vec<u64> = words(memory, slot, 8)?;
        let answer = match service {
            service::PRINTF => self.message(&words)?,
            service::MEMORY if words[0] != 0 => {
                self.services.free(words[0]);
                0
            }
            service::MEMORY => self.services.allocate(words[1]).unwrap_or(0),
            other => return Err(format!("there is no service {other}")),
        };
        memory.write(slot, &answer.to_le_bytes()).ok_or_else(damaged)
    }

    /// Adds a piece of a message. In its first word bit 0 begins a message, bit 1 ends it, bits 5 to 7 are the
    /// number of words, and the higher bits are the message's number.
    fn message(&self, words: &[u64]) -> Result<u64, String> {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let first = words[0];
        let id = match first & 1 {
            0 => first >> 8,
            _ => (0..).find(|id| !messages.open.contains_key(id)).unwrap_or(0),
        };
        if first & 1 != 0 {
            messages.open.insert(id, Vec::new());
        }
        let message = messages.open.get_mut(&id).ok_or("a message goes on that never began")?;
        message.extend(&words[1..=(first >> 5 & 7) as usize]);
        if message.len() > MOST_WORDS {
            return Err("a message does not end".into());
        }
        if first & 2 == 0 {
            return Ok(first & 0xfe | id << 8);
        }
        let message = messages.open.remove(&id).unwrap_or_default();
        drop(messages);
        let Some((control, rest)) = message.split_first().filter(|(control, _)| **control < 2) else {
            return Ok(u64::MAX);
        };
        let text = printf(rest);
        self.services.print(if *control == 0 { Stream::Out } else { Stream::Error }, &text);
        Ok(text.len() as u64)
    }
}

impl Host for Hostcall<'_> {
    fn interrupt(&self, memory: &Memory) -> Result<(), String> {
        let (ready, place) = memory.locate(self.base + at::READY, 8).ok_or_else(damaged)?;
        let mut next = ready.update_u64(place, |_| 0).ok_or_else(damaged)?;
        let mut answered = 0;
        while next != 0 {
            answered += 1;
            if answered > self.packets {
                return Err(damaged());
            }
            let index = (next & u64::from(self.packets - 1)) as u32;
            let header = self.header(index);
            let [follows, lanes, last] = words(memory, header, 3)?.try_into().map_err(|_| damaged())?;
            for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
                self.lane(memory, last as u32, self.payload(index) + lane * SLOT)?;
            }
            // Control is the upper half; its lowest bit is set while the packet waits for an answer.
            memory.write(header + 20, &((last >> 32) as u32 & !1).to_le_bytes()).ok_or_else(damaged)?;
            next = follows;
        }
        Ok(())
    }
}

fn words(memory: &Memory, address: u64, count: usize) -> Result<Vec<u64>, String> {
    let bytes = memory.read(address, count * 8).ok_or_else(damaged)?;
    Ok(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

fn damaged() -> String {
    "the buffer of requests is damaged".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Printed(Mutex<Vec<(Stream, String)>>);

    impl Services for Printed {
        fn print(&self, stream: Stream, text: &[u8]) {
            self.0.lock().unwrap().push((stream, String::from_utf8_lossy(text).into_owned()));
        }

        fn allocate(&self, bytes: u64) -> Option<u64> {
            (bytes < 100).then_some(bytes * 16)
        }

        fn free(&self, _: u64) {}
    }

    /// Calls as the device library does: takes a packet, fills it, submits it, reads the answers, returns the
    /// packet.
    fn call(
        memory: &Memory,
        host: &Hostcall<'_>,
        service: u32,
        lanes: u64,
        slots: &[(u64, [u64; 8])],
    ) -> Result<Vec<u64>, String> {
        let word = |address: u64| words(memory, address, 1).unwrap()[0];
        let put = |address: u64, value: u64| memory.write(address, &value.to_le_bytes()).unwrap();
        let base = host.address();
        let packet = word(base + at::FREE);
        let index = packet & word(base + at::INDEX);
        let header = word(base + at::HEADERS) + index * HEADER;
        let payload = word(base + at::PAYLOADS) + index * PAYLOAD;
        put(base + at::FREE, word(header));
        put(header + 8, lanes);
        put(header + 16, u64::from(service) | 1 << 32);
        for (lane, slot) in slots {
            for (number, value) in slot.iter().enumerate() {
                put(payload + lane * SLOT + number as u64 * 8, *value);
            }
        }
        put(header, word(base + at::READY));
        put(base + at::READY, packet);
        host.interrupt(memory)?;
        assert_eq!((word(header + 16) >> 32, word(base + at::READY)), (0, 0), "answered");
        let answers = slots.iter().map(|(lane, _)| word(payload + lane * SLOT)).collect();
        put(header, word(base + at::FREE));
        put(base + at::FREE, packet + word(base + at::INDEX) + 1);
        Ok(answers)
    }

    fn text(text: &str) -> u64 {
        let mut bytes = [0; 8];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        u64::from_le_bytes(bytes)
    }

    fn with(check: impl Fn(&Memory, &Hostcall<'_>, &Printed)) {
        let mut memory = Memory::new();
        let packets = Hostcall::packets(5);
        assert_eq!(packets, 64);
        let base = memory.allocate("calls", Hostcall::bytes(packets) as usize);
        let printed = Printed(Mutex::default());
        let host = Hostcall::new(&memory, base, packets, &printed).unwrap();
        check(&memory, &host, &printed);
    }

    #[test]
    fn lanes_print_in_their_order_and_get_the_length() {
        with(|memory, host, printed| {
            for _ in 0..200 {
                let begin = [1 | 1 << 5, 0, 0, 0, 0, 0, 0, 0];
                let ids = call(memory, host, 2, 0b101, &[(0, begin), (2, begin)]).unwrap();
                assert_ne!(ids[0], ids[1]);
                let rest =
                    |id: u64, value: u64| [id & !0xff | 2 | 2 << 5, text("<%d>"), value, 0, 0, 0, 0, 0];
                let counts =
                    call(memory, host, 2, 0b101, &[(0, rest(ids[0], 7)), (2, rest(ids[1], 1234))]).unwrap();
                assert_eq!(counts, [3, 6]);
            }
            let all = printed.0.lock().unwrap();
            assert_eq!(all.len(), 400);
            assert_eq!(all[398..], [(Stream::Out, "<7>".to_string()), (Stream::Out, "<1234>".to_string())]);
        });
    }

    #[test]
    fn one_piece_messages_errors_and_memory() {
        with(|memory, host, printed| {
            let all = [3 | 2 << 5, 1, text("oh"), 0, 0, 0, 0, 0];
            assert_eq!(call(memory, host, 2, 1, &[(0, all)]).unwrap(), [2]);
            assert_eq!(printed.0.lock().unwrap()[0], (Stream::Error, "oh".to_string()));
            let odd = [3 | 2 << 5, 6, text("oh"), 0, 0, 0, 0, 0];
            assert_eq!(call(memory, host, 2, 1, &[(0, odd)]).unwrap(), [u64::MAX]);
            assert_eq!(call(memory, host, 3, 1 << 63, &[(63, [0, 3, 0, 0, 0, 0, 0, 0])]).unwrap(), [48]);
            assert_eq!(call(memory, host, 3, 1 << 63, &[(63, [0, 300, 0, 0, 0, 0, 0, 0])]).unwrap(), [0]);
            assert!(call(memory, host, 9, 1, &[(0, all)]).unwrap_err().contains("no service 9"));
            let stray = [2 | 77 << 8, 0, 0, 0, 0, 0, 0, 0];
            assert!(call(memory, host, 2, 1, &[(0, stray)]).unwrap_err().contains("never began"));
        });
    }

    #[test]
    fn a_stack_that_runs_in_circles_is_an_error() {
        with(|memory, host, _| {
            memory.write(host.header(5), &5u64.to_le_bytes()).unwrap();
            memory.write(host.address() + at::READY, &5u64.to_le_bytes()).unwrap();
            assert!(host.interrupt(memory).is_err());
        });
    }
}

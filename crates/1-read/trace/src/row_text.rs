//! Texts in rows of rocprof v1 that its JSON, databases and tables have in common.

use crate::timeline::Timeline;
use view::{NoteKind, thousands_of};

/// A kernel's name without the words that rocprof v1 adds.
pub(crate) fn plain(name: &str) -> &str {
    let name = name.trim().trim_end_matches(" [clone .kd]");
    name.trim_end_matches(".kd")
}

/// Whether a dispatch is a packet by which queues wait, and no kernel.
pub(crate) fn is_barrier(name: &str) -> bool {
    name == "<barrier packet>"
}

/// Says how many barriers were left out.
pub(crate) fn note_barriers(timeline: &mut Timeline, barriers: u64) {
    if barriers > 0 {
        let text = format!("{} are no kernels and are left out", thousands_of(barriers, "barrier packet"));
        timeline.problem(NoteKind::Info, text);
    }
}

/// Bytes of a copy in the arguments of its call: `sizeBytes(4096)`.
pub(crate) fn bytes(arguments: &[u8]) -> Option<u64> {
    const SIZE: &[u8] = b"sizeBytes(";
    let at = memchr::memmem::find(arguments, SIZE)? + SIZE.len();
    let rest = arguments.get(at..)?;
    let end = rest.iter().position(|byte| *byte == b')')?;
    std::str::from_utf8(rest.get(..end)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_a_call() {
        for (text, want) in [
            ("( dst(0x1) src(0x2) sizeBytes(4096) kind(1))", Some(4096)),
            ("( sizeBytes(x))", None),
            ("sizeBytes(12", None),
            ("", None),
        ] {
            assert_eq!(bytes(text.as_bytes()), want, "{text}");
        }
    }
}

//! Metadata as a flat stream of events, whatever its notation.
//!
//! No tree is ever built, so a note of a few bytes that claims four billion elements costs nothing.

use std::borrow::Cow;

use crate::ReadError;

/// Next event of the metadata.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Event<'a> {
    /// A map begins: keys and values alternate until [`Event::End`].
    Map,
    /// A sequence begins.
    Seq,
    /// The innermost map or sequence ends.
    End,
    /// Text, or a plain YAML scalar.
    Text(Cow<'a, str>),
    /// A whole number.
    Int(u64),
    /// True or false.
    Bool(bool),
    /// A value this metadata has no use for.
    Other,
}

/// A notation that yields events.
pub(crate) trait Events<'a> {
    /// The next event; asking on after the outermost value has ended is an error.
    fn next(&mut self) -> Result<Event<'a>, ReadError>;

    /// Position of the stream, for messages.
    fn position(&self) -> u64;

    /// Passes over the rest of a value whose first event is `first`.
    fn skip(&mut self, first: &Event<'a>) -> Result<(), ReadError> {
        let mut depth = u32::from(matches!(first, Event::Map | Event::Seq));
        while depth > 0 {
            match self.next()? {
                Event::Map | Event::Seq => depth += 1,
                Event::End => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }
}

impl Event<'_> {
    /// A number, also where YAML wrote it as text.
    pub(crate) fn number(&self) -> Option<u64> {
        match self {
            Event::Int(value) => Some(*value),
            Event::Text(text) => match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok(),
                None => text.parse().ok(),
            },
            Event::Bool(value) => Some(u64::from(*value)),
            _ => None,
        }
    }

    /// A truth value, also where it is written as text or number.
    pub(crate) fn truth(&self) -> Option<bool> {
        match self {
            Event::Bool(value) => Some(*value),
            Event::Int(value) => Some(*value != 0),
            Event::Text(text) => match text.as_ref() {
                "true" | "True" | "1" => Some(true),
                "false" | "False" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        }
    }
}

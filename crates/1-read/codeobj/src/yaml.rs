//! YAML, as assembly text and code-object version 2 write their metadata.
//!
//! Aliases are refused, so that a short text cannot unfold into a long one.

use saphyr_parser::{Event as Parsed, Parser, StrInput};

use crate::ReadError;
use crate::events::{Event, Events};

/// Deepest nesting of a valid text; real texts need five levels.
const DEEPEST: u32 = 32;

pub(crate) struct Yaml<'a> {
    parser: Parser<'a, StrInput<'a>>,
    position: u64,
    base: u64,
    depth: u32,
}

impl<'a> Yaml<'a> {
    /// Reads `text`, which begins `base` bytes into the input.
    pub(crate) fn new(text: &'a str, base: u64) -> Self {
        Self { parser: Parser::new_from_str(text), position: base, base, depth: 0 }
    }
}

impl<'a> Events<'a> for Yaml<'a> {
    fn next(&mut self) -> Result<Event<'a>, ReadError> {
        loop {
            let (event, span) = match self.parser.next_event() {
                None => return Err(ReadError::new(self.position, "metadata ends too early")),
                Some(Err(error)) => {
                    let position = self.base.saturating_add(error.marker().index() as u64);
                    return Err(ReadError::new(position, format!("metadata is no YAML: {}", error.info())));
                }
                Some(Ok(parsed)) => parsed,
            };
            self.position = self.base.saturating_add(span.start.index() as u64);
            if matches!(event, Parsed::MappingStart(..) | Parsed::SequenceStart(..)) {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(ReadError::new(
                        self.position,
                        format!("metadata nested deeper than {DEEPEST} levels"),
                    ));
                }
            }
            return Ok(match event {
                Parsed::MappingStart(..) => Event::Map,
                Parsed::SequenceStart(..) => Event::Seq,
                Parsed::MappingEnd | Parsed::SequenceEnd => {
                    self.depth -= 1;
                    Event::End
                }
                Parsed::Scalar(text, ..) => Event::Text(text),
                Parsed::Alias(_) => {
                    return Err(ReadError::new(self.position, "an alias in the metadata")
                        .hint("compilers write metadata without aliases"));
                }
                Parsed::StreamEnd => return Err(ReadError::new(self.position, "metadata ends too early")),
                Parsed::Nothing | Parsed::StreamStart | Parsed::DocumentStart(_) | Parsed::DocumentEnd => {
                    continue;
                }
            });
        }
    }

    fn position(&self) -> u64 {
        self.position
    }
}

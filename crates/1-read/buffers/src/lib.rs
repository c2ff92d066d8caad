//! Contents of GPU buffers: bytes as numbers and back, initial contents, comparisons, words that point somewhere.
//!
//! These loops run once per element of buffers with millions of them, so this crate is optimised where the files and requests
//! around it are not. Nothing here is generic over a caller's code, which would be compiled with the caller.
//!
//! ```
//! use rockhound_buffers::{Element, Fill, compare};
//!
//! let element = Element::by_name("f32").unwrap();
//! let bytes = Fill::Arange.bytes(element, 4);
//! assert_eq!(element.numbers(&bytes), [0.0, 1.0, 2.0, 3.0]);
//! assert_eq!(compare(&[1.0, 2.0], &[1.0, 2.5], Some(0.1), 0.0).wrong, 1);
//! ```

mod compared;
mod differences;
mod element;
mod fill;
mod varied;
mod words;

pub use compared::{Tally, compare, first_different, first_kept};
pub use differences::{Differences, differences};
pub use element::Element;
pub use fill::Fill;
pub use varied::{Fixed, Variation, varied};
pub use words::words_within;

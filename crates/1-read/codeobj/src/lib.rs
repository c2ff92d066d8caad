//! Code objects: ELF, offload bundles, kernel descriptors, metadata, line tables, assembly files.
//!
//! The one idea to keep in mind: bytes in, values out; a file is only ever trusted as far as it was checked.

mod model;

pub use model::*;

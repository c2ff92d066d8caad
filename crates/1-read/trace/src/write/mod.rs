//! Timelines written in formats that viewers take: Chrome trace events and Perfetto.

mod chrome;
mod perfetto;

pub use chrome::chrome;
pub use perfetto::perfetto;

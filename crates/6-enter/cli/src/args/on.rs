//! GPU or emulator.

use clap::ValueEnum;
use host::run::Place;

/// GPU or emulator for a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum On {
    /// On a GPU if one can be used.
    Auto,
    /// On the GPU of this machine.
    Gpu,
    /// On an emulated GPU.
    Emulator,
}

impl From<On> for Place {
    fn from(on: On) -> Place {
        match on {
            On::Auto => Place::Auto,
            On::Gpu => Place::Gpu,
            On::Emulator => Place::Emulator,
        }
    }
}

//! GPU or emulator.

use clap::ValueEnum;

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

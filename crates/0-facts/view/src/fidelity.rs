//! Assumptions behind the results and times of a run on an emulated GPU.

use serde::Serialize;

/// Version of the JSON written by `run --report`.
pub const FIDELITY_SCHEMA: &str = "rockhound.fidelity/1";

/// The report of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fidelity {
    /// [`FIDELITY_SCHEMA`].
    pub schema: &'static str,
    /// Version of the program that emulated.
    pub rockhound: String,
    /// The emulated GPU.
    pub gpu: String,
    /// The program and its arguments.
    pub program: Vec<String>,
    /// Its exit code; 128 and the signal's number if a signal ended it.
    pub exit_code: u8,
    /// It called the HIP runtime, or imported torch or Triton.
    pub emulated: bool,
    /// Functions of libraries that kernels of Rockhound answered.
    pub stood_in: Vec<String>,
    /// Functions that returned that they are not supported.
    pub not_supported: Vec<NotSupported>,
    /// Times that the program saw: modelled, or the emulation's.
    pub times: Vec<String>,
    /// Instructions of kernels that ran whose results may have other bits than the hardware's.
    pub approximated: Vec<Approximated>,
    /// Accesses that the emulated GPU drops as hardware does, which are often mistakes of compilers.
    pub dropped_accesses: Vec<String>,
    /// Findings of `--check`, each once.
    pub mistakes: Vec<String>,
    /// Messages of kernels that were stopped.
    pub stopped: Vec<String>,
}

/// A function that did not do what it was called for.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotSupported {
    /// Its name.
    pub function: String,
    /// The reason.
    pub why: String,
}

/// Instructions of one opcode in a kernel that ran.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approximated {
    /// The kernel.
    pub kernel: String,
    /// Mnemonic of the instructions.
    pub opcode: String,
    /// Instructions in the code of the kernel, run or not.
    pub instructions: u64,
    /// Error of the hardware at most, as its documents say.
    pub bound: String,
    /// What the emulator does.
    pub emulated: String,
}

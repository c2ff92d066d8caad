//! Messages between the Python side and the search: lines of JSON.

use super::super::evaluation::Failure;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::path::PathBuf;

/// A message of the Python side.
#[derive(Debug, Deserialize)]
#[serde(tag = "say", rename_all = "snake_case")]
pub(super) enum Said {
    /// An autotuned kernel is called with a new key.
    Begin(Box<Begin>),
    /// It asks for the next configuration.
    Ask { study: usize },
    /// A result.
    Tell {
        study: usize,
        id: u64,
        #[serde(default)]
        us: Option<f64>,
        #[serde(default)]
        failed: Option<SaidFailure>,
        #[serde(default)]
        build_s: f64,
        #[serde(default)]
        run_s: f64,
    },
    /// The search has ended: which to check.
    Candidates { study: usize },
    /// Buffers and mistakes of a checked run.
    Checked {
        study: usize,
        id: u64,
        buffers: Vec<SaidBuffer>,
        mistakes: Vec<String>,
        failed: Option<SaidFailure>,
    },
    /// The program goes on with the winner.
    End { study: usize, cache: Option<SaidCache> },
}

/// Names and values of a configuration, in the program's order.
pub(super) type Values = Vec<(String, Json)>;

/// Facts of an autotuned kernel.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Begin {
    pub(super) kernel: String,
    /// Names and values of the key.
    pub(super) key: Vec<(String, String)>,
    /// Types of its tensors.
    pub(super) types: Vec<(String, String)>,
    /// Bytes of their elements.
    pub(super) bytes: Vec<u64>,
    pub(super) file: PathBuf,
    pub(super) line: u32,
    /// Triton's hash of the kernel and what it calls.
    #[serde(default)]
    pub(super) source: String,
    /// Values and shapes of the arguments.
    #[serde(default)]
    pub(super) arguments: Vec<(String, String)>,
    /// Configurations after pruning.
    pub(super) configurations: Vec<Values>,
    /// Configurations before pruning.
    pub(super) all: u64,
    /// Names of the kernel's own arguments.
    pub(super) own: Vec<String>,
    /// It has a matrix product.
    pub(super) dot: bool,
    /// The grid is computed from the configuration.
    pub(super) grid_follows: bool,
    /// Each configuration runs in its own process, on the emulated GPU.
    pub(super) isolated: bool,
}

/// A failure as the Python side says it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SaidFailure {
    pub(super) kind: Failure,
    pub(super) why: String,
}

/// A tensor after a launch.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SaidBuffer {
    pub(super) name: String,
    /// Type, as NumPy and torch call it.
    #[serde(rename = "type")]
    pub(super) element: String,
    pub(super) file: PathBuf,
}

/// A file of Triton's cache of tuning results.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SaidCache {
    pub(super) place: String,
    pub(super) text: String,
}

/// An answer to the Python side.
#[derive(Debug, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(super) enum Answer {
    Begun { study: usize, workers: u32, limits: Bounds },
    Run(Configured),
    Wait,
    Finished,
    Candidates { check: bool, start: Option<Configured>, fastest: Vec<Configured> },
    Checked { passed: bool },
    Done,
    Refused { why: String },
}

/// A configuration: one of the list, by its place, or values that differ from the first of the list.
#[derive(Debug, Serialize)]
pub(super) struct Configured {
    pub(super) id: u64,
    pub(super) listed: Option<usize>,
    pub(super) values: Map<String, Json>,
}

/// Limits of one configuration.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Bounds {
    pub(super) seconds: f64,
    pub(super) memory_mib: u64,
}

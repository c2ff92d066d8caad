//! Searches of autotuned Triton kernels in a program that runs as it is.
//!
//! The program's Python side finds each `@triton.autotune` as it is called and asks over a socket which configuration
//! to run; the search is here, one study per kernel and key.

mod kept;
mod message;
mod outputs;
mod product;
mod server;
mod space;
mod study;
mod widen;

pub use outputs::{Patch, config_text, patches};
pub use study::{CacheFile, LiveStudy};
pub use widen::LeftOut;

use super::search::{Limit, Watching};
use super::spec::{Limits, TilePrior};
use crate::run::{self, Emulate, Ended, OnGpu, Place, Reporter, Request, What};
use crate::session::Progress;
use anyhow::{Context, Result};
use arch::Model;
use server::Server;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use tune::{Space, Strategy};

/// Variable with the path of the socket; the Python side reads it.
const VARIABLE: &str = "ROCKHOUND_TUNE";

/// Expected times of a product's tiles on the GPU of a model, microseconds, one for each configuration; absent if the model of times has none.
pub type ProductPrior = dyn Fn(&'static Model, &TilePrior, &Space) -> Option<Vec<Option<f64>>> + Sync;

/// A program whose autotuned kernels are to be searched.
pub struct LiveRequest<'a> {
    /// Program with its arguments.
    pub program: Vec<OsString>,
    /// Where it runs; [`Place::Auto`] is the emulator.
    pub place: Place,
    /// The GPU to emulate; by default the emulator's own choice.
    pub gpu: Option<String>,
    /// Also configurations beyond those that the program lists.
    pub widen: bool,
    /// Expected times of the configurations of a space with a matrix product, on a GPU.
    pub prior: Option<&'a ProductPrior>,
    /// Most configurations to run, by the number of valid ones.
    pub budget: &'a (dyn Fn(u64) -> u64 + Sync),
    /// How configurations are chosen.
    pub strategy: Strategy,
    /// Seed.
    pub seed: u64,
    /// Configurations that run at once; one on a GPU.
    pub workers: u32,
    /// Checks the winner's results, races and reads of unwritten memory.
    pub proof: bool,
    /// Limits of one configuration.
    pub limits: Limits,
    /// Time that ends the searches, all together.
    pub limit: Limit,
    /// Database in which results are kept.
    pub store: Option<String>,
    /// Runs all again.
    pub fresh: bool,
}

/// Result of the program.
#[derive(Debug)]
pub struct Live {
    /// One per kernel and key, in the order in which they began.
    pub studies: Vec<LiveStudy>,
    /// How the program ended.
    pub ended: Ended,
}

/// Runs the program and searches its kernels as they are called.
///
/// # Errors
/// If the program cannot be started, or no socket can be made.
pub fn live(request: &LiveRequest<'_>, watching: &dyn Watching, reporter: &dyn Reporter) -> Result<Live> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let socket = folder.path().join("tune");
    let server = Server::new(&socket, request, watching)?;
    let variables = [(OsString::from(VARIABLE), socket.clone().into_os_string())];
    let ended = std::thread::scope(|scope| {
        let serving = scope.spawn(|| server.serve());
        let ended = match request.place {
            Place::Gpu => on_gpu(&request.program, folder.path(), &variables, reporter),
            Place::Auto | Place::Emulator => run::with_variables(&emulated(request), &variables, reporter),
        };
        server.stop();
        let served =
            serving.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the thread of the searches failed")));
        ended.and_then(|ended| served.map(|()| ended))
    })?;
    Ok(Live { studies: server.studies(), ended })
}

fn emulated(request: &LiveRequest<'_>) -> Request {
    Request {
        what: What::Program(request.program.clone()),
        place: Place::Emulator,
        emulate: Emulate {
            gpu: request.gpu.clone(),
            devices: 1,
            threads: 0,
            max_instructions: run::MOST_INSTRUCTIONS,
            repeats: true,
            virtual_time: None,
            autotune_limit: None,
            check: Vec::new(),
            progress: Progress::Silent,
        },
        on_gpu: OnGpu::default(),
        record: None,
    }
}

/// The program on the GPU of this machine: only the autotuner is changed.
fn on_gpu(
    program: &[OsString],
    folder: &std::path::Path,
    variables: &[(OsString, OsString)],
    reporter: &dyn Reporter,
) -> Result<Ended> {
    let python = run::write_python(folder)?;
    reporter.interrupts()?;
    let mut command = Command::new(&program[0]);
    command
        .args(&program[1..])
        .env("PYTHONPATH", python)
        .envs(variables.iter().cloned())
        .stdout(std::io::stderr());
    let status =
        command.status().with_context(|| format!("cannot start `{}`", program[0].to_string_lossy()))?;
    let code = status.code().or_else(|| status.signal().map(|it| 128 + it)).unwrap_or(1);
    Ok(if code == 0 { Ended::Well } else { Ended::Program(u8::try_from(code).unwrap_or(1)) })
}

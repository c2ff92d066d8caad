//! `rockhound capture`: one launch of a program as a launch file.

use crate::args::{Capture, Look};
use crate::exit::Outcome;
use crate::progress::{self, Running};
use anyhow::{Result, bail};
use host::run::{self, Emulate, Ended, OnGpu, Request, What};
use host::session;

/// Captures.
pub(crate) fn run(args: &Capture, look: &Look) -> Result<Outcome> {
    let request = Request {
        what: What::Program(args.program.clone()),
        place: args.on.into(),
        // Each launch counts, and runs.
        emulate: Emulate { repeats: false, ..args.emulate.settings(progress::of_programs()) },
        on_gpu: OnGpu::default(),
        record: None,
    };
    let wanted = session::Capture {
        kernels: args.kernel.clone(),
        nth: args.nth,
        dispatch: args.dispatch,
        folder: args.output.clone(),
        limit: args.limit << 20,
        gpu: String::new(),
        program: args.program.iter().map(|it| it.to_string_lossy().into_owned()).collect(),
    };
    let ended = run::capture(&request, wanted, &Running::new(look))?;
    let file = args.output.join("LAUNCH.toml");
    if !file.exists() {
        let which = if args.kernel.is_empty() { "a kernel".to_owned() } else { args.kernel.join(", ") };
        let what = match args.dispatch {
            Some(number) => format!("dispatch {number}, of {which},"),
            None => format!("launch {} of {which}", args.nth),
        };
        bail!("{what} was not seen, or did not end; `rockhound profile` lists what a program launches");
    }
    let name = file.display();
    eprintln!("captured: {name}\nreplay: rockhound profile {name} -o DIR");
    if let Ended::Program(code) = ended
        && code != 0
    {
        eprintln!("warning: the program ended with exit code {code}");
    }
    Ok(Outcome::Fine)
}

//! `rockhound mcp`: the questions of an agent, answered by commands of this program in their own processes.
//!
//! A tool is a row of a table that says which command answers it and what becomes of its arguments. The command's JSON
//! document is kept, and the client gets the piece of it that fits; `open` gives the others.

mod answers;
mod question;
mod server;
mod steps;
mod tools;

use crate::exit::{Outcome, usage};
use crate::progress::Running;
use crate::{args, output};
use anyhow::{Context, Result, anyhow};
use rmcp::ServiceExt as _;
use rmcp::transport::async_rw::AsyncRwTransport;

/// Longest request, bytes.
const REQUEST: usize = 1 << 20;

/// The loop that an agent follows, on a page.
const SKILL: &str = include_str!("../skill/SKILL.md");

/// Serves until standard input ends.
pub(crate) fn run(args: &args::Mcp, look: &args::Look) -> Result<Outcome> {
    if args.skill {
        output::print(SKILL)?;
        return Ok(Outcome::Fine);
    }
    let folders = args.folder.iter().map(|it| {
        let found = it.canonicalize().ok().filter(|it| it.is_dir());
        found.ok_or_else(|| {
            usage(format!("`{}` is not a folder", it.display()), "--folder names folders that exist")
        })
    });
    if args.allow_run {
        // A question could not build it: compilers of Rust are outside of its folders.
        if let Err(error) = host::run::library(&Running::new(look)) {
            eprintln!("warning: programs cannot be emulated: {error:#}");
        }
    }
    let scratch = host::confine::scratch()?;
    let surroundings = question::Surroundings {
        folders: folders.collect::<Result<_>>()?,
        scratch: scratch.path().canonicalize().context("the temporary folder is gone")?,
        // This very file, also after an update has replaced it.
        command: "/proc/self/exe".into(),
        may_run: args.allow_run,
        seconds: f64::from(args.time),
        memory_mib: args.memory,
        answer: args.answer as usize,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let transport = AsyncRwTransport::new_server(tokio::io::stdin(), tokio::io::stdout());
        let server = server::Server::new(surroundings);
        match server.serve(transport.with_max_line_length(REQUEST)).await {
            Ok(service) => service.waiting().await.map(|_| ()).map_err(|error| anyhow!("{error}")),
            // A client that leaves without a word.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(anyhow!("{error}")),
        }
    });
    // Standard input may be in a read that nothing ends.
    runtime.shutdown_background();
    served.context("the client does not speak the Model Context Protocol").map(|()| Outcome::Fine)
}

//! The socket at which the Python side asks and tells. A program may have several processes; each has a connection.

use super::LiveRequest;
use super::message::{Answer, Bounds, Said};
use super::study::{LiveStudy, Study};
use crate::tune::search::{Attempt, Watching};
use anyhow::{Context, Result, anyhow};
use arch::Model;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Longest line: the list of configurations of a kernel, or a file of the cache.
const LONGEST_LINE: u64 = 64 << 20;

/// The searches of a program.
pub(super) struct Server<'a> {
    listener: UnixListener,
    path: PathBuf,
    request: &'a LiveRequest<'a>,
    watching: &'a dyn Watching,
    model: Option<&'static Model>,
    studies: Mutex<Vec<Study>>,
    stopped: AtomicBool,
    failed: Mutex<Option<anyhow::Error>>,
    begin: Instant,
}

impl<'a> Server<'a> {
    /// Listens at a path.
    pub(super) fn new(
        path: &Path,
        request: &'a LiveRequest<'a>,
        watching: &'a dyn Watching,
    ) -> Result<Server<'a>> {
        let listener = UnixListener::bind(path)
            .with_context(|| format!("cannot make the socket `{}`", path.display()))?;
        let model = crate::run::model(request.gpu.as_deref().unwrap_or(crate::run::FIRST_GPU)).ok();
        Ok(Server {
            listener,
            path: path.to_owned(),
            request,
            watching,
            model,
            studies: Mutex::default(),
            stopped: AtomicBool::new(false),
            failed: Mutex::default(),
            begin: Instant::now(),
        })
    }

    /// Answers until it is stopped.
    pub(super) fn serve(&self) -> Result<()> {
        std::thread::scope(|scope| {
            loop {
                let (stream, _) = self.listener.accept().context("the socket of the searches")?;
                if self.stopped.load(Ordering::SeqCst) {
                    return Ok::<(), anyhow::Error>(());
                }
                scope.spawn(move || self.converse(&stream));
            }
        })?;
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)
    }

    /// Ends `serve`, after the conversations.
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes it up; where that fails, it has ended.
        let _ = UnixStream::connect(&self.path);
    }

    /// The searches so far.
    pub(super) fn studies(&self) -> Vec<LiveStudy> {
        self.all().iter().map(Study::public).collect()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Study>> {
        self.studies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn converse(&self, stream: &UnixStream) {
        let mut reader = BufReader::new(stream);
        let mut out = stream;
        loop {
            let mut line = String::new();
            // The other side may end at any moment: then there is nobody to answer.
            match (&mut reader).take(LONGEST_LINE).read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let answer =
                self.answer(&line).unwrap_or_else(|error| Answer::Refused { why: format!("{error:#}") });
            let Ok(mut text) = serde_json::to_string(&answer) else { return };
            text.push('\n');
            if out.write_all(text.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn answer(&self, line: &str) -> Result<Answer> {
        let said: Said = serde_json::from_str(line).context("the searches do not understand the program")?;
        match said {
            Said::Begin(begin) => {
                let mut studies = self.all();
                let study = studies.len();
                let folder = self.path.with_file_name(format!("study-{study}"));
                let workers = if begin.isolated { self.request.workers.max(1) } else { 1 };
                let begun = Study::new(*begin, self.request, self.model, &folder);
                studies.push(begun.map_err(|error| self.noted(error))?);
                let limits = self.request.limits;
                let limits = Bounds { seconds: limits.seconds, memory_mib: limits.memory_mib };
                Ok(Answer::Begun { study, workers, limits })
            }
            Said::Ask { study } => {
                let is_over = self.is_over();
                let (earlier, answer) = self.with(study, |it| Ok(it.ask(is_over)))?;
                for (number, attempt) in earlier {
                    self.watched(number, &attempt, true)?;
                }
                Ok(answer)
            }
            Said::Tell { study, id, us, failed, build_s, run_s } => {
                let told = self.with(study, |it| it.tell(id, us, failed, (build_s, run_s)));
                let told = told.map_err(|error| self.noted(error))?;
                let (number, attempt) =
                    told.ok_or_else(|| anyhow!("configuration {id} was not asked for"))?;
                self.watched(number, &attempt, false)?;
                Ok(Answer::Done)
            }
            Said::Candidates { study } => self.with(study, |it| Ok(it.candidates())),
            Said::Checked { study, id, buffers, mistakes, failed } => self.with(study, |it| {
                Ok(Answer::Checked { passed: it.checked(id, &buffers, &mistakes, failed) })
            }),
            Said::End { study, cache } => self.with(study, |it| {
                it.end(cache);
                Ok(Answer::Done)
            }),
        }
    }

    /// Whether the time of the searches is used.
    fn is_over(&self) -> bool {
        let busy = || self.all().iter().map(Study::busy_s).sum();
        self.request.limit.is_over(self.begin.elapsed(), &busy)
    }

    fn watched(&self, number: u64, attempt: &Attempt, earlier: bool) -> Result<()> {
        self.watching.known(number, attempt, earlier).map_err(|error| self.noted(error))
    }

    /// The error ends the command, too, after the program heard it.
    fn noted(&self, error: anyhow::Error) -> anyhow::Error {
        let why = format!("{error:#}");
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        anyhow!("{why}")
    }

    fn with<T>(&self, study: usize, act: impl FnOnce(&mut Study) -> Result<T>) -> Result<T> {
        let mut studies = self.all();
        act(studies.get_mut(study).ok_or_else(|| anyhow!("there is no search {study}"))?)
    }
}

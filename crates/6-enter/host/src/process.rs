//! One program in its own process group, with limits.
//!
//! The program cannot outlive this process, even if it is killed: a shell beside it waits at a pipe that only this
//! process holds, and kills the group when the pipe closes. The address space is not limited, because runtimes of GPUs
//! reserve terabytes that they never touch; resident memory of the group is watched instead.

mod memory;

use memory::resident_mib;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process_group, prlimit, waitid,
};
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

/// Output of a program that is kept where no limit is given, MiB.
const USUAL_OUTPUT_MIB: u64 = 16;
/// Shortest pause between two looks at a program.
const PAUSE: Duration = Duration::from_millis(20);
/// A look at memory may take this part of the time.
const LOOKS: u32 = 50;
/// How long a killed program may take to end, and a reader of its output after that.
const AFTER_KILL: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(1));

/// Reads the group, then a word; kills the group unless the word comes.
const GUARD: &str = r#"read -r group; read -r word; [ "$word" = ended ] || kill -KILL "-$group""#;

/// Limits and surroundings of a program.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Wall time, seconds; 0: any.
    pub seconds: f64,
    /// Resident memory of the program and all it starts, MiB; 0: any.
    pub memory_mib: u64,
    /// Output and errors together, MiB; 0: 16.
    pub output_mib: u64,
    /// Variables beside the variables of this process.
    pub variables: Vec<(String, String)>,
    /// Set when the program is to end.
    pub stop: Option<Arc<AtomicBool>>,
}

/// Why a program was killed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Limit {
    /// Wall time.
    Time,
    /// Resident memory.
    Memory,
    /// Output.
    Output,
    /// [`Bounds::stop`] was set.
    Stopped,
}

/// A program that ended, or was killed.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// Standard output.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// Exit code, if it ended by itself.
    pub code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// The limit that it was killed for.
    pub limit: Option<Limit>,
    /// Wall time, seconds.
    pub seconds: f64,
    /// Largest resident memory seen, MiB.
    pub memory_mib: u64,
    bounds: Bounds,
    /// Why it could not be started or ended.
    fault: Option<String>,
}

impl End {
    /// Whether it ended by itself with code 0.
    pub fn is_well(&self) -> bool {
        self.code == Some(0) && self.limit.is_none()
    }

    /// Why it failed, in words, with the last line of its errors.
    pub fn why(&self) -> String {
        let last = self.errors.lines().rev().map(str::trim).find(|it| !it.is_empty());
        let with_last = |what: String| last.map_or(what.clone(), |it| format!("{what}: {it}"));
        match (self.limit, self.signal, self.code) {
            _ if self.fault.is_some() => self.fault.clone().unwrap_or_default(),
            (Some(Limit::Time), ..) => {
                format!("killed after {} s, the limit of its time", self.bounds.seconds)
            }
            (Some(Limit::Memory), ..) => {
                format!(
                    "killed at {} MiB of memory, the limit is {}",
                    self.memory_mib, self.bounds.memory_mib
                )
            }
            (Some(Limit::Output), ..) => {
                format!("killed after {} MiB of output", most_output(&self.bounds) >> 20)
            }
            (Some(Limit::Stopped), ..) => "killed because the search was interrupted".to_owned(),
            (None, Some(9), _) => {
                with_last("killed by SIGKILL, as the kernel does if memory runs out".to_owned())
            }
            (None, Some(signal), _) => with_last(format!("ended by {}", signal_name(signal))),
            (None, None, Some(code)) => with_last(format!("exit code {code}")),
            (None, None, None) => "it did not end".to_owned(),
        }
    }
}

/// Runs a command of the shell.
pub fn shell(command: &str, folder: &Path, bounds: &Bounds) -> End {
    program(&["sh".as_ref(), "-c".as_ref(), command.as_ref()], folder, bounds)
}

/// Runs a program, given as its words, with standard input closed.
pub fn program(words: &[&OsStr], folder: &Path, bounds: &Bounds) -> End {
    let begun = Instant::now();
    let end = match words.split_first() {
        Some((name, arguments)) => run(name, arguments, folder, bounds),
        None => Err("no program is named".to_owned()),
    };
    let mut end = end.unwrap_or_else(|why| End { fault: Some(why), ..End::default() });
    end.bounds = bounds.clone();
    end.seconds = begun.elapsed().as_secs_f64();
    end
}

fn run(name: &OsStr, arguments: &[&OsStr], folder: &Path, bounds: &Bounds) -> Result<End, String> {
    let mut guard = Guard::start().map_err(|error| format!("cannot start `sh`: {error}"))?;
    let mut command = Command::new(name);
    command.args(arguments).current_dir(folder).process_group(0).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.envs(bounds.variables.iter().map(|(name, value)| (name, value)));
    let mut child =
        command.spawn().map_err(|error| format!("cannot start `{}`: {error}", name.to_string_lossy()))?;
    let group = Pid::from_child(&child);
    guard.watch(group);
    // Core files of programs on GPUs have gigabytes. A program that ended already needs no limit.
    let _ = prlimit(Some(group), Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let watched = watch(&mut child, group, bounds);
    guard.ended();
    watched
}

/// The shell that kills a group when this process dies.
struct Guard(Child);

impl Guard {
    fn start() -> std::io::Result<Guard> {
        let mut shell = Command::new("sh");
        // A group of its own: an interrupt of the terminal is not for it.
        shell.args(["-c", GUARD]).process_group(0).current_dir("/");
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Guard)
    }

    fn tell(&mut self, line: &str) {
        if let Some(pipe) = &mut self.0.stdin {
            // A guard that somebody killed guards no more; the program runs all the same.
            let _ = pipe.write_all(line.as_bytes());
        }
    }

    fn watch(&mut self, group: Pid) {
        self.tell(&format!("{}\n", group.as_raw_nonzero()));
    }

    fn ended(&mut self) {
        self.tell("ended\n");
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Without a group the shell has nothing to kill.
        self.tell("ended\nended\n");
        self.0.stdin = None;
        let _ = self.0.wait();
    }
}

/// An event in the life of a program.
enum Event {
    Ended,
    TooMuchOutput,
    Closed,
}

/// Waits for a program, kills it at a limit, and collects its output.
fn watch(child: &mut Child, group: Pid, bounds: &Bounds) -> Result<End, String> {
    let (send, events) = mpsc::channel();
    let total = Arc::new(AtomicU64::new(0));
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        let text = Arc::new(Mutex::new(Vec::new()));
        let reading = Reading { text: text.clone(), total: total.clone(), most: most_output(bounds) };
        let send = send.clone();
        std::thread::spawn(move || reading.read(pipe, &send));
        text
    };
    let output = reader(child.stdout.take().map(|it| Box::new(it) as Box<dyn Read + Send>));
    let errors = reader(child.stderr.take().map(|it| Box::new(it) as Box<dyn Read + Send>));
    std::thread::spawn(move || {
        // The program stays a zombie, so that its number is not given to another while the group is killed.
        let _ = waitid(WaitId::Pid(group), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        let _ = send.send(Event::Ended);
    });
    let mut watching = Watching { group, bounds, events, begun: Instant::now(), memory_mib: 0, closed: 0 };
    let (limit, has_ended) = watching.wait();
    // Whatever the program left running ends with it.
    let _ = kill_process_group(group, Signal::KILL);
    watching.drain(AFTER_KILL.1);
    let text = |it: &Mutex<Vec<u8>>| {
        String::from_utf8_lossy(&it.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    };
    let mut end = End {
        output: text(&output),
        errors: text(&errors),
        limit,
        memory_mib: watching.memory_mib,
        ..End::default()
    };
    if !has_ended {
        end.fault = Some("killed, and does not end: the driver of the GPU may hold it".to_owned());
        return Ok(end);
    }
    let status: ExitStatus = child.wait().map_err(|error| format!("cannot wait for it: {error}"))?;
    (end.code, end.signal) = (status.code(), status.signal());
    Ok(end)
}

struct Watching<'a> {
    group: Pid,
    bounds: &'a Bounds,
    events: mpsc::Receiver<Event>,
    begun: Instant,
    memory_mib: u64,
    /// Outputs at their end.
    closed: u32,
}

impl Watching<'_> {
    /// Until the program ended or was killed: the limit, and whether it ended.
    fn wait(&mut self) -> (Option<Limit>, bool) {
        let mut pause = PAUSE / 10;
        loop {
            match self.events.recv_timeout(pause) {
                Ok(Event::Ended) => return (None, true),
                Ok(Event::Closed) => self.closed += 1,
                Ok(Event::TooMuchOutput) => return self.kill(Limit::Output),
                Err(_) => {}
            }
            let look = Instant::now();
            self.memory_mib = self.memory_mib.max(resident_mib(self.group));
            // Short programs are looked at often, and looks never take much of the time.
            pause = (pause * 2).min(PAUSE).max(look.elapsed() * LOOKS);
            if let Some(limit) = self.limit() {
                return self.kill(limit);
            }
        }
    }

    fn limit(&self) -> Option<Limit> {
        let Bounds { seconds, memory_mib, stop, .. } = self.bounds;
        if stop.as_ref().is_some_and(|it| it.load(Ordering::Relaxed)) {
            Some(Limit::Stopped)
        } else if *seconds > 0.0 && self.begun.elapsed().as_secs_f64() > *seconds {
            Some(Limit::Time)
        } else {
            (*memory_mib > 0 && self.memory_mib > *memory_mib).then_some(Limit::Memory)
        }
    }

    fn kill(&mut self, limit: Limit) -> (Option<Limit>, bool) {
        let _ = kill_process_group(self.group, Signal::KILL);
        let until = Instant::now() + AFTER_KILL.0;
        loop {
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Ended) => return (Some(limit), true),
                Ok(Event::Closed) => self.closed += 1,
                Ok(Event::TooMuchOutput) => {}
                Err(_) => return (Some(limit), false),
            }
        }
    }

    /// Waits for the ends of both outputs, which a process of another group may keep open.
    fn drain(&mut self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.closed < 2 {
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Closed) => self.closed += 1,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

/// Output of a program while it is read.
struct Reading {
    text: Arc<Mutex<Vec<u8>>>,
    total: Arc<AtomicU64>,
    most: u64,
}

impl Reading {
    fn read(&self, pipe: Option<Box<dyn Read + Send>>, send: &mpsc::Sender<Event>) {
        let mut piece = [0; 1 << 14];
        let mut pipe = pipe.unwrap_or_else(|| Box::new(std::io::empty()));
        loop {
            match pipe.read(&mut piece) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => break,
                Ok(count) => {
                    let before = self.total.fetch_add(count as u64, Ordering::Relaxed);
                    if before + count as u64 > self.most {
                        // Nobody listens after the end.
                        let _ = send.send(Event::TooMuchOutput);
                        break;
                    }
                    self.text
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .extend_from_slice(&piece[..count]);
                }
            }
        }
        let _ = send.send(Event::Closed);
    }
}

fn most_output(bounds: &Bounds) -> u64 {
    let mib = if bounds.output_mib == 0 { USUAL_OUTPUT_MIB } else { bounds.output_mib };
    mib.saturating_mul(1 << 20)
}

/// A signal as people know it.
pub(crate) fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        24 => "SIGXCPU (its limit of processor time)",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests;

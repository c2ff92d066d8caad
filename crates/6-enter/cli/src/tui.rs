//! `rockhound tui`: a recording on the full screen.
//!
//! Recordings are read once; choosing a kernel only selects from that data. The terminal is restored at every
//! end: by a key, a signal or a panic.

use crate::args::{Look, Tui};
use crate::exit::{Outcome, usage};
use crate::progress::Progress;
use crate::{subjects, terminal};
use anyhow::Result;
use host::instructions::listings;
use host::subjects::Asked;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use render::tui::{App, Ask, Code, Data, KernelEntry, Key};
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use study::Measured;
use view::{Finding, Listing, Wanted};

/// Polling interval of signals while no key comes.
const PATIENCE: Duration = Duration::from_millis(200);
/// Time limit for ending the screen after a signal.
const GRACE: Duration = Duration::from_secs(1);
/// Rows of the top kernels.
const TOP_KERNELS: usize = 50;
/// Set in the test of how a panic leaves the terminal; debug builds only.
const PANIC: &str = "ROCKHOUND_TEST_PANIC";

/// Shows the screen until the user leaves it.
pub(crate) fn run(args: &Tui, look: &Look) -> Result<Outcome> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(usage(
            "`tui` needs a terminal to draw on",
            "`rockhound analyze -p DIR` writes the same as text",
        ));
    }
    // The signal that came, 0 before one does.
    let ended = Arc::new(AtomicUsize::new(0));
    let mut signals = Signals::new([SIGTERM, SIGHUP])?;
    std::thread::spawn({
        let ended = ended.clone();
        move || {
            let Some(signal) = signals.forever().next() else { return };
            ended.store(signal as usize, Ordering::Relaxed);
            // Waiting for a key never ends where the terminal is gone.
            std::thread::sleep(GRACE);
            let _ = ratatui::try_restore();
            std::process::exit(128 + signal);
        }
    });
    // Unreadable inputs are reported before the screen is taken.
    let mut read = Read::new(args)?;
    let mut app = App::new(read.data(None)?, terminal::style(look, false).color);
    // From here on a panic gives the terminal back before it is reported.
    let mut screen = ratatui::try_init()?;
    let result = walk(&mut screen, &mut app, &mut read, args, &ended);
    ratatui::try_restore()?;
    result.map(|()| match ended.load(Ordering::Relaxed) {
        0 => Outcome::Fine,
        signal => Outcome::Program(128 + signal as u8),
    })
}

fn walk(
    screen: &mut ratatui::DefaultTerminal,
    app: &mut App,
    read: &mut Read,
    args: &Tui,
    ended: &AtomicUsize,
) -> Result<()> {
    while ended.load(Ordering::Relaxed) == 0 {
        screen.draw(|frame| app.draw(frame))?;
        if !event::poll(PATIENCE)? {
            continue;
        }
        let key = match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => key,
            // The next turn draws again, at the new size.
            _ => continue,
        };
        if cfg!(debug_assertions) && key.code == KeyCode::Char('P') && std::env::var_os(PANIC).is_some() {
            panic!("asked for by {PANIC}");
        }
        let Some(key) = translate(key) else { continue };
        match app.key(key) {
            Ask::Nothing => {}
            Ask::Quit => return Ok(()),
            Ask::Kernel(kernel) => match read.data(kernel) {
                Ok(data) => app.show(data),
                Err(error) => app.say(format!("{error:#}")),
            },
            Ask::Reload => {
                match Read::new(args).and_then(|mut new| Ok((new.data(None)?, new))) {
                    Ok((data, new)) => {
                        *read = new;
                        app.show(data);
                        app.say("read again");
                    }
                    Err(error) => app.say(format!("{error:#}")),
                }
                // Reading may have said something.
                screen.clear()?;
            }
        }
    }
    Ok(())
}

fn translate(key: KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(Key::Char('q'));
    }
    Some(match key.code {
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Char(c) => Key::Char(c),
        _ => return None,
    })
}

/// Recordings in memory.
struct Read {
    measured: Measured<'static>,
    /// Selection on the command line.
    wanted: Wanted,
    kernels: Vec<KernelEntry>,
    findings: Vec<Finding>,
    /// Listings, or the reason why they are missing.
    code: Result<Vec<(Listing, Vec<Finding>)>, String>,
}

impl Read {
    fn new(args: &Tui) -> Result<Read> {
        let wanted = args.subject.pick.wanted();
        let asked = Asked {
            sources: args.subject.paths(),
            arch: args.subject.pick.arch.clone(),
            corrections: args.subject.pick.specs_correction.clone(),
            wanted: wanted.clone(),
            matches: Vec::new(),
            ranks: args.subject.pick.ranks.map(Into::into),
            runs: args.subject.pick.runs.map(Into::into),
        }
        .one("tui")?;
        let measured = subjects::measured(&asked)?;
        let code = listings(&args.subject.path, &args.subject.pick.part.dispatch, Progress::new())
            .map_err(|error| format!("{error:#}"));
        let entry = |(kernel, verdict)| KernelEntry { kernel, verdict };
        let kernels = measured.kernels().into_iter().map(entry).collect();
        Ok(Read { measured, wanted, kernels, findings: Vec::new(), code })
    }

    /// Content of one kernel's screens, or of all kernels'.
    fn data(&mut self, chosen: Option<usize>) -> Result<Data> {
        let name = chosen.and_then(|at| self.kernels.get(at)).map(|it| it.kernel.name.clone());
        let mut wanted = self.wanted.clone();
        if let Some(name) = &name {
            // Special characters of expressions are escaped.
            wanted.kernels = vec![format!("^{}$", regex::escape(name))];
        }
        self.measured.select(&wanted)?;
        let report = self.measured.everything(TOP_KERNELS)?;
        if name.is_none() {
            // The verdict states the limiter of a kernel.
            let all = report.findings.iter().filter(|f| study::is_advice(f.rule));
            self.findings = all.cloned().collect();
        }
        let code = match &self.code {
            Err(reason) => Code::Missing(reason.clone()),
            Ok(all) => {
                let shown =
                    all.iter().filter(|(listing, _)| name.as_ref().is_none_or(|it| *it == listing.kernel));
                Code::Listings(shown.cloned().collect())
            }
        };
        Ok(Data { report, kernels: self.kernels.clone(), findings: self.findings.clone(), chosen, code })
    }
}

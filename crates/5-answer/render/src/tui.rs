//! A screen to walk through a recording: kernels, panels, roofline, memory, code.
//!
//! The screen shows the text that the command line prints, at the terminal's width. This module only has
//! keys, positions in that text, and the list of kernels; it knows no terminal.

mod draw;
mod kernels;
mod lines;

use crate::Style;
use crate::text;
use lines::View;
use ratatui::Frame;
use std::cmp::Reverse;
use view::{Answer, Finding, GuideKernel, GuideVerdict, Listing, Recordings};

/// A key, whatever terminal it came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named after what is printed on them")]
pub enum Key {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Tab,
    BackTab,
    Backspace,
    Char(char),
}

/// Request of a key to the reader of recordings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Nothing.
    Nothing,
    /// The end.
    Quit,
    /// Read everything again.
    Reload,
    /// Everything about one kernel, by its place in the list, or about all.
    Kernel(Option<usize>),
}

/// A kernel of the list.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelEntry {
    /// Its time and what stops it.
    pub kernel: GuideKernel,
    /// The same in words; absent for kernels beyond those that are judged.
    pub verdict: Option<GuideVerdict>,
}

/// Code of the kernels shown.
#[derive(Clone, PartialEq, Debug)]
pub enum Code {
    /// Listings with the findings of their kernels.
    Listings(Vec<(Listing, Vec<Finding>)>),
    /// Absent, with a reason.
    Missing(String),
}

/// Content of the screen.
#[derive(Clone, PartialEq, Debug)]
pub struct Data {
    /// Answer<Recordings> on all kernels, or on the chosen one.
    pub report: Answer<Recordings>,
    /// All kernels, most time first.
    pub kernels: Vec<KernelEntry>,
    /// Findings of all kernels.
    pub findings: Vec<Finding>,
    /// Index of the report's kernel in the list; `None` for all.
    pub chosen: Option<usize>,
    /// Code.
    pub code: Code,
}

/// One of the pages.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Screen {
    Guide,
    Kernels,
    Panels,
    Roofline,
    Memory,
    Code,
    Help,
}

impl Screen {
    /// Screens with a number key, in its order.
    const NUMBERED: [Screen; 6] =
        [Screen::Guide, Screen::Kernels, Screen::Panels, Screen::Roofline, Screen::Memory, Screen::Code];

    const fn title(self) -> &'static str {
        match self {
            Screen::Guide => "guide",
            Screen::Kernels => "kernels",
            Screen::Panels => "panels",
            Screen::Roofline => "roofline",
            Screen::Memory => "memory",
            Screen::Code => "code",
            Screen::Help => "help",
        }
    }

    /// The screen's keys, as shown in the last line.
    const fn keys(self) -> &'static str {
        match self {
            Screen::Guide => "",
            Screen::Kernels => "⏎ choose  a all  ",
            Screen::Panels => "[ ] table  ",
            Screen::Roofline | Screen::Memory => "",
            Screen::Code => "h hottest  f finding  ⏎ target  [ ] kernel  ",
            Screen::Help => "",
        }
    }
}

const HELP: &str = "Keys

  1 to 6, Tab       guide, kernels, panels, roofline, memory, code
  ↑ ↓ or k j        a line up or down
  PgUp PgDn, Space  a page up or down
  Home End or g G   to the beginning, to the end
  ← →               to the sides, where lines are longer than the screen
  /                 search; n and N go to the next and the previous place
  r                 read the recording again
  ?                 this page
  q                 quit

Kernels
  ⏎                 show panels, roofline, memory and code of this kernel only
  a or Esc          show those of all kernels again

Panels
  ] [               to the next and the previous table

Code
  h H               to the line with most executions, then the next; back
  f F               to the next and the previous line with a finding
  ⏎                 to the target of the branch
  ] [               to the next and the previous kernel
";

/// The state of the screen.
pub struct App {
    data: Data,
    color: bool,
    screen: Screen,
    /// Screen to which Escape returns from help.
    before_help: Screen,
    /// Selected row of the list of kernels.
    row: usize,
    /// First row shown.
    first_row: usize,
    /// Views of the screens, by their order.
    views: [View; 7],
    /// Instruction the cursor is on, of all listings together.
    instruction: usize,
    /// Place among the hottest lines that `h` was last at.
    heat: Option<usize>,
    search: Search,
    message: String,
    /// Rows of the body when last drawn.
    rows: usize,
}

#[derive(Default)]
struct Search {
    /// Being typed.
    typing: bool,
    text: String,
}

impl App {
    /// Starts with the guide.
    pub fn new(data: Data, color: bool) -> Self {
        App {
            data,
            color,
            screen: Screen::Guide,
            before_help: Screen::Guide,
            row: 0,
            first_row: 0,
            views: Default::default(),
            instruction: 0,
            heat: None,
            search: Search::default(),
            message: String::new(),
            rows: 20,
        }
    }

    /// Shows new data: read again, or of another kernel.
    pub fn show(&mut self, data: Data) {
        let other = data.chosen != self.data.chosen;
        if other && data.chosen.is_some() && self.screen == Screen::Kernels {
            self.screen = Screen::Panels;
        }
        self.data = data;
        self.row = self.row.min(self.data.kernels.len().saturating_sub(1));
        for view in &mut self.views {
            view.forget(other);
        }
        if other {
            self.instruction = 0;
            self.heat = None;
        }
    }

    /// Says something in the last line until the next key.
    pub fn say(&mut self, message: impl Into<String>) {
        self.message = message.into();
    }

    /// Takes a key.
    pub fn key(&mut self, key: Key) -> Ask {
        self.message.clear();
        if self.search.typing {
            self.type_search(key);
            return Ask::Nothing;
        }
        match key {
            Key::Char('q') => return Ask::Quit,
            Key::Char('r') => return Ask::Reload,
            Key::Char('?') => self.go(Screen::Help),
            Key::Char('/') => {
                self.search.typing = true;
                self.search.text.clear();
            }
            Key::Char(c @ '1'..='6') => self.go(Screen::NUMBERED[c as usize - '1' as usize]),
            Key::Tab => self.turn(1),
            Key::BackTab => self.turn(Screen::NUMBERED.len() - 1),
            Key::Escape if self.screen == Screen::Help => self.go(self.before_help),
            Key::Escape | Key::Char('a') if self.data.chosen.is_some() => return Ask::Kernel(None),
            Key::Char('n') => self.find(true),
            Key::Char('N') => self.find(false),
            _ => match self.screen {
                Screen::Kernels => return self.key_in_kernels(key),
                Screen::Code => self.key_in_code(key),
                _ => self.key_in_text(key),
            },
        }
        Ask::Nothing
    }

    fn go(&mut self, screen: Screen) {
        if screen == Screen::Help && self.screen != Screen::Help {
            self.before_help = self.screen;
        }
        self.screen = screen;
    }

    fn turn(&mut self, by: usize) {
        let screens = Screen::NUMBERED;
        let at = screens.iter().position(|it| *it == self.screen).unwrap_or(0);
        self.go(screens[(at + by) % screens.len()]);
    }

    /// Draws everything.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        draw::draw(self, frame);
    }

    fn view(&mut self) -> &mut View {
        &mut self.views[self.screen as usize]
    }

    /// Writes the text of the screen for a width, unless it is up to date.
    fn prepare(&mut self, width: usize) {
        let screen = self.screen;
        if screen == Screen::Kernels || self.views[screen as usize].is_for(width) {
            return;
        }
        let style = Style { width, color: true, full_names: false };
        let report = &self.data.report;
        let absent =
            |what: &str| (format!("no {what}: the recording does not say enough for it\n"), Vec::new());
        let (text, places) = match screen {
            Screen::Guide => match &report.part.guide {
                Some(guide) => (text::guide(guide, &style), Vec::new()),
                None => absent("guide"),
            },
            Screen::Panels => text::panels(report, 2, &style),
            Screen::Roofline => match &report.part.roofline {
                Some(chart) => (text::roofline(chart, &style), Vec::new()),
                None => absent("roofline"),
            },
            Screen::Memory => match &report.part.memory_chart {
                Some(chart) => (text::memory_chart(chart, &style), Vec::new()),
                None => absent("memory chart"),
            },
            Screen::Code => match &self.data.code {
                Code::Listings(all) => code(all, &style),
                Code::Missing(reason) => (text::wrapped(reason, &style), Vec::new()),
            },
            Screen::Kernels | Screen::Help => (HELP.to_owned(), Vec::new()),
        };
        self.views[screen as usize].set(&text, places, width, self.color);
        if screen == Screen::Code {
            self.follow_instruction();
        }
    }

    fn key_in_text(&mut self, key: Key) {
        let rows = self.rows;
        let view = self.view();
        match key {
            Key::Char(']') => view.next_place(true),
            Key::Char('[') => view.next_place(false),
            _ => view.key(key, rows),
        }
    }

    /// Instructions of all listings with their displayed data.
    fn instructions(&self) -> impl Iterator<Item = &view::ListingLine> {
        let all = match &self.data.code {
            Code::Listings(all) => &all[..],
            Code::Missing(_) => &[],
        };
        all.iter().flat_map(|(listing, _)| &listing.lines)
    }

    fn key_in_code(&mut self, key: Key) {
        let count = self.instructions().count();
        if count == 0 {
            return self.key_in_text(key);
        }
        let last = count - 1;
        let at = self.instruction.min(last);
        let rows = self.rows.saturating_sub(2).max(1);
        let to = match key {
            Key::Up | Key::Char('k') => at.saturating_sub(1),
            Key::Down | Key::Char('j') => (at + 1).min(last),
            Key::PageUp => at.saturating_sub(rows),
            Key::PageDown | Key::Char(' ') => (at + rows).min(last),
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            Key::Char('h') => self.hottest(1),
            Key::Char('H') => self.hottest(-1),
            Key::Char('f') => self.finding(at, true),
            Key::Char('F') => self.finding(at, false),
            Key::Char(']') => self.kernel_start(at, true),
            Key::Char('[') => self.kernel_start(at, false),
            Key::Enter => self.branch_target(at),
            _ => return self.key_in_text(key),
        };
        if !matches!(key, Key::Char('h' | 'H')) {
            self.heat = None;
        }
        self.instruction = to;
        self.follow_instruction();
    }

    /// Scrolls to the instruction the cursor is on.
    fn follow_instruction(&mut self) {
        let (instruction, rows) = (self.instruction, self.rows);
        self.views[Screen::Code as usize].follow(instruction, rows);
    }

    fn hottest(&mut self, step: isize) -> usize {
        let mut order: Vec<(u64, usize)> = self
            .instructions()
            .enumerate()
            .filter_map(|(at, line)| Some((line.run.as_ref()?.count, at)))
            .collect();
        if order.is_empty() {
            self.say("the recording does not say what each instruction did");
            return self.instruction;
        }
        order.sort_by_key(|(count, at)| (Reverse(*count), *at));
        let to = self.heat.map_or(0, |at| at.saturating_add_signed(step)).min(order.len() - 1);
        self.heat = Some(to);
        self.say(format!("{} of {} by executions", to + 1, order.len()));
        order[to].1
    }

    fn finding(&mut self, at: usize, forward: bool) -> usize {
        let places: Vec<usize> = self
            .instructions()
            .enumerate()
            .filter(|(_, line)| !line.findings.is_empty())
            .map(|(at, _)| at)
            .collect();
        let next = if forward {
            places.iter().find(|it| **it > at).or(places.first())
        } else {
            places.iter().rev().find(|it| **it < at).or(places.last())
        };
        next.copied().unwrap_or_else(|| {
            self.say("no instruction has a finding");
            at
        })
    }

    fn kernel_start(&self, at: usize, forward: bool) -> usize {
        let Code::Listings(all) = &self.data.code else { return at };
        let starts: Vec<usize> = all
            .iter()
            .scan(0, |next, (listing, _)| {
                let start = *next;
                *next += listing.lines.len();
                Some(start)
            })
            .collect();
        let found = if forward {
            starts.iter().find(|it| **it > at)
        } else {
            starts.iter().rev().find(|it| **it < at)
        };
        found.copied().unwrap_or(at)
    }

    /// The instruction behind the label that a branch names.
    fn branch_target(&mut self, at: usize) -> usize {
        let start = self.kernel_start(at + 1, false);
        let lines: Vec<&view::ListingLine> = self.instructions().collect();
        let target = lines.get(at).and_then(|line| {
            let label = line.text.split_whitespace().last()?;
            let within = lines.iter().enumerate().skip(start);
            within.into_iter().find(|(_, line)| line.label.as_deref() == Some(label)).map(|(at, _)| at)
        });
        target.unwrap_or_else(|| {
            self.say("no branch with a target in this kernel");
            at
        })
    }

    fn type_search(&mut self, key: Key) {
        match key {
            Key::Enter => {
                self.search.typing = false;
                self.find(true);
            }
            Key::Escape => {
                self.search.typing = false;
                self.search.text.clear();
            }
            Key::Backspace => {
                self.search.text.pop();
            }
            Key::Char(c) => self.search.text.push(c),
            _ => {}
        }
    }

    /// Goes to the next place with the text searched for.
    fn find(&mut self, forward: bool) {
        let wanted = self.search.text.to_lowercase();
        if wanted.is_empty() {
            return;
        }
        let found = match self.screen {
            Screen::Kernels => self.find_kernel(&wanted, forward),
            _ => {
                let rows = self.rows;
                let found = self.view().find(&wanted, forward, rows);
                if let (Some(line), Screen::Code) = (found, self.screen)
                    && let Some(at) = self.view().place_at(line)
                {
                    self.instruction = at;
                }
                found.is_some()
            }
        };
        if !found {
            let text = self.search.text.clone();
            self.say(format!("`{text}` is not on this page"));
        }
    }
}

/// Listings one after the other, with the lines of their instructions.
fn code(all: &[(Listing, Vec<Finding>)], style: &Style) -> (String, Vec<usize>) {
    let (mut out, mut places, mut lines) = (String::new(), Vec::new(), 0);
    for (listing, findings) in all {
        let (text, own) = text::listing_with_places(listing, findings, style);
        places.extend(own.into_iter().map(|line| line + lines));
        lines += text.matches('\n').count() + 1;
        out += &text;
        out.push('\n');
    }
    (out, places)
}

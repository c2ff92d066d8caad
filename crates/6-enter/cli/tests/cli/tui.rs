//! `rockhound tui` in a real terminal: tmux gives keys and tells what is seen.
//!
//! Nothing waits for a time, only for a text on the screen, with a limit far beyond what a busy machine
//! needs.

use crate::run::{folder, rockhound, root};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Longest wait for a text.
const LIMIT: Duration = Duration::from_secs(60);

/// Last line of the shell: everything before it is complete.
const LAST: &str = "nothing follows";

/// A private tmux server, ended with the test.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// Runs a shell command in a terminal of 80 columns and 24 lines; `None` if tmux is not installed.
    fn start(test: &str, command: &str) -> Option<Terminal> {
        if !testkit::needs(&["tmux"]) {
            return None;
        }
        let terminal = Terminal { socket: format!("rockhound-{test}-{}", std::process::id()) };
        let command = format!("{command}; echo \"ended with $?\"; stty -a; echo {LAST}; exec sleep 600");
        terminal.tmux(&["new-session", "-d", "-x", "80", "-y", "24", "sh", "-c", &command]);
        Some(terminal)
    }

    fn tmux(&self, args: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.socket, "-f", "/dev/null"])
            .args(args)
            .env_remove("TMUX")
            .env_remove("NO_COLOR");
        let output = tmux.current_dir(root()).output().expect("tmux starts");
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// Presses keys, as tmux names them.
    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Waits until all texts are on the screen.
    fn wait(&self, texts: &[&str]) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            assert!(start.elapsed() < LIMIT, "{texts:?} did not appear:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The terminal is as it was: lines are edited and echoed, and the screen is the shell's.
    fn is_restored(&self, screen: &str) {
        for setting in ["isig icanon", " echo ", "icrnl", "opost"] {
            assert!(screen.contains(setting), "no `{setting}`:\n{screen}");
        }
        let alternate = self.tmux(&["display-message", "-p", "#{alternate_on} #{cursor_flag}"]);
        assert_eq!(String::from_utf8_lossy(&alternate.stdout).trim(), "0 1", "{screen}");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}

/// An emulated recording of the committed example.
fn recording(test: &str) -> String {
    let dir = folder(test).display().to_string();
    let ran = rockhound(&["profile", "examples/vector_copy/LAUNCH.toml", "-o", &dir]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    dir
}

fn tui(dir: &str) -> String {
    format!("'{}' tui '{dir}'", env!("CARGO_BIN_EXE_rockhound"))
}

#[test]
fn pages_keys_and_resizing() {
    let dir = recording("tui_pages");
    let Some(terminal) = Terminal::start("pages", &tui(&dir)) else { return };
    terminal.wait(&["What stops it?", "bound by", "q quit"]);
    terminal.keys(&["2"]);
    terminal.wait(&["bound by", "kernel", "100.0 %", "⏎ choose"]);
    terminal.keys(&["Enter"]);
    terminal.wait(&["only vecCopy", "Top Kernels", "[ ] table"]);
    terminal.keys(&["/"]);
    terminal.wait(&["⏎ search"]);
    terminal.keys(&["-l", "l2 cache hit rate"]);
    terminal.keys(&["Enter"]);
    terminal.wait(&["L2 Cache Hit Rate"]);
    terminal.keys(&["4"]);
    terminal.wait(&["Roofline", "MI300X", "HBM"]);
    terminal.keys(&["5"]);
    terminal.wait(&["Memory chart", "Vector L1"]);
    terminal.keys(&["6"]);
    let narrow = terminal.wait(&["16384", "s_load_dword", "vector_copy.hip:10", "h hottest"]);
    assert!(narrow.lines().all(|line| line.chars().count() <= 80), "{narrow}");
    terminal.tmux(&["resize-window", "-x", "130", "-y", "40"]);
    // Live registers need more columns than there were.
    terminal.wait(&["s_endpgm", " live", "h hottest"]);
    terminal.tmux(&["resize-window", "-x", "30", "-y", "6"]);
    terminal.wait(&["1 guide"]);
    terminal.tmux(&["resize-window", "-x", "80", "-y", "24"]);
    terminal.wait(&["s_load_dword", "h hottest"]);
    terminal.keys(&["G"]);
    terminal.wait(&["s_endpgm"]);
    terminal.keys(&["r"]);
    terminal.wait(&["read again"]);
    terminal.keys(&["q"]);
    let screen = terminal.wait(&["ended with 0", LAST]);
    terminal.is_restored(&screen);
}

#[test]
fn the_terminal_is_given_back_after_a_panic_and_a_signal() {
    let dir = recording("tui_ends");
    let command = format!("RUST_BACKTRACE=0 ROCKHOUND_TEST_PANIC=1 {}", tui(&dir));
    let Some(terminal) = Terminal::start("panic", &command) else { return };
    terminal.wait(&["What stops it?"]);
    terminal.keys(&["P"]);
    let screen = terminal.wait(&["ended with 101", "panicked at", "ROCKHOUND_TEST_PANIC", LAST]);
    terminal.is_restored(&screen);
    drop(terminal);
    let pid = folder("tui_signal").join("pid").display().to_string();
    let command = format!("sh -c 'echo $$ > \"{pid}\"; exec {}'", tui(&dir).replace('\'', "\""));
    let Some(terminal) = Terminal::start("signal", &command) else { return };
    terminal.wait(&["What stops it?"]);
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
    let screen = terminal.wait(&["ended with 143", LAST]);
    terminal.is_restored(&screen);
}

#[test]
fn without_a_terminal_it_says_so() {
    let ran = rockhound(&["tui", "fixtures"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{}", ran.stderr);
    ran.golden("no terminal");
}

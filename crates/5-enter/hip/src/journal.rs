//! What ran, written down dispatch by dispatch.
//!
//! The one idea to keep in mind: a line is complete when its dispatch is; whatever becomes of the program afterwards, the
//! lines stay. `rockhound` reads them and makes the workload.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// First line of a journal.
const HEADER: &str = "rockhound-journal 1\n";

/// An open journal of this process.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    process: u32,
}

/// One finished dispatch.
#[derive(Clone, Debug)]
pub(crate) struct Dispatch {
    pub(crate) kernel: String,
    pub(crate) grid: [u32; 3],
    pub(crate) workgroup: [u32; 3],
    pub(crate) lds: u32,
    pub(crate) scratch: u32,
    pub(crate) vgprs: u32,
    pub(crate) agprs: u32,
    pub(crate) sgprs: u32,
    /// Nanoseconds of emulation since the first call.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) waves: u64,
    pub(crate) instructions: u64,
    /// Counters by name.
    pub(crate) counters: Vec<(String, f64)>,
}

impl Journal {
    /// Opens the journal of this process in a folder.
    pub(crate) fn open(folder: &Path) -> Option<Journal> {
        let process = std::process::id();
        let path = folder.join(format!("{process}.journal"));
        let mut file = match OpenOptions::new().create(true).append(true).open(&path) {
            Ok(file) => file,
            Err(error) => {
                crate::message::say(&format!(
                    "cannot write {}: {error}; nothing is recorded",
                    path.display()
                ));
                return None;
            }
        };
        file.write_all(HEADER.as_bytes()).ok()?;
        Some(Journal { file, process })
    }

    /// Writes a dispatch down. A process that was forked off writes nothing: its numbers would be the parent's.
    pub(crate) fn write(&mut self, dispatch: &Dispatch) {
        if self.process != std::process::id() {
            return;
        }
        let line = dispatch.line();
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            crate::message::say_once(&format!("a dispatch could not be recorded: {error}"));
        }
    }
}

impl Dispatch {
    /// Tab-separated `key=value`, the kernel last: names hold anything but tabs and line ends.
    fn line(&self) -> String {
        use std::fmt::Write as _;
        let three = |values: [u32; 3]| values.map(|it| it.to_string()).join("x");
        let mut line = format!("dispatch\tgrid={}\tworkgroup={}", three(self.grid), three(self.workgroup));
        for (key, value) in [
            ("lds", u64::from(self.lds)),
            ("scratch", u64::from(self.scratch)),
            ("vgprs", u64::from(self.vgprs)),
            ("agprs", u64::from(self.agprs)),
            ("sgprs", u64::from(self.sgprs)),
            ("start", self.start),
            ("end", self.end),
            ("waves", self.waves),
            ("instructions", self.instructions),
        ] {
            let _ = write!(line, "\t{key}={value}");
        }
        for (name, value) in &self.counters {
            let _ = write!(line, "\t{name}={value}");
        }
        let kernel: String = self.kernel.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
        let _ = writeln!(line, "\tkernel={kernel}");
        line
    }
}

//! Logs of this machine: read piece by piece, so that their size does not matter.

use anyhow::{Context, Result, anyhow};
use std::io::Read;
use std::path::Path;
use system::fault::{FaultLog, is_core};
use system::paste::{self, Paste};

/// Most bytes of a core dump; its notes are at the beginning.
const MOST_CORE: u64 = 1 << 29;
/// Bytes of a log that are read at once.
const PIECE: usize = 1 << 20;

/// Content of a file that may be a log.
pub enum Content {
    /// A log or a core dump, read.
    Log(Box<FaultLog>),
    /// A report: outputs of tools, commands and logs in one text; the log of its other lines.
    Report(Box<FaultLog>, Box<Paste>),
    /// Code of a GPU or of the host.
    Code,
}

/// Reads a file; `-` is standard input.
///
/// # Errors
/// The file cannot be read, is empty, or is neither a log, a core dump nor code.
pub fn read(path: &Path) -> Result<Content> {
    let name = path.display().to_string();
    let short = if name == "-" { "standard input".to_owned() } else { name.clone() };
    let mut source: Box<dyn Read> = if name == "-" {
        Box::new(std::io::stdin())
    } else {
        Box::new(std::fs::File::open(path).with_context(|| format!("cannot read `{name}`"))?)
    };
    let mut head = Vec::new();
    let cannot = || format!("cannot read {short}");
    source.by_ref().take(PIECE as u64).read_to_end(&mut head).with_context(cannot)?;
    if head.is_empty() {
        return Err(anyhow!("`{name}`: the file is empty"));
    }
    // Logs of some jobs hold assembly; only binaries are code.
    if is_core(&head) {
        source.take(MOST_CORE).read_to_end(&mut head).with_context(cannot)?;
        return FaultLog::read(&short, &head)
            .map(|log| Content::Log(Box::new(log)))
            .map_err(|error| anyhow!("`{name}`: {error}"));
    }
    if head.starts_with(b"\x7fELF")
        || head.starts_with(b"__CLANG_OFFLOAD_BUNDLE__")
        || head.starts_with(b"CCOB")
        || head.starts_with(b"!<arch>")
    {
        return Ok(Content::Code);
    }
    if head.iter().take(4096).any(|byte| *byte == 0) {
        return Err(anyhow!("`{name}`: binary data, neither a log nor code of a GPU"));
    }
    if head.len() < PIECE || paste::is(&String::from_utf8_lossy(&head)) {
        source
            .by_ref()
            .take((paste::MOST_BYTES - PIECE) as u64)
            .read_to_end(&mut head)
            .with_context(cannot)?;
        let text = String::from_utf8_lossy(&head);
        let report = paste::labelled(&short, &text);
        let report = report.or_else(|| paste::is(&text).then(|| paste::split(&short, &text)));
        if let Some(paste) = report.filter(|_| head.len() < paste::MOST_BYTES) {
            let log = FaultLog::of_text(&short, ::logs::Scan::text(paste.log.as_bytes()));
            return Ok(Content::Report(Box::new(log), Box::new(paste)));
        }
    }
    let mut scan = ::logs::Scan::new();
    while !head.is_empty() {
        scan.feed(&head);
        head.clear();
        source.by_ref().take(PIECE as u64).read_to_end(&mut head).with_context(cannot)?;
    }
    let log = FaultLog::of_text(&short, scan.finish());
    if log.is_empty() && log.text.prefixed == 0 {
        return Err(anyhow!(
            "`{name}`: {} without a known message, an error or the prefix of a log",
            view::counted(log.text.lines, "line")
        ));
    }
    Ok(Content::Log(Box::new(log)))
}

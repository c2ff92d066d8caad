//! Destination of output: standard output or a file.
//!
//! A reader that has seen enough closes the pipe; that ends the program quietly and without error.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

/// Buffered output.
pub(crate) enum Output {
    Stdout(BufWriter<StdoutLock<'static>>),
    File { writer: BufWriter<File>, name: String },
}

impl Output {
    /// Standard output, or the file named.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        match path {
            None => Ok(Output::Stdout(BufWriter::with_capacity(1 << 16, io::stdout().lock()))),
            Some(path) => {
                let name = path.display().to_string();
                let file = File::create(path).with_context(|| format!("cannot write `{name}`"))?;
                Ok(Output::File { writer: BufWriter::with_capacity(1 << 16, file), name })
            }
        }
    }

    /// Writes text.
    pub(crate) fn write(&mut self, text: &str) -> Result<()> {
        self.write_bytes(text.as_bytes())
    }

    /// Writes bytes.
    pub(crate) fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Output::Stdout(writer) => writer.write_all(bytes)?,
            Output::File { writer, name } => {
                writer.write_all(bytes).with_context(|| format!("cannot write `{name}`"))?;
            }
        }
        Ok(())
    }

    /// Writes the buffered data.
    pub(crate) fn finish(mut self) -> Result<()> {
        match &mut self {
            Output::Stdout(writer) => writer.flush()?,
            Output::File { writer, name } => {
                writer.flush().with_context(|| format!("cannot write `{name}`"))?
            }
        }
        Ok(())
    }
}

/// Writes all of a text to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut output = Output::open(None)?;
    output.write(text)?;
    output.finish()
}

/// Writes a page and says so; `-` is standard output.
pub(crate) fn page(path: &Path, html: &str) -> Result<()> {
    let to_file = path != Path::new("-");
    let mut output = Output::open(to_file.then_some(path))?;
    output.write(html)?;
    output.finish()?;
    if to_file {
        eprintln!("wrote {} ({} KB)", path.display(), html.len().div_ceil(1000));
    }
    Ok(())
}

/// Makes the program end without a panic when nobody reads its messages any more: `eprintln!` panics then.
pub(crate) fn end_without_stderr() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if text.starts_with("failed printing to stderr") && text.contains("os error 32") {
            std::process::exit(1);
        }
        usual(panic);
    }));
}

/// True if an error only means that the reader of a pipe has gone.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

//! Flags of `trace`.

use super::{formats, source};
use clap::{Args, ValueEnum, ValueHint};
use host::Source;
use render::Part;
use std::path::PathBuf;
use view::{Format, Plain};

/// Show where the time between kernels goes: idle time and why, overlap, launches, operators, collectives.
///
/// Reads traces of the PyTorch profiler, rocprofv3 (JSON, CSV, rocpd), rocprof v1 and v2, rocprof-sys and
/// Perfetto, packed or not; files are recognised by what they hold. Several traces are ranks of one run. See
/// docs/trace.md.
#[derive(Args)]
#[command(after_help = "Examples:
  rockhound trace train.pt.trace.json.gz               one trace: time, kernels, operators
  rockhound trace rank*.json.gz                        ranks of one run: stragglers, collectives
  rockhound trace new.json --base old.json             what changed, kernel by kernel
  rockhound trace run.json -k 'Cijk|gemm' --step 15    some kernels, one step
  rockhound trace run.json --from 1.5s --to 2s -b all  every table of half a second
  rockhound trace run.json --untuned gemms.csv         matrix products for TunableOp
  rockhound trace run.json --tunings tuned/            products slower than their tuning (TRC006)
  rockhound trace run.json -o run.html                 the timeline as a page
  rockhound trace run.db --export perfetto -o run.pftrace")]
pub(crate) struct Trace {
    /// Traces, or folders of them.
    #[arg(required = true, value_name = "FILE", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) files: Vec<Source>,
    /// Compare with this trace.
    #[arg(long, value_name = "FILE", value_parser = source(), value_hint = ValueHint::AnyPath)]
    pub(crate) base: Option<Source>,
    /// Only kernels whose name matches.
    #[arg(long, short, value_name = "REGEX")]
    pub(crate) kernel: Option<String>,
    /// Only what begins at this time after the trace's begin or later: `1.5s`, `20ms`, `300us`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) from: Option<i64>,
    /// Only what begins before this time after the trace's begin.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) to: Option<i64>,
    /// Only what these steps of the profiler launched.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) step: Vec<u64>,
    /// Only these tables `2.1`, groups of tables `2`, or `all`. Text and markdown show the most asked for,
    /// JSON and CSV all.
    #[arg(long = "block", short = 'b', value_name = "BLOCK", num_args = 1..)]
    pub(crate) blocks: Vec<String>,
    /// Rows of each table; 0 shows all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    /// Decimals in text and markdown; other formats are exact.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=15))]
    pub(crate) decimal: u8,
    /// Exit with 2 when there is a finding of this rule, or of this severity or worse (info, warning,
    /// severe).
    #[arg(long, value_name = "RULE|SEVERITY")]
    pub(crate) fail_on: Vec<String>,
    #[command(flatten)]
    pub(crate) memory: super::Memory,
    /// Compare matrix products with the times of these tuning files or folders of them; see `rockhound
    /// tunedb`.
    #[arg(long, value_name = "FILE")]
    pub(crate) tunings: Vec<PathBuf>,
    /// Write the matrix products to a file, as TunableOp lists those it is to tune.
    #[arg(long, value_name = "FILE")]
    pub(crate) untuned: Option<PathBuf>,
    /// Write the selected part of the timeline instead of a report.
    #[arg(long, value_enum, value_name = "KIND", requires = "output", conflicts_with_all = ["base", "format"])]
    pub(crate) export: Option<Export>,
    /// Read large traces again, without the index that the first run left in the user's cache folder.
    #[arg(long)]
    pub(crate) no_index: bool,
    /// Output format.
    #[arg(long, value_name = "FORMAT", value_parser = formats(Plain::FORMATS), default_value = "text")]
    pub(crate) format: Format,
    /// Write to a file instead of standard output; one that ends in `.html` is a page with the timeline.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Export {
    /// Chrome trace events, for chrome://tracing, Perfetto and TensorBoard.
    Chrome,
    /// Perfetto protobuf, for ui.perfetto.dev.
    Perfetto,
}

/// `1.5s`, `20ms`, `300us`, `5ns` as nanoseconds; a plain number is milliseconds.
fn time(text: &str) -> Result<i64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &text[digits.len()..] {
        "s" => 1e9,
        "" | "ms" => 1e6,
        "us" => 1e3,
        "ns" => 1.0,
        other => return Err(format!("`{other}` is no unit of time: s, ms, us, ns")),
    };
    let value: f64 = digits.parse().map_err(|_| format!("`{text}` is no time such as `20ms`"))?;
    if value.is_finite() && value >= 0.0 && value * scale < 9e18 {
        Ok((value * scale).round() as i64)
    } else {
        Err(format!("`{text}` is no time such as `20ms`"))
    }
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times() {
        for (text, ns) in [("1.5s", 1_500_000_000), ("20ms", 20_000_000), ("3", 3_000_000), ("5ns", 5)] {
            assert_eq!(time(text), Ok(ns), "{text}");
        }
        for text in ["", "s", "-1s", "5h", "1e30s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}

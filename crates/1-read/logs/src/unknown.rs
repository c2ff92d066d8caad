//! Lines that look like errors and match no message of the table.

use crate::Level;

/// Words that errors are written with; searched without regard to case.
pub(crate) const ALARMS: &[&str] = &[
    "error",
    "fail",
    "abort",
    "timeout",
    "timed out",
    "exception",
    "fatal",
    "killed",
    "terminated",
    "traceback (most recent",
    "segmentation",
    "core dumped",
    "panic",
    "assert",
    "unable to",
    "out of memory",
    "no such file",
    "not supported",
    "unsupported",
    "corrupt",
    "signal ",
    "oops:",
    "is fatal",
    "are_fatal",
    "illegal instruction",
];

/// Texts with an alarm word that report no error: counters of errors that are zero, options, names of classes.
const HARMLESS: &[&str] = &[
    "0 error",
    "no error",
    "error: 0",
    "errors: 0",
    "error=0",
    "errors=0",
    "error rate",
    "error_rate",
    "without error",
    "0 failed",
    "failed: 0",
    "failures: 0",
    "fail_fast",
    "failover",
    "errorcorrect",
    "error-correct",
    "error correction",
    "mean squared error",
    "absolute error",
    "relative error",
    "error bound",
    "max error",
    "err_ratio",
    "hiperrornotready",
    "timeout=",
    "timeout:",
    "timeout of",
    "timeout is",
    "timeout(",
    "_timeout",
    "timeout_",
    "default timeout",
    "set timeout",
    "keepalive",
    "assertion_",
    "static_assert",
    "hipsuccess",
    "log_level",
    "failed=0",
    "out of bounds wrong", // the summary line of rccl-tests
    "avg bus bandwidth",
];

/// Whether a line without its prefixes reads like the report of an error.
pub fn looks_like_error(text: &str, level: Option<Level>) -> bool {
    if level == Some(Level::Error) {
        return !text.is_empty() && !is_residual(text);
    }
    // Source lines, frames and options of a traceback say nothing without its last line.
    let start = text.trim_start();
    if start.starts_with("File \"")
        || start.starts_with("frame #")
        || start.starts_with('#')
        || start.starts_with("^")
        || start.strip_prefix('@').is_some_and(|it| it.trim_start().starts_with("0x"))
        || text.len() > 20_000
    {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    // Its condition may be any text.
    if lower.contains(": assertion `") && lower.contains("' failed") {
        return true;
    }
    if HARMLESS.iter().any(|it| lower.contains(it)) {
        return false;
    }
    if lower
        .rsplit_once([':', '='])
        .is_some_and(|(name, value)| name.trim_end().ends_with("error") && is_residual(value))
    {
        return false;
    }
    if is_exception(start) {
        return true;
    }
    const STRONG: &[&str] = &[
        "error:",
        "error :",
        "fatal error",
        "fatal:",
        "failed to ",
        "failed with",
        "failure:",
        " failed",
        "aborted",
        "aborting",
        "timed out",
        "timeout waiting",
        "segmentation fault",
        "core dumped",
        "killed",
        "terminated by",
        "terminate called",
        "exited with",
        "out of memory",
        "kernel panic",
        "assertion `",
        "assertion failed",
        "assert failed",
        "unhandled exception",
        "uncaught exception",
        "caught signal",
        "received signal",
        "corrupted",
        "no such file or directory",
        "an error occurred in",
        "errors_are_fatal",
        "write error",
        "read error",
        "i/o error",
        " oops: ",
        "unable to handle",
        "unable to open /",
        "illegal instruction detected",
        "floating point exception",
    ];
    STRONG.iter().any(|it| lower.contains(it))
        || lower.starts_with("error")
        || lower.starts_with("fatal")
        || lower.starts_with("oops: ")
        || lower.starts_with("unable to ")
        || lower.contains("[error]")
}

/// Whether a value is how far a result is off: `9.8e-31`. Codes are whole numbers.
fn is_residual(value: &str) -> bool {
    value.contains(['.', 'e']) && value.trim().parse::<f64>().is_ok()
}

/// The last line of a Python traceback: `pkg.SomeError: text`.
fn is_exception(text: &str) -> bool {
    let Some((name, _)) = text.split_once(':') else { return false };
    let last = name.rsplit('.').next().unwrap_or(name);
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
        && (last.ends_with("Error") || last.ends_with("Exception"))
        && last.starts_with(|c: char| c.is_ascii_uppercase())
}

/// A line without what varies between repeats: numbers become `#`.
pub(crate) fn shape(text: &str) -> String {
    let mut out = String::new();
    let mut in_number = false;
    for c in text.chars().take(300) {
        let is_digit = c.is_ascii_digit() || in_number && c.is_ascii_hexdigit();
        if is_digit {
            if !in_number {
                out.push('#');
            }
        } else {
            out.push(c);
        }
        in_number = is_digit || in_number && matches!(c, 'x' | '.');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_what_only_has_the_word() {
        for (text, expected) in [
            ("ValueError: x", true),
            ("Error:                 9.805532e-31", false),
            ("L2 error = 0.5", false),
            ("hip error: 719", true),
            ("torch.distributed.DistBackendError: x", true),
            ("ninja: build stopped: subcommand failed.", true),
            ("ERROR something", true),
            ("Segmentation fault (core dumped)", true),
            ("clang: error: linker command failed", true),
            ("step 3: loss 0.1, error rate 0.2", false),
            ("0 errors, 3 warnings", false),
            ("timeout=600", false),
            ("# Out of bounds values : 0 OK", false),
            ("  File \"error.py\", line 3, in f", false),
            ("import errors", false),
            ("cxil_map: write error", true),
            ("inner loops: write it", false),
            ("*** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,", true),
            ("app: a.cpp:7: void f(): Assertion `err == hipSuccess' failed.", true),
            ("    @     0x7f3925514639  absl::LogMessageFatal::~LogMessageFatal()", false),
            ("BUG: unable to handle kernel paging request at ffffc90019ecd000", true),
            ("hipStreamQuery: Returned hipErrorNotReady : ", false),
        ] {
            assert_eq!(looks_like_error(text, None), expected, "{text}");
        }
        assert!(looks_like_error("anything", Some(Level::Error)));
    }

    #[test]
    fn repeats_have_one_shape() {
        assert_eq!(shape("at 0x7f00ab in 3 of 12"), shape("at 0x1234 in 9 of 1"));
        assert_ne!(shape("a 1"), shape("b 1"));
    }
}

//! `cargo xtask picture`: draws a command's terminal output as `docs/inspect.svg`, the picture of the README.
//!
//! The one idea to keep in mind: the picture is made from the real output, so it cannot promise what the
//! program does not print.

use crate::run::root;
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use std::process::Command;

/// The command of the picture, as a user types it.
const COMMAND: &[&str] = &["inspect", "examples/tiled_matmul/tiled_matmul.gfx942.hsaco"];
const COLUMNS: usize = 100;
const CELL: (f32, f32) = (8.43, 18.0);
const MARGIN: f32 = 18.0;
const BACKGROUND: &str = "#16181d";
const FOREGROUND: &str = "#d7dae0";
/// Colours 0 to 7 and their bright forms.
const PALETTE: [&str; 16] = [
    "#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0", "#7f848e",
    "#ff7b86", "#b5e890", "#ffd787", "#7fc1ff", "#df95f5", "#6fd3de", "#ffffff",
];

/// Runs the command and writes the picture; with an argument, the program is there already.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let root = root();
    let mut command = match arguments {
        [] => {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(["run", "--release", "--quiet", "--package", "rockhound", "--"]);
            cargo
        }
        [program] => Command::new(program),
        _ => bail!("`picture` takes at most the program to run"),
    };
    let output = command
        .args(COMMAND)
        .args(["--color", "always", "--width", &COLUMNS.to_string()])
        .current_dir(root)
        .output()
        .context("cannot run rockhound")?;
    ensure!(output.status.success(), "rockhound failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).context("output is not UTF-8")?;
    let path = root.join("docs/inspect.svg");
    std::fs::write(&path, draw(&format!("\x1b[2m$\x1b[0m rockhound {}\n\n{text}", COMMAND.join(" "))))
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// How a run of characters looks.
#[derive(Clone, Copy, Default, PartialEq)]
struct Style {
    colour: Option<usize>,
    bold: bool,
    dim: bool,
}

fn draw(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let width = CELL.0 * COLUMNS as f32 + 2.0 * MARGIN;
    let height = CELL.1 * lines.len() as f32 + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"terminal output of rockhound inspect\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" \
         fill=\"{FOREGROUND}\" xml:space=\"preserve\">\n"
    );
    let mut style = Style::default();
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + CELL.1 * (row as f32 + 0.75);
        let mut column = 0;
        for (run, next) in runs(line) {
            let chars = run.chars().count();
            if !run.trim().is_empty() {
                let x = MARGIN + CELL.0 * column as f32;
                let length = CELL.0 * chars as f32;
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"{}>{}</text>",
                    attributes(style),
                    escape(run)
                );
            }
            column += chars;
            if let Some(codes) = next {
                style = apply(style, codes);
            }
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Splits a line at its colour sequences: text, and the codes that follow it.
fn runs(line: &str) -> Vec<(&str, Option<&str>)> {
    let mut runs = Vec::new();
    let mut rest = line;
    while let Some((text, after)) = rest.split_once("\x1b[") {
        let (codes, after) = after.split_once('m').unwrap_or((after, ""));
        runs.push((text, Some(codes)));
        rest = after;
    }
    runs.push((rest, None));
    runs
}

fn apply(mut style: Style, codes: &str) -> Style {
    for code in codes.split(';') {
        match code.parse::<usize>().unwrap_or(0) {
            0 => style = Style::default(),
            1 => style.bold = true,
            2 => style.dim = true,
            22 => (style.bold, style.dim) = (false, false),
            39 => style.colour = None,
            colour @ 30..=37 => style.colour = Some(colour - 30),
            colour @ 90..=97 => style.colour = Some(colour - 90 + 8),
            _ => {}
        }
    }
    style
}

fn attributes(style: Style) -> String {
    let mut attributes = String::new();
    if let Some(colour) = style.colour {
        let _ = write!(attributes, " fill=\"{}\"", PALETTE[colour]);
    }
    if style.bold {
        attributes.push_str(" font-weight=\"bold\"");
    }
    if style.dim {
        attributes.push_str(" opacity=\"0.6\"");
    }
    attributes
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

//! `cargo xtask picture`: draws the terminal output of commands as the pictures of the README.
//!
//! The picture is made from real output, so it shows only what the program prints.

use crate::run::root;
use anyhow::{Context, Result, bail, ensure};
use std::fmt::Write as _;
use std::process::Command;

/// Files in `docs`, each with the command of the picture as a user types it, and how the line begins before
/// which it ends.
const PICTURES: &[(&str, &[&str], Option<&str>)] = &[
    ("profile.svg", &["profile", "examples/vector_copy/LAUNCH.toml"], Some("n/a  why")),
    ("inspect.svg", &["inspect", "examples/tiled_matmul/tiled_matmul.gfx942.hsaco"], None),
];
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

/// Runs the commands and writes the pictures; with an argument, the program is built already.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    PICTURES.iter().try_for_each(|(file, words, end)| picture(file, words, *end, arguments))
}

fn picture(file: &str, words: &[&str], end: Option<&str>, arguments: &[String]) -> Result<()> {
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
        .args(words)
        .args(["--color", "always", "--width", &COLUMNS.to_string()])
        .current_dir(root)
        .output()
        .context("cannot run rockhound")?;
    ensure!(output.status.success(), "rockhound failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).context("output is not UTF-8")?;
    // Colour escapes may precede the words.
    let ends = |line: &str| end.is_some_and(|end| plain(line).starts_with(end));
    let text: String = text.split_inclusive('\n').take_while(|line| !ends(line)).collect();
    let path = root.join("docs").join(file);
    std::fs::write(&path, draw(&format!("\x1b[2m$\x1b[0m rockhound {}\n\n{text}", words.join(" "))))
        .with_context(|| format!("cannot write `{}`", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// A line without escapes of colour.
fn plain(line: &str) -> String {
    line.split('\x1b').enumerate().fold(String::new(), |text, (at, part)| {
        let part = if at == 0 { part } else { part.split_once('m').map_or("", |(_, rest)| rest) };
        text + part
    })
}

/// Style of a run of characters.
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
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"terminal output of rockhound\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" \
         fill=\"{FOREGROUND}\">\n"
    );
    let mut style = Style::default();
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + CELL.1 * (row as f32 + 0.75);
        let mut column = 0;
        for (run, next) in runs(line) {
            for (at, piece) in pieces(run) {
                let x = MARGIN + CELL.0 * (column + at) as f32;
                let length = CELL.0 * piece.chars().count() as f32;
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\"{}>{}</text>",
                    attributes(style),
                    escape(piece)
                );
            }
            column += run.chars().count();
            if let Some(codes) = next {
                style = apply(style, codes);
            }
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Text between runs of spaces, which pictures may show as one space, and the column of each.
fn pieces(run: &str) -> Vec<(usize, &str)> {
    let mut pieces = Vec::new();
    let mut column = 0;
    for (number, part) in run.split("  ").enumerate() {
        column += if number == 0 { 0 } else { 2 };
        let before = part.chars().count() - part.trim_start().chars().count();
        if !part.trim().is_empty() {
            pieces.push((column + before, part.trim()));
        }
        column += part.chars().count();
    }
    pieces
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
    let mut codes = codes.split(';').map(|code| code.parse::<usize>().unwrap_or(0));
    while let Some(code) = codes.next() {
        match code {
            // One of 256 colours.
            38 if codes.next() == Some(5) => style.colour = codes.next(),
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

/// One of 256 colours: the palette, a cube of 6 x 6 x 6, and greys.
fn rgb(colour: usize) -> String {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    match colour {
        0..16 => PALETTE[colour].to_string(),
        16..232 => {
            let [red, green, blue] = [36, 6, 1].map(|place| LEVELS[(colour - 16) / place % 6]);
            format!("#{red:02x}{green:02x}{blue:02x}")
        }
        _ => {
            let grey = 8 + 10 * (colour.min(255) - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}

fn attributes(style: Style) -> String {
    let mut attributes = String::new();
    if let Some(colour) = style.colour {
        let _ = write!(attributes, " fill=\"{}\"", rgb(colour));
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

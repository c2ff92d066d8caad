//! `rockhound roofline`: the roofline alone, of one recording or several.
//!
//! It is the chart of `analyze` for each recording; here they get different letters and one plot.

mod measure;

use crate::answer;
use crate::args::{Level, Look, Placed, Roofline, Type};
use crate::exit::Outcome;
use crate::output::{self, Output};
use crate::picture::{self, Chart, Kind};
use crate::{subjects, terminal};
use anyhow::Result;
use host::subjects::Asked;
use render::svg::{DARK, LIGHT, Picture, Plotted, Theme};
use render::{How, Style, svg};
use view::{Format, Rooflines};

/// Size of a picture's plot.
const SIZE: (f64, f64) = (1000.0, 600.0);

/// Columns of the numbers below a picture.
const NUMBERS: usize = 110;

/// Draws.
pub(crate) fn run(args: &Roofline, look: &Look) -> Result<Outcome> {
    if args.measure {
        return measure::run(args, look);
    }
    // A format that cannot be drawn is reported before anything is read.
    let kind = args.output.as_deref().map(Kind::of).transpose()?;
    let asked = Asked {
        sources: args.paths.clone(),
        arch: args.pick.arch.clone(),
        corrections: args.pick.specs_correction.clone(),
        wanted: args.pick.wanted(),
        matches: Vec::new(),
        ranks: args.pick.ranks.map(Into::into),
        runs: args.pick.runs.map(Into::into),
    };
    let measured = subjects::measured(&asked)?;
    let levels: Vec<&str> = args.only.iter().copied().map(Level::name).collect();
    let types: Vec<&str> = args.types.iter().copied().map(Type::name).collect();
    let placed = match args.placed {
        Placed::Kernels => study::Placed::Kernels,
        Placed::Dispatches => study::Placed::Dispatches,
    };
    let shown = study::Shown { levels: &levels, types: &types, top: usize::from(args.top), placed };
    let all = measured.rooflines(&shown)?;
    match (&args.output, kind) {
        (Some(path), Some(kind)) => {
            let theme = if args.dark { &DARK } else { &LIGHT };
            let plain = Style { width: NUMBERS, color: false, full_names: args.kernel_names };
            let chart = Chart {
                svg: &drawn(&all.part, args, theme),
                title: &title(&all.part),
                numbers: &render::answer(&all, Format::Text, &how(plain)),
                theme,
            };
            let bytes = picture::make(&chart, kind)?;
            let mut output = Output::open(Some(path))?;
            output.write_bytes(&bytes)?;
            output.finish()?;
            eprintln!("wrote {}", path.display());
        }
        _ => {
            let mut style = terminal::style(look, false);
            style.full_names |= args.kernel_names;
            output::print(&render::answer(&all, args.format, &how(style)))?;
        }
    }
    let ended = answer::end(&all, false);
    Ok(if measured.failed() { Outcome::InputError } else { ended })
}

fn how(style: Style) -> How<'static> {
    How { decimals: usize::from(answer::DECIMALS), style, version: env!("CARGO_PKG_VERSION"), rules: &[] }
}

fn drawn(all: &Rooflines, args: &Roofline, theme: &Theme) -> String {
    let alone = all.workloads.len() == 1;
    let charts: Vec<Plotted<'_>> = all
        .workloads
        .iter()
        .map(|it| Plotted { name: if alone { "" } else { &it.name }, chart: &it.roofline })
        .collect();
    let picture = Picture { width: SIZE.0, height: SIZE.1, theme: Some(theme), names: args.kernel_names };
    svg::roofline(&charts, &picture)
}

fn title(all: &Rooflines) -> String {
    let names: Vec<&str> = all.workloads.iter().map(|it| it.path.as_str()).collect();
    format!("Roofline of {}", names.join(", "))
}

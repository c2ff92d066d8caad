//! The charts as SVG: golden pictures, and numbers and names that break careless drawing.
//!
//! `UPDATE_GOLDEN=1 cargo test -p rockhound-render` rewrites the pictures; open them in a browser before
//! committing.

use crate::chart_values::{emulated_memory, memory, over_time};
use crate::golden_file::check;
use rockhound_render::svg::{self, DARK, LIGHT, Picture, Plotted};
use view::{Ceiling, CeilingBasis, Number, RoofVerdict, RooflineChart, RooflineKernel, RooflineLevel};

fn kernel(mark: char, name: &str, percent: f64, rate: f64, places: [f64; 3]) -> RooflineKernel {
    let level = |(level, intensity): (&str, f64)| RooflineLevel {
        level: level.to_owned(),
        bytes: Number::from(1e6),
        intensity: Number::from(intensity),
        bandwidth: Number::from(rate / intensity),
        percent: Number::from(rate / intensity / 16.0),
        bytes_trust: None,
        intensity_trust: None,
        bandwidth_trust: None,
    };
    RooflineKernel {
        mark,
        name: name.to_owned(),
        dispatches: 3,
        time_ns: Number::from(percent * 1e4),
        time_percent: Number::from(percent),
        flops: Number::from(2e9),
        rate: Number::from(rate),
        time_trust: None,
        flops_trust: None,
        rate_trust: None,
        levels: ["HBM", "L2", "vL1D"].into_iter().zip(places).map(level).collect(),
        verdict: RoofVerdict {
            bound_by: Some("HBM".to_owned()),
            percent_of_roof: Number::from(44.0),
            gap: Number::from(2.3),
            text: "44 % of the data sheet's 1600".to_owned(),
            trust: None,
        },
    }
}

fn roofline(kernels: Vec<RooflineKernel>) -> RooflineChart {
    let ceiling =
        |name: &str, value, unit, basis, used| Ceiling { name: name.to_owned(), value, unit, basis, used };
    let (sheet, measured) = (CeilingBasis::DataSheet, CeilingBasis::Measured);
    RooflineChart {
        machine: "made-up · 104 CUs".to_owned(),
        bandwidths: vec![
            ceiling("HBM", 1600.0, "GB/s", measured, true),
            ceiling("L2", 7000.0, "GB/s", sheet, true),
            ceiling("vL1D", 9000.0, "GB/s", sheet, true),
        ],
        rates: vec![
            ceiling("vector f32", 22_000.0, "Gflop/s", sheet, true),
            ceiling("vector f64", 22_000.0, "Gflop/s", sheet, true),
            ceiling("matrix f16", 180_000.0, "Gflop/s", sheet, false),
        ],
        kernels,
        left_out: 0,
        notes: Vec::new(),
    }
}

fn picture(theme: &svg::Theme) -> Picture<'_> {
    Picture { width: 900.0, height: 480.0, theme: Some(theme), names: true }
}

#[test]
fn pictures() {
    let base = roofline(vec![
        kernel('A', "gemm<float>(float const*)", 80.0, 531.0, [0.5, 0.27, 0.08]),
        kernel('B', "reduce", 12.0, 60.0, [0.06, 0.06, 0.03]),
    ]);
    let new = roofline(vec![
        kernel('A', "gemm<float>(float const*)", 70.0, 2100.0, [2.0, 0.9, 0.3]),
        kernel('B', "reduce", 20.0, 60.0, [0.06, 0.06, 0.03]),
    ]);
    let one = [Plotted { name: "", chart: &base }];
    let two = [Plotted { name: "before", chart: &base }, Plotted { name: "after", chart: &new }];
    check("roofline.svg", &svg::roofline(&one, &picture(&LIGHT)));
    let compared = svg::roofline(&two, &picture(&DARK));
    // One arrow per level of the kernel that moved; none for the one that did not.
    assert_eq!(compared.matches("class=\"moved\"").count(), 3, "{compared}");
    check("roofline-compared.svg", &compared);
    check("memory.svg", &svg::memory_chart(&memory(Some(61.0)), &picture(&LIGHT)));
    let emulated = svg::memory_chart(&emulated_memory(Some(61.0)), &picture(&LIGHT));
    assert!(emulated.contains("≈61 %<title>modelled ±46 %</title>"), "{emulated}");
    assert!(emulated.contains("<title>bytes: modelled ±6 %, rate: modelled ±46 %</title>"), "{emulated}");
    check("memory-emulated.svg", &emulated);
}

#[test]
fn any_number_is_drawn_or_left_out() {
    let values = [0.0, -1.0, 1e-300, 1e300, 12.0, f64::MIN_POSITIVE];
    for rate in values {
        for intensity in values {
            let chart = roofline(vec![kernel('A', "k", rate, rate, [intensity, 1.0, 1e-9])]);
            for picture in [picture(&LIGHT), Picture::in_page(320.0, 200.0), Picture::in_page(0.0, 0.0)] {
                let out = svg::roofline(&[Plotted { name: "", chart: &chart }], &picture);
                assert!(!out.contains("NaN") && !out.contains("inf"), "{rate} {intensity}: {out}");
            }
        }
        let chart = memory(Some(rate));
        let out = svg::memory_chart(&chart, &picture(&LIGHT));
        assert!(!out.contains("NaN") && !out.contains("inf"), "{rate}: {out}");
    }
    let out = svg::memory_chart(&memory(None), &picture(&LIGHT));
    assert!(out.contains("n/a"), "{out}");
    assert_eq!(svg::roofline(&[], &picture(&LIGHT)), "");
    let none = svg::roofline(&[Plotted { name: "", chart: &roofline(Vec::new()) }], &picture(&LIGHT));
    assert!(none.contains("no points"), "{none}");
}

#[test]
fn waves_over_time_are_steps_from_start_to_end() {
    let chart = over_time();
    let out = svg::waves(&chart.kernels[0], &chart, &Picture::in_page(980.0, 170.0));
    // The area is level at the top for three quarters of the time, and all but at the bottom for the rest.
    assert!(out.contains("points=\"62,148 62,10 75.7,10 "), "{out}");
    assert!(out.contains("717.5,10 717.5,146.7 "), "{out}");
    assert!(out.contains(">≈3328</text>") && out.contains(">≈12.3 us</text>"), "{out}");
    let out = svg::waves(&chart.kernels[1], &chart, &Picture::in_page(0.0, 0.0));
    assert!(!out.contains("NaN") && !out.contains("inf"), "{out}");
}

#[test]
fn names_stay_text() {
    for name in ["<script>alert(1)</script>", "\"><svg onload=x>", "]]>", "a\u{0}b", &"n".repeat(10_000)] {
        let chart = roofline(vec![kernel('A', name, 80.0, 531.0, [0.5, 0.27, 0.08])]);
        let out = svg::roofline(&[Plotted { name, chart: &chart }], &picture(&LIGHT));
        assert!(!out.contains("<script") && !out.contains("<svg onload") && !out.contains('\u{0}'), "{out}");
        assert!(out.len() < 60_000, "{} bytes", out.len());
    }
}

#[test]
fn the_numbers_of_a_kernel_fit_the_diagram_of_the_whole() {
    let (whole, part) = (memory(Some(61.0)), memory(None));
    let (a, b) = (svg::slots(&whole, &whole), svg::slots(&whole, &part));
    assert_eq!(a.texts.len(), b.texts.len());
    assert_eq!(a.shares.len(), b.shares.len());
    assert_eq!(svg::memory_chart(&whole, &picture(&LIGHT)).matches("class=\"slot ").count(), a.texts.len());
    assert!(a.trust.is_empty(), "what was measured needs no word about it");
    let emulated = emulated_memory(Some(61.0));
    assert_eq!(svg::slots(&whole, &emulated).trust.len(), a.texts.len());
    assert!(b.shares.iter().all(Option::is_none) && b.texts.iter().any(|text| text.contains("n/a")));
}

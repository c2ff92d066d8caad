//! The charts of a recording: what fits where, and what is said when numbers are missing.

mod chart_values;

use chart_values::{UNSEEN, memory};
use render::{Style, text};
use view::{Ceiling, CeilingBasis, Number, RoofVerdict, RooflineChart, RooflineKernel, RooflineLevel};

fn number(value: Option<f64>) -> Number {
    value.map_or_else(|| Number::missing("not recorded"), Number::Known)
}

fn roofline(rate: Option<f64>, intensity: Option<f64>) -> RooflineChart {
    let ceiling = |name: &str, value, unit| Ceiling {
        name: name.to_owned(),
        value,
        unit,
        basis: CeilingBasis::DataSheet,
        used: true,
    };
    let level = |name: &str| RooflineLevel {
        level: name.to_owned(),
        bytes: number(Some(1e6)),
        intensity: number(intensity),
        bandwidth: number(rate.map(|_| 700.0)),
        percent: number(rate.map(|_| 44.0)),
    };
    RooflineChart {
        machine: "made-up · 104 CUs".to_owned(),
        bandwidths: vec![ceiling("HBM", 1600.0, "GB/s"), ceiling("L2", 7000.0, "GB/s")],
        rates: vec![ceiling("vector f32", 22_000.0, "Gflop/s")],
        kernels: vec![RooflineKernel {
            mark: 'A',
            name: "a_kernel<with, a, very, long, list, of, arguments, that, does, not, fit, on, a, line>"
                .to_owned(),
            dispatches: 1,
            time_ns: number(rate.map(|_| 1e6)),
            time_percent: number(rate.map(|_| 100.0)),
            flops: number(Some(2e9)),
            rate: number(rate),
            levels: vec![level("HBM"), level("L2")],
            verdict: RoofVerdict {
                bound_by: rate.map(|_| "HBM".to_owned()),
                percent_of_roof: number(rate.map(|_| 44.0)),
                gap: number(rate.map(|_| 2.3)),
                text: "44 % of the data sheet's 1600".to_owned(),
            },
        }],
        left_out: 3,
        notes: Vec::new(),
    }
}

fn style(width: usize) -> Style {
    Style { width, ..Style::default() }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 80, 100, 160] {
        for value in [
            None,
            Some(0.0),
            Some(12.0),
            Some(99_999.0),
            Some(123_456_789.0),
            Some(1e300),
            Some(-1e300),
            Some(1e-300),
        ] {
            let charts = [
                text::roofline(&roofline(value, value), &style(width)),
                text::memory_chart(&memory(value), &style(width)),
            ];
            for chart in charts {
                for line in chart.lines() {
                    // The table of levels has its columns even where there are fewer.
                    let most = if width < 80 { 80 } else { width };
                    assert!(line.chars().count() <= most, "{width} {value:?}: {line}");
                }
            }
        }
    }
}

#[test]
fn bandwidths_without_operations_fit_eighty_columns() {
    let mut chart = roofline(Some(0.0), None);
    chart.kernels[0].flops = number(Some(0.0));
    for name in ["vL1D", "LDS"] {
        let level = RooflineLevel { level: name.to_owned(), ..chart.kernels[0].levels[0].clone() };
        chart.kernels[0].levels.push(level);
    }
    let out = text::roofline(&chart, &style(80));
    assert!(out.contains("vL1D GB/s") && out.contains("LDS GB/s"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
}

#[test]
fn a_kernel_stands_on_the_plot_only_with_rate_and_intensity() {
    // rate, intensity, whether it is drawn, and a phrase that is there
    for (rate, intensity, drawn, phrase) in [
        (Some(700.0), Some(1.0), true, "HBM: 44 % of the data sheet's 1600, 2.3x below its roof"),
        (Some(700.0), None, false, "no plot"),
        (None, Some(1.0), false, "no verdict"),
    ] {
        let out = text::roofline(&roofline(rate, intensity), &style(100));
        assert_eq!(out.contains('└') && out.contains('┤'), drawn, "{out}");
        assert!(out.contains(phrase), "{phrase}: {out}");
        assert!(out.contains("3 more kernels") && out.contains("data sheet ceilings"), "{out}");
    }
}

#[test]
fn a_missing_number_is_never_blank() {
    for width in [80, 100] {
        let out = text::memory_chart(&memory(None), &style(width));
        assert!(out.matches("n/a").count() >= 16 + 4, "{out}");
        assert!(!out.contains("NaN") && !out.contains("inf"), "{out}");
        let words: Vec<&str> = out.split_whitespace().collect();
        assert!(words.join(" ").contains(UNSEEN), "{out}");
    }
}

#[test]
fn blocks_below_each_other_are_joined_by_what_flows_between_them() {
    let out = text::memory_chart(&memory(Some(12.0)), &style(100));
    for phrase in ["▲ 1.20M 120MB", "▼ 1.20M 120MB", "▲▼ n/a"] {
        assert!(out.contains(phrase), "{phrase}: {out}");
    }
}

#[test]
fn atomics_without_requests_are_not_drawn() {
    let out = text::memory_chart(&memory(Some(0.0)), &style(100));
    assert!(!out.contains("atomic"), "{out}");
    let out = text::memory_chart(&memory(Some(5.0)), &style(100));
    assert!(out.contains("atomic 500k"), "{out}");
}

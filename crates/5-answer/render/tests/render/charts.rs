//! The charts of a recording: what fits where, and what is said when numbers are missing.

use crate::chart_values::{UNSEEN, emulated_memory, memory, over_time};
use rockhound_render::{Style, text};
use view::{Ceiling, CeilingBasis, Mark, Number, RoofVerdict, RooflineChart, RooflineKernel, RooflineLevel};

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
        bytes_trust: None,
        intensity_trust: None,
        bandwidth_trust: None,
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
            time_trust: None,
            flops_trust: None,
            rate_trust: None,
            levels: vec![level("HBM"), level("L2")],
            verdict: RoofVerdict {
                bound_by: rate.map(|_| "HBM".to_owned()),
                percent_of_roof: number(rate.map(|_| 44.0)),
                gap: number(rate.map(|_| 2.3)),
                text: "44 % of the data sheet's 1600".to_owned(),
                trust: None,
            },
        }],
        left_out: 3,
        notes: Vec::new(),
    }
}

/// The same of an emulated recording: operations are exact, bytes about right, times less so.
fn emulated_roofline(value: Option<f64>) -> RooflineChart {
    let mut chart = roofline(value, value);
    let (bytes, time) = (Mark::Modelled(Some(5.8)), Mark::Modelled(Some(46.1)));
    for kernel in &mut chart.kernels {
        kernel.flops_trust = Some(Mark::Exact);
        (kernel.time_trust, kernel.rate_trust, kernel.verdict.trust) = (Some(time), Some(time), Some(time));
        for level in &mut kernel.levels {
            level.bytes_trust = Some(bytes);
            level.intensity_trust = Some(bytes);
            level.bandwidth_trust = Some(time);
        }
    }
    chart
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
                text::roofline(&emulated_roofline(value), &style(width)),
                text::memory_chart(&memory(value), &style(width)),
                text::memory_chart(&emulated_memory(value), &style(width)),
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
    // rate, intensity, whether it is drawn, and what is there
    for (rate, intensity, drawn, part) in [
        (Some(700.0), Some(1.0), true, "2.3x"),
        (Some(700.0), None, false, "no plot"),
        (None, Some(1.0), false, "no verdict"),
    ] {
        let out = text::roofline(&roofline(rate, intensity), &style(100));
        assert_eq!(out.contains('└') && out.contains('┤'), drawn, "{out}");
        assert!(out.contains(part), "{part}: {out}");
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
fn numbers_say_how_far_to_trust_them() {
    let out = text::roofline(&emulated_roofline(Some(12.0)), &style(120));
    let row = out.lines().find(|line| line.starts_with("  A ")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["A", "100", "%", "≈12", "G", "~12", "≈700", "≈44", "~12", "≈700", "≈44"], "{out}");
    assert!(out.contains("≈2.3x ") && out.contains("~ modelled ±6 % · ≈ modelled ±46 %"), "{out}");
    for (width, phrases) in [
        (160, ["latency    ?12cyc", "all 1.20M", "─~120MB─", "≈120GB/s 12%", "peak       ≈12.0%"]),
        (
            80,
            ["latency\u{a0}?12cyc", "all 1.20M req", "· ~120MB ·", "· ≈120GB/s · ≈12 %", "peak\u{a0}≈12.0%"],
        ),
    ] {
        let out = text::memory_chart(&emulated_memory(Some(12.0)), &style(width));
        for phrase in phrases {
            assert!(out.contains(phrase), "{phrase}: {out}");
        }
        let words: Vec<&str> = out.split_whitespace().collect();
        assert!(words.join(" ").contains("~ modelled ±6 % · ≈ modelled ±46 % · ? modelled"), "{out}");
        // With less room they are in the diagram too.
        let out = text::memory_chart(&emulated_memory(Some(12.0)), &style(100));
        assert!(out.contains("┌ Compute units") && out.contains("≈120GB/s 12%"), "{out}");
        // A recording of hardware has no signs.
        let out = text::memory_chart(&memory(Some(12.0)), &style(width));
        assert!(!out.contains(['~', '≈', '?']) && !out.contains("exact"), "{out}");
    }
    // Unknown values have no sign.
    let out = text::memory_chart(&emulated_memory(None), &style(160));
    assert!(out.contains("n/a") && !out.contains("~n/a") && !out.contains("≈n/a"), "{out}");
}

#[test]
fn waves_over_time_fit_any_terminal() {
    for (width, columns) in [(40, 22), (80, 64), (160, 64)] {
        let out = text::waves(&over_time(), &style(width));
        assert!(out.lines().all(|line| line.chars().count() <= width), "{width}: {out}");
        // Three quarters of the columns are full, the rest shows that it is not empty.
        let full = columns * 3 / 4;
        let top = out.lines().find(|line| line.starts_with("   ≈3328┤")).unwrap();
        assert_eq!(top.matches('█').count(), full, "{out}");
        let bottom = out.lines().find(|line| line.starts_with("       0┤")).unwrap();
        assert!(bottom.contains(&format!("{}{}", "█".repeat(full), "▁".repeat(4))), "{out}");
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        for phrase in [
            "peak ≈3328 of 3328 waves (≈100 %), mean ≈2504 (≈75 %); ≈52 of 104 compute units busy on average; fewer than half the peak in the last ≈25 % of the time; ≈12.3 us, mean of 2 dispatches",
            "peak 0 of 3328 waves (0 %)",
            "1 more kernel",
            "≈ modelled ±36 %",
        ] {
            assert!(words.contains(phrase), "{phrase}: {out}");
        }
    }
}

#[test]
fn atomics_without_requests_are_not_drawn() {
    let out = text::memory_chart(&memory(Some(0.0)), &style(100));
    assert!(!out.contains("atomic"), "{out}");
    let out = text::memory_chart(&memory(Some(5.0)), &style(100));
    assert!(out.contains("atomic 500k"), "{out}");
}

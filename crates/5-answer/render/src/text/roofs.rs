//! Measured roofs as a list.

use std::fmt::Write as _;
use view::Roofs;

/// The roofs, beside the data sheet's.
pub(crate) fn roofs(it: &Roofs) -> String {
    let an = if it.emulated { "an emulated" } else { "this" };
    let mut text = format!("Rates that {an} {} reaches, beside its data sheet\n\n", it.gpu);
    for roof in &it.roofs {
        let _ = write!(text, "  {:14} {:>12.1} {:8}", roof.what, roof.value, roof.unit);
        if let Some(sheet) = roof.promised {
            let _ = write!(text, " {:5.1} % of {sheet:.1}", 100.0 * roof.value / sheet);
        }
        if let Some([low, high]) = roof.range {
            let _ = write!(text, "  ({low:.1} to {high:.1})");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::Roof;

    #[test]
    fn a_roof_stands_beside_the_data_sheet_with_its_range() {
        let once = Roof {
            what: "HBM",
            column: Some("HBMBw"),
            value: 1400.0,
            range: None,
            unit: "GB/s",
            promised: Some(1600.0),
        };
        let often = Roof { what: "L2", value: 3900.0, range: Some([3800.0, 4000.0]), ..once.clone() };
        let all = Roofs { gpu: "x".to_owned(), emulated: false, roofs: vec![once, often] };
        let lines = roofs(&all);
        assert!(
            lines.contains("GB/s      87.5 % of 1600.0\n") && lines.ends_with("  (3800.0 to 4000.0)\n"),
            "{lines}"
        );
    }
}

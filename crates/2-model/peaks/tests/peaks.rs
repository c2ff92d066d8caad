//! The numbers are those of the units they measure.
//!
//! The one idea to keep in mind: what the data sheet promises is never exceeded, and kernels made for one unit come close.

use arch::Model;
use peaks::{Unit, chase, measure};

#[test]
fn peaks_are_near_what_units_can_do() {
    for peak in measure(Model::by_name("mi210").unwrap(), |_| ()).unwrap() {
        let sheet = peak.sheet.unwrap_or(f64::NAN);
        let share = peak.value / sheet;
        println!("{:14} {:12.1} {:8} of {sheet:12.1}: {share:.3}", peak.what, peak.value, peak.unit.name());
        // Caches and memory reach less than they are wide; arithmetic does not wait for anything.
        let least = if peak.unit == Unit::Bytes { 0.55 } else { 0.95 };
        assert!(share > least && share < 1.01, "{}: {share}", peak.what);
    }
}

#[test]
fn latencies_grow_with_what_is_walked_through() {
    for name in ["mi210", "mi300x"] {
        let model = Model::by_name(name).unwrap();
        let mut before = 0.0;
        for bytes in [8 << 10, 1 << 20, 945 << 20] {
            let found = chase(model, bytes).unwrap();
            println!("{name} {bytes:>12} bytes: {:.1} ns", found.nanoseconds);
            assert!(found.nanoseconds > before);
            before = found.nanoseconds;
        }
    }
}

#[test]
fn what_has_no_kernels_or_times_is_said() {
    let error = |name| measure(Model::by_name(name).unwrap(), |_| ()).unwrap_err().to_string();
    assert!(error("mi100").starts_with("there are no kernels for"), "{}", error("mi100"));
    assert!(error("mi325x").contains("nobody has measured its memory"), "{}", error("mi325x"));
}

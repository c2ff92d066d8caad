//! Latencies, and GPUs without numbers; bandwidths and rates are tested through the command.
//!
//! The one idea to keep in mind: what is walked through decides which cache answers.

use arch::Model;
use peaks::{chase, measure};

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

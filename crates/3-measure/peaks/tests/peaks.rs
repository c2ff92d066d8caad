//! Latencies, and GPUs without numbers; bandwidths and rates are tested through the command.
//!
//! The size of the region decides which cache serves the loads.

use arch::Model;
use rockhound_peaks::{chase, measure};

#[test]
fn latencies_are_those_of_hardware() {
    // Measured by following pointers, in cycles of 1.7 and 2.1 GHz.
    for (name, bytes, nanoseconds) in [
        ("mi210", 8 << 10, 75.0),
        ("mi210", 1 << 20, 149.0),
        ("mi210", 945 << 20, 404.0),
        ("mi300x", 8 << 10, 57.0),
        ("mi300x", 1 << 20, 102.0),
        ("mi300x", 945 << 20, 422.0),
    ] {
        let found = chase(Model::by_name(name).unwrap(), bytes).unwrap().nanoseconds;
        assert!((found / nanoseconds - 1.0).abs() < 0.05, "{name}, {bytes} bytes: {found} ns");
    }
}

#[test]
fn targets_without_kernels_or_times_are_named() {
    let error = measure(Model::by_name("mi100").unwrap(), |_| ()).unwrap_err().to_string();
    assert!(error.contains("MI100"), "{error}");
}

//! Any bytes as samples of the program counter, alone and beside counters.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use workload::{Options, read};

const FILES: [&str; 3] =
    ["ps_file_results.json", "1_pc_sampling_stochastic.csv", "1_pc_sampling_host_trap.csv"];
const BESIDE: &str = "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,a(),4\n2,b(),4\n";

fuzz_target!(|data: &[u8]| {
    recording::check(&FILES, &[], data);
    recording::check(&FILES, &[("pmc_perf.csv", BESIDE.as_bytes())], data);
    let folder = BTreeMap::from([(FILES[0].to_string(), data.to_vec())]);
    let Ok(w) = read(&folder, &Options { max_unpacked: 1 << 24 }) else { return };
    let Some(samples) = w.samples else { return };
    let kernels = samples.by_kernel(&|_, _| true);
    assert_eq!(kernels.iter().map(|kernel| kernel.total.samples).sum::<u64>(), samples.total());
    for kernel in kernels {
        assert_eq!(kernel.rows.values().map(|counts| counts.samples).sum::<u64>(), kernel.total.samples);
        assert!(kernel.total.issued + kernel.total.stalled <= kernel.total.samples);
    }
});

//! Any bytes as the files of a thread trace, alone and beside counters.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

const FILES: [&str; 3] = [
    "ui_output_agent_1_dispatch_2/code.json",
    "stats_ui_output_agent_1_dispatch_2.csv",
    "ui_output_agent_1_dispatch_2/filenames.json",
];
const BESIDE: &str = "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,a(),4\n2,b(),4\n";
const TABLE: &str = "Vaddr,Instruction,Hitcount,Latency,Stall\n256,s_nop 0,1,4,0\n";

fuzz_target!(|data: &[u8]| {
    recording::check(&FILES, &[], data);
    recording::check(&FILES, &[(FILES[1], TABLE.as_bytes())], data);
    recording::check(&FILES, &[("pmc_perf.csv", BESIDE.as_bytes())], data);
});

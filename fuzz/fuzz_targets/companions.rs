//! Any bytes as a file beside `pmc_perf.csv`.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

const MAIN: &str = "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Start_Timestamp,End_Timestamp,SQ_WAVES\n\
0,0,a,64,1,9,5\n1,0,b,64,10,12,6\n";

fuzz_target!(|data: &[u8]| recording::check(
    &[
        "SQ_IFETCH_LEVEL.csv",
        "timestamps.csv",
        "sysinfo.csv",
        "roofline.csv",
        "profiling_config.yaml",
        "pmc_predictions.csv",
        "pmc_marks.csv",
        "pmc_shares.csv",
        "pmc_occupancy.csv",
        "pmc_launches.jsonl",
        "perfmon/pmc_perf_0.txt"
    ],
    &[("pmc_perf.csv", MAIN.as_bytes())],
    data
));

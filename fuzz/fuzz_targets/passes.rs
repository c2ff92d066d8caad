//! Any bytes as the file of a pass, beside that of another pass.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

const LONG: &[u8] = b"Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n1,0,\"copy(int, \"\"a\"\")\",64,64,10,20,SQ_WAVES,1\n2,0,fill,64,64,30.25,40.5,SQ_WAVES,2\n1,0,\"copy(int, \"\"a\"\")\",64,64,10,20,TCC_HIT[3],7\n";
const WIDE: &[u8] = b"Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT[0]\n0,0,copy,64,64,1,9,5,7\n1,0,fill,64,64,10.5,12.75,6,1e3\n";

fuzz_target!(|data: &[u8]| {
    let beside: &[(&str, &[u8])] = match data.first() {
        // The first byte also chooses the file.
        Some(first) if first % 3 == 1 => &[("pmc_perf_0.csv", WIDE)],
        _ => &[("results_pmc_perf_0.csv", LONG)],
    };
    recording::check(
        &["results_pmc_perf_1.csv", "pmc_perf_1.csv", "results_pmc_perf_1.csv.gz"],
        beside,
        data,
    );
});

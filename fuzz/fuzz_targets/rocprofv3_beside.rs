//! Any bytes as a file beside the counter collection of rocprofv3.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

const COUNTERS: &str = "Correlation_Id,Dispatch_Id,Agent_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,Counter_Name,Counter_Value\n\
1,1,4,64,1,a,64,SQ_WAVES,1\n2,2,4,64,1,a,64,SQ_WAVES,1\n";

fuzz_target!(|data: &[u8]| recording::check(
    &["1_kernel_trace.csv", "1_agent_info.csv"],
    &[("1_counter_collection.csv", COUNTERS.as_bytes())],
    data
));

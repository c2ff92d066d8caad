//! Any bytes as one of the three files that rocprof-compute's own collector writes, beside the others.
#![no_main]

mod recording;

use libfuzzer_sys::fuzz_target;

const COUNTERS: &[u8] = b"dispatch_id,gpu_id,kernel_id,lds_per_workgroup,counter_id,counter_name,counter_value\n1,2,7,0,96,SQ_WAVES,4.0\n1,2,7,0,96,SQ_WAVES,5.0\n2,2,8,0,97,TCC_HIT[3],6.5\n";
const DISPATCH: &[u8] = b"dispatch_id,gpu_id,kernel_id,grid_size,workgroup_size,lds_per_workgroup,scratch_per_workitem,start_timestamp,end_timestamp,correlation_id\n1,2,7,64,64,0,0,13386724674342798,13386724674350850,1\n2,2,8,128,64,0,0,13386724675304242,13386724675310892,2\n";
const SYMBOLS: &[u8] = b"kernel_id,kernel_name,kernel_short_name,arch_vgpr,accum_vgpr,sgpr\n7,\"copy(int*, int)\",copy,4,4,16\n8,fill,fill,4,0,16\n";
const FILES: [&str; 3] = ["counters_p_1.csv", "dispatch_p_1.csv", "kernel_symbols_p_1.csv"];

fuzz_target!(|data: &[u8]| recording::check(
    &FILES,
    &[(FILES[0], COUNTERS), (FILES[1], DISPATCH), (FILES[2], SYMBOLS)],
    data
));

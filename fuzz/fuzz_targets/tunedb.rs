//! Any bytes as a tuning database under names that libraries keep parts of their keys in.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 5] = [
    "tunableop_results0.csv",
    "a8w8_blockscale_tuned_gemm.csv",
    "gfx942130.HIP.fdb.txt",
    "E=8,N=14336,device_name=AMD_Instinct_MI300X.json",
    "gfx942-GEMM-A16W16.json",
];

const OTHER: &[u8] = b"{\"M_LEQ_16\": {\"BLOCK_SIZE_M\": 16}, \"any\": {\"BLOCK_SIZE_M\": 32}}";

fuzz_target!(|data: &[u8]| {
    let _ = tunedb::tensile_space::groups(data);
    for name in NAMES {
        if let Ok(tunings) = tunedb::read(name, data) {
            assert!(tunings.write() == data);
            let _ = tunedb::triton::best(&tunings);
            if tunings.format == tunedb::Format::AiterJson {
                let own = tunedb::aiter_config::merged(data, data, &|_| true);
                let other = tunedb::aiter_config::merged(OTHER, data, &|_| false);
                for merged in own.into_iter().chain(other) {
                    assert!(tunedb::read(name, &merged).is_ok());
                }
            }
        }
    }
});

//! Column names of each profiler generation.
//!
//! The rest of the crate uses one name per column, as in the newest folders; older spellings exist in this
//! file only.

/// Columns that describe a dispatch: the name used here, then every other spelling met in recordings, in
/// lower case with `_` between words.
const DISPATCH: &[(&str, &[&str])] = &[
    ("Dispatch_ID", &["dispatch_id", "index"]),
    ("Kernel_Name", &["kernel_name", "kernelname"]),
    ("GPU_ID", &["gpu_id", "gpu", "agent_id"]),
    ("Grid_Size", &["grid_size", "grd"]),
    ("Workgroup_Size", &["workgroup_size", "wgr"]),
    ("LDS_Per_Workgroup", &["lds_per_workgroup", "lds", "lds_block_size"]),
    ("Scratch_Per_Workitem", &["scratch_per_workitem", "scr", "scratch_size"]),
    ("Arch_VGPR", &["arch_vgpr", "vgpr", "vgpr_count"]),
    ("Accum_VGPR", &["accum_vgpr", "accum_vgpr_count"]),
    ("SGPR", &["sgpr", "sgpr_count"]),
    ("Wave_Size", &["wave_size"]),
    ("Start_Timestamp", &["start_timestamp", "beginns"]),
    ("End_Timestamp", &["end_timestamp", "endns"]),
    ("Counter_Name", &["counter_name"]),
    ("Counter_Value", &["counter_value"]),
];

/// Columns without information about the kernel: bookkeeping of the profiler.
const BOOKKEEPING: &[&str] = &[
    "queue_id",
    "queue_index",
    "queue",
    "pid",
    "tid",
    "process_id",
    "thread_id",
    "stream_id",
    "fbar",
    "sig",
    "obj",
    "correlation_id",
    "kernel_id",
    "dispatchns",
    "completens",
    "kind",
    "guid",
    "xcc_index",
    "node",
    "device",
    "node_id",
    "domain",
    "name",
    "operation",
    "duration",
    "durationns",
    "duration_ns",
];

/// The name used here for a header, or the header itself.
pub(crate) fn plain(header: &str) -> String {
    let header = header.trim();
    // Nearly all columns of a wide table.
    if is_instance_or_sum(header) {
        return header.to_string();
    }
    let low = header.to_ascii_lowercase().replace(['-', ' '], "_");
    for (name, spellings) in DISPATCH {
        if spellings.contains(&low.as_str()) {
            return (*name).to_string();
        }
    }
    header.to_string()
}

/// Whether a name is of one instance of a counter or of their sum: `TCC_HIT[3]`, `TCC_HIT_sum`. No other
/// column is named so.
pub(crate) fn is_instance_or_sum(name: &str) -> bool {
    (name.ends_with(']') || name.ends_with("_sum")) && is_counter(name)
}

/// Whether a column describes the dispatch.
pub(crate) fn describes_dispatch(name: &str) -> bool {
    // Instances of counters are most columns of a wide table.
    name.as_bytes().last() != Some(&b']') && DISPATCH.iter().any(|(n, _)| *n == name)
}

/// Whether a column is bookkeeping, also in the repeated form that joining passes leaves (`obj_3`,
/// `Wave_Size_2`).
pub(crate) fn is_bookkeeping(name: &str) -> bool {
    let low = name.to_ascii_lowercase().replace('-', "_");
    BOOKKEEPING.contains(&low.as_str()) || joined_pass(name).is_some()
}

/// Whether nothing is known of a column with a name: it neither describes the dispatch nor is bookkeeping.
pub(crate) fn is_unknown(name: &str) -> bool {
    !name.is_empty() && !describes_dispatch(name) && !is_bookkeeping(name)
}

/// The pass of a column that joining passes repeats for each of them: 3 of `obj_3`.
pub(crate) fn joined_pass(name: &str) -> Option<u16> {
    // Nearly all columns are counters, which end otherwise.
    if !name.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let low = name.to_ascii_lowercase().replace('-', "_");
    let (stem, number) = low.rsplit_once('_')?;
    let repeated = BOOKKEEPING.contains(&stem) || describes_dispatch(&plain(stem));
    number.parse().ok().filter(|_| repeated && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether a name has the form of a hardware counter: `SQ_WAVES`, `TCC_HIT[3]`, `TCP_TOTAL_READ_sum`.
pub(crate) fn is_counter(name: &str) -> bool {
    let base = split_instance(name).0.as_bytes();
    // A loop over bytes: a wide table has thousands of names, each asked several times.
    let end = match base {
        [rest @ .., b'_', b's', b'u', b'm']
        | [rest @ .., b'_', b'a', b'v', b'r']
        | [rest @ .., b'_', b'm', b'a', b'x']
        | [rest @ .., b'_', b'm', b'i', b'n'] => rest.len(),
        all => all.len(),
    };
    let (mut at, mut block) = (0, 0);
    while at < end {
        match base[at] {
            b'A'..=b'Z' | b'0'..=b'9' => {}
            b'_' if block == 0 => block = at,
            b'_' => {}
            _ => return false,
        }
        at += 1;
    }
    block >= 2 && base[0].is_ascii_uppercase() && block + 1 < end
}

/// Whether a name may be of a derived counter, as somebody defined it: `VALUBusy`, `L2CacheHit`,
/// `FETCH_SIZE`, `my ratio`.
pub(crate) fn is_derived(name: &str) -> bool {
    let base = split_instance(name).0;
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b' ');
    base.starts_with(|c: char| c.is_ascii_alphabetic()) && base.bytes().all(word)
}

/// `TCC_HIT[3]` to `TCC_HIT` and 3.
pub(crate) fn split_instance(name: &str) -> (&str, Option<u32>) {
    // Most names have no instance, and are asked often.
    if name.as_bytes().last() != Some(&b']') {
        return (name, None);
    }
    name.strip_suffix(']')
        .and_then(|n| n.split_once('['))
        .and_then(|(base, i)| Some((base, Some(i.parse().ok()?))))
        .unwrap_or((name, None))
}

/// Facts of the machine: the name used here, then other spellings.
pub(crate) const MACHINE: &[(&str, &[&str])] = &[
    ("workload_name", &[]),
    ("command", &[]),
    ("timestamp", &["date"]),
    ("hostname", &["host_name"]),
    ("cpu_model", &["host_cpu"]),
    ("linux_distro", &["host_distro"]),
    ("linux_kernel_version", &["host_kernel"]),
    ("rocm_version", &["host_rocmver"]),
    ("gpu_model", &["name"]),
    ("gpu_arch", &["gpu_soc"]),
    ("gpu_l1", &["L1"]),
    ("gpu_l2", &["L2"]),
    ("cu_per_gpu", &["numCU"]),
    ("simd_per_cu", &["numSIMD"]),
    ("se_per_gpu", &["numSE"]),
    ("wave_size", &["waveSize"]),
    ("workgroup_max_size", &["maxWorkgroupSize"]),
    ("max_waves_per_cu", &["maxWavesPerCU"]),
    ("max_sclk", &["sclk"]),
    ("max_mclk", &["mclk"]),
    ("cur_sclk", &[]),
    ("cur_mclk", &[]),
    ("total_l2_chan", &["L2Banks"]),
    ("lds_banks_per_cu", &["LDSBanks"]),
    ("sqc_per_gpu", &["numSQC"]),
    ("pipes_per_gpu", &["numPipes"]),
    ("hbm_bw", &["hbmBW"]),
    ("num_xcd", &[]),
    ("num_hbm_channels", &["num_memory_channels"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_every_generation_meet() {
        for (header, name) in [
            ("KernelName", "Kernel_Name"),
            ("Kernel_Name", "Kernel_Name"),
            ("gpu-id", "GPU_ID"),
            ("grd", "Grid_Size"),
            ("wgr", "Workgroup_Size"),
            ("scr", "Scratch_Per_Workitem"),
            ("BeginNs", "Start_Timestamp"),
            ("VGPR_Count", "Arch_VGPR"),
            ("wave_size", "Wave_Size"),
            ("TCC_HIT[3]", "TCC_HIT[3]"),
        ] {
            assert_eq!(plain(header), name);
        }
    }

    #[test]
    fn counters_are_told_from_bookkeeping() {
        for (name, counter, bookkeeping) in [
            ("SQ_WAVES", true, false),
            ("TCP_TOTAL_READ_sum", true, false),
            ("TCC_EA0_RDREQ[127]", true, false),
            ("TCP_GATE_EN1_sum", true, false),
            ("wave_size_3", false, true),
            ("Wave_Size_12", false, true),
            ("obj_18", false, true),
            ("queue-id", false, true),
            ("XCC_Index", false, true),
            ("Correlation_ID_2", false, true),
            ("GPUBusy", false, false),
            ("SGPR", false, false),
            ("A_B", false, false),
            ("_SQ_X", false, false),
            ("SQ_", false, false),
            ("SQ_sum", false, false),
            ("SQ__", true, false),
            ("SQ_X_max[2]", true, false),
            ("SQ_X[2", false, false),
            ("9Q_X", false, false),
            ("", false, false),
        ] {
            assert_eq!(is_counter(name), counter, "{name}");
            assert_eq!(is_bookkeeping(name), bookkeeping, "{name}");
        }
    }
}

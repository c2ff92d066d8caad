//! The roofline's arithmetic: equations of each level, request sizes of each GPU, ceilings, verdicts.
//!
//! The expected numbers are worked out by hand from the counters in the table.

use rockhound_analysis::WorkloadEvidence;
use rockhound_analysis::roofline_chart::chart;
use std::collections::BTreeMap;
use view::{CeilingBasis, RooflineChart};
use workload::Workload;

/// One dispatch of 1 us on 100 CUs at 1000 MHz: 64,000 f32 flop by 250 multiply-adds of 2 x 64 and 500
/// additions.
const COUNTERS: &[(&str, &str)] = &[
    ("Dispatch_ID", "0"),
    ("Kernel_Name", "made_up"),
    ("GPU_ID", "1"),
    ("Grid_Size", "64"),
    ("Workgroup_Size", "64"),
    ("Start_Timestamp", "5000"),
    ("End_Timestamp", "6000"),
    ("GRBM_GUI_ACTIVE", "1000"),
    ("SQ_BUSY_CU_CYCLES", "90000"),
    ("SQ_INSTS_VALU_ADD_F32", "500"),
    ("SQ_INSTS_VALU_MUL_F32", "0"),
    ("SQ_INSTS_VALU_TRANS_F32", "0"),
    ("SQ_INSTS_VALU_FMA_F32", "250"),
    ("SQ_INSTS_VALU_MFMA_MOPS_F32", "10"),
    ("SQ_LDS_IDX_ACTIVE", "300"),
    ("SQ_LDS_BANK_CONFLICT", "50"),
    ("TCP_TOTAL_CACHE_ACCESSES_sum", "1000"),
    ("TCP_TCC_READ_REQ_sum", "100"),
    ("TCP_TCC_WRITE_REQ_sum", "30"),
    ("TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "6"),
    ("TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", "4"),
    ("TCC_EA_RDREQ_sum", "70"),
    ("TCC_EA_RDREQ_32B_sum", "20"),
    ("TCC_BUBBLE_sum", "10"),
    ("TCC_EA_WRREQ_sum", "40"),
    ("TCC_EA_WRREQ_64B_sum", "30"),
];

/// Other inputs of a verdict: types that the kernel does not compute with, and a vector unit that issues 1 %
/// of the time.
const REST: &[(&str, &str)] = &[
    ("SQ_INSTS_VALU_ADD_F16", "0"),
    ("SQ_INSTS_VALU_MUL_F16", "0"),
    ("SQ_INSTS_VALU_TRANS_F16", "0"),
    ("SQ_INSTS_VALU_FMA_F16", "0"),
    ("SQ_INSTS_VALU_ADD_F64", "0"),
    ("SQ_INSTS_VALU_MUL_F64", "0"),
    ("SQ_INSTS_VALU_TRANS_F64", "0"),
    ("SQ_INSTS_VALU_FMA_F64", "0"),
    ("SQ_INSTS_VALU_MFMA_MOPS_F16", "0"),
    ("SQ_INSTS_VALU_MFMA_MOPS_BF16", "0"),
    ("SQ_INSTS_VALU_MFMA_MOPS_F64", "0"),
    ("SQ_INSTS_VALU_MFMA_MOPS_I8", "0"),
    ("SQ_ACTIVE_INST_VALU", "1000"),
    ("SQ_INSTS_MFMA", ""),
];

const MACHINE: &[(&str, &str)] = &[
    ("gpu_arch", "gfx90a"),
    ("cu_per_gpu", "100"),
    ("max_sclk", "1000"),
    ("total_l2_chan", "32"),
    ("lds_banks_per_cu", "32"),
    ("hbm_bw", "50"),
    ("num_xcd", "1"),
];

fn recording(changes: &[(&str, &str)], ceilings: Option<&str>) -> Workload {
    recording_of(COUNTERS, changes, ceilings)
}

fn recording_of(counters: &[(&str, &str)], changes: &[(&str, &str)], ceilings: Option<&str>) -> Workload {
    let csv = |columns: &[(&str, &str)]| {
        let value = |name: &str, value: &str| {
            changes
                .iter()
                .find(|(changed, _)| *changed == name)
                .map_or(value.to_owned(), |(_, v)| (*v).to_owned())
        };
        let header: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let row: Vec<String> = columns.iter().map(|(name, v)| value(name, v)).collect();
        format!("{}\n{}\n", header.join(","), row.join(",")).into_bytes()
    };
    let mut folder = BTreeMap::new();
    folder.insert("pmc_perf.csv".to_owned(), csv(counters));
    folder.insert("sysinfo.csv".to_owned(), csv(MACHINE));
    if let Some(text) = ceilings {
        folder.insert("roofline.csv".to_owned(), text.as_bytes().to_vec());
    }
    workload::read(&folder, &workload::Options::default()).unwrap()
}

fn charted(workload: &Workload) -> RooflineChart {
    let compiled = metrics::Definitions::built_in().compile(workload.machine.target().unwrap()).unwrap();
    chart(&WorkloadEvidence::gather(&compiled, workload, &[0]), 10)
}

#[test]
fn bytes_and_intensities_follow_the_equations_and_the_request_sizes() {
    // 64 x (500 + 2 x 250) + 512 x 10
    let flops = 69_120.0;
    // Target, then bytes at HBM, L2, vL1D, LDS.
    let cases = [
        // 20 x 32 + 50 x 64 + 30 x 64 + 10 x 32; (100 + 30 + 10) x 64; 1000 x 64; 32 x 4 x 250
        ("gfx90a", [6_080.0, 8_960.0, 64_000.0, 32_000.0]),
        // Reads of 128 bytes: 10 of those 50; 100 x 128 + 40 x 64; lines of 128
        ("gfx942", [6_720.0, 15_360.0, 128_000.0, 32_000.0]),
    ];
    for (target, bytes) in cases {
        let chart = charted(&recording(&[("gpu_arch", target)], None));
        let kernel = &chart.kernels[0];
        assert_eq!(kernel.flops.get(), Some(flops), "{target}");
        assert_eq!(kernel.rate.get(), Some(flops / 1000.0), "{target}");
        let names: Vec<&str> = kernel.levels.iter().map(|level| level.level.as_str()).collect();
        assert_eq!(names, ["HBM", "L2", "vL1D", "LDS"]);
        for (level, expected) in kernel.levels.iter().zip(bytes) {
            assert_eq!(level.bytes.get(), Some(expected), "{target} {}", level.level);
            assert_eq!(level.intensity.get(), Some(flops / expected), "{target} {}", level.level);
            assert_eq!(level.bandwidth.get(), Some(expected / 1000.0), "{target} {}", level.level);
        }
    }
}

#[test]
fn measured_ceilings_of_the_device_come_before_the_data_sheet() {
    let of = |chart: &RooflineChart, name: &str| {
        let ceiling =
            chart.bandwidths.iter().chain(&chart.rates).find(|ceiling| ceiling.name == name).unwrap();
        (ceiling.value, ceiling.basis)
    };
    let sheet = charted(&recording(&[], None));
    for (name, value) in [
        ("HBM", 50.0),
        // channels x 128 bytes, CUs x 64, CUs x 128, each per cycle of 1 ns
        ("L2", 4_096.0),
        ("vL1D", 6_400.0),
        ("LDS", 12_800.0),
        ("vector f32", 12_800.0),
        ("matrix f16", 102_400.0),
    ] {
        assert_eq!(of(&sheet, name), (value, CeilingBasis::DataSheet), "{name}");
    }
    let csv = "device,HBMBw,L2Bw,L1Bw,FP32Flops\n0,1,2,3,4\n1,40,3000,5000,11000\n";
    let measured = charted(&recording(&[], Some(csv)));
    for (name, value, basis) in [
        ("HBM", 40.0, CeilingBasis::Measured),
        ("L2", 3_000.0, CeilingBasis::Measured),
        ("vector f32", 11_000.0, CeilingBasis::Measured),
        ("LDS", 12_800.0, CeilingBasis::DataSheet),
    ] {
        assert_eq!(of(&measured, name), (value, basis), "{name}");
    }
}

/// Changed counters, what bounds the kernel; the golden file has the words.
type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);

#[test]
fn the_verdict_is_the_nearest_roof_or_why_there_is_none() {
    let cases: &[Case<'_>] = &[
        // 6.08 of 10 GB/s
        (&[("hbm_bw", "10")], Some("HBM")),
        (&[("hbm_bw", "10"), ("SQ_LDS_IDX_ACTIVE", "90050")], Some("LDS")),
        (&[], Some("latency")),
        (&[("SQ_BUSY_CU_CYCLES", "20000")], Some("launch")),
        // A window of 9 times the dispatch does not mean time without waves.
        (&[("GRBM_GUI_ACTIVE", "9000")], Some("latency")),
        // The engine made half the cycles of its highest clock.
        (&[("GRBM_GUI_ACTIVE", "500"), ("SQ_BUSY_CU_CYCLES", "20000")], Some("launch")),
        // What the answer could turn on.
        (&[("SQ_ACTIVE_INST_VALU", "")], None),
        (&[("SQ_LDS_IDX_ACTIVE", ""), ("SQ_INSTS_VALU_MFMA_MOPS_I8", "")], None),
        // Recorded counters bound the unrecorded ones: 1 % of the cycles have a vector instruction, none a
        // matrix instruction.
        (
            &[("SQ_INSTS_VALU_FMA_F16", ""), ("SQ_INSTS_VALU_MFMA_MOPS_I8", ""), ("SQ_INSTS_MFMA", "0")],
            Some("latency"),
        ),
        (&[("SQ_BUSY_CU_CYCLES", "")], Some("latency or launch")),
        (&[("hbm_bw", "")], None),
        // Ten per cent is as much as runs differ.
        (&[("SQ_BUSY_CU_CYCLES", "47000")], Some("latency or launch")),
        (&[("hbm_bw", "13")], Some("HBM or latency")),
        // No kernel is at three times a ceiling: something else was counted.
        (&[("SQ_LDS_IDX_ACTIVE", "300050")], None),
        // 0.7 look-ups per cycle and CU.
        (&[("TCP_TOTAL_CACHE_ACCESSES_sum", "70000")], Some("vL1D look-ups")),
        (&[("SQ_INSTS_VALU_FMA_F32", "80000")], Some("vector f32")),
        (&[("End_Timestamp", "5000")], None),
        (&[("End_Timestamp", "5000"), ("SQ_BUSY_CU_CYCLES", "20000")], None),
    ];
    for (changes, by) in cases {
        let chart = charted(&recording_of(&[COUNTERS, REST].concat(), changes, None));
        let verdict = &chart.kernels[0].verdict;
        assert_eq!(verdict.bound_by.as_deref(), *by, "{changes:?}");
        testkit::golden(&format!("verdict of {changes:?}"), &verdict.text);
        assert_eq!(verdict.gap.get().is_some(), by.is_some(), "{changes:?}");
    }
}

#[test]
fn types_that_were_not_recorded_are_named_and_left_out() {
    let chart = charted(&recording(&[], None));
    assert!(chart.notes.iter().any(|text| text.contains(" bf16, f16, f64 ")), "{:?}", chart.notes);
}

#[test]
fn no_kernel_no_chart() {
    let workload = recording(&[], None);
    let compiled = metrics::Definitions::built_in().compile("gfx90a").unwrap();
    let chart = chart(&WorkloadEvidence::gather(&compiled, &workload, &[]), 10);
    assert!(chart.kernels.is_empty() && chart.notes == ["no dispatch is selected"]);
}

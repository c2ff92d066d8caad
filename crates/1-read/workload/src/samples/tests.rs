use super::*;
use crate::{Generation, Options, read};
use std::collections::BTreeMap;

fn folder(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(name, text)| ((*name).to_string(), text.as_bytes().to_vec())).collect()
}

/// Two kernels in one code object that is not loaded where its addresses begin, four samples.
const JSON: &str = r#"{"other":[1,{"a":[]}],"rocprofiler-sdk-tool":[{
 "metadata":{"pid":7},
 "agents":[{"type":1,"name":"cpu"},{"type":2,"name":"gfx942","cu_count":304,"product_name":"MI300X"}],
 "strings":{"buffer_records":[{"kind":"X"}],"pc_sample_instructions":["v_mov_b32 v0, v1","s_waitcnt vmcnt(0)"],
            "pc_sample_comments":["a.cpp:1",""]},
 "code_objects":[{"code_object_id":0},{"code_object_id":5,"load_base":8192,"load_delta":4096}],
 "kernel_symbols":[{"kernel_id":0},
   {"kernel_id":1,"code_object_id":5,"kernel_name":"_Z1av.kd","formatted_kernel_name":"a()","arch_vgpr_count":8},
   {"kernel_id":2,"code_object_id":5,"kernel_name":"_Z1bv.kd","formatted_kernel_name":"b()"}],
 "buffer_records":{
  "pc_sample_stochastic":[
   {"inst_index":0,"record":{"pc":{"code_object_id":5,"code_object_offset":16},"dispatch_id":1,"wave_issued":1,
     "snapshot":{"stall_reason":"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_OTHER_WAIT"}}},
   {"inst_index":1,"record":{"pc":{"code_object_id":5,"code_object_offset":32},"dispatch_id":1,"wave_issued":false,
     "snapshot":{"stall_reason":"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_WAITCNT"}}},
   {"inst_index":1,"record":{"pc":{"code_object_id":5,"code_object_offset":32},"dispatch_id":2,"wave_issued":0,
     "snapshot":{"stall_reason":3}}},
   {"inst_index":1,"record":{"pc":{"code_object_id":5},"dispatch_id":1}},
   {"inst_index":1,"record":{"pc":{"code_object_id":5,"code_object_offset":48},"dispatch_id":3,"wave_issued":0,
     "snapshot":{"stall_reason":"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_BARRIER_WAIT"}}}],
  "pc_sample_host_trap":[],
  "kernel_dispatch":[
   {"start_timestamp":10,"end_timestamp":30,"dispatch_info":{"dispatch_id":1,"kernel_id":1,"agent_id":{"handle":4},
     "workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":128,"y":2,"z":1},"group_segment_size":512}},
   {"start_timestamp":40,"end_timestamp":45,"dispatch_info":{"dispatch_id":2,"kernel_id":1,"agent_id":{"handle":4}}},
   {"start_timestamp":50,"end_timestamp":90,"dispatch_info":{"dispatch_id":3,"kernel_id":2,"agent_id":{"handle":4}}}]}
}]}"#;

#[test]
fn samples_alone_make_a_recording() {
    let w = read(&folder(&[("7_ps_file_results.json", JSON)]), &Options::default()).unwrap();
    assert_eq!(w.generation, Generation::Samples);
    assert_eq!(w.kernels, ["a()", "b()"]);
    assert_eq!(w.dispatches.id, [1, 2, 3]);
    assert_eq!(w.dispatches.duration(0), Some(20.0));
    assert_eq!((w.dispatches.grid.get(0), w.dispatches.workgroup.get(0)), (Some(256.0), Some(64.0)));
    assert_eq!((w.dispatches.grid.get(1), w.dispatches.arch_vgpr.get(1)), (None, Some(8.0)));
    assert_eq!(w.machine.target(), Some("gfx942"));
    assert_eq!(w.machine.number("cu_per_gpu"), Some(304.0));
    let samples = w.samples.unwrap();
    assert_eq!((samples.total(), samples.own_run), (4, false));
    assert_eq!(samples.methods, [SamplingMethod::Stochastic]);
    let [a, b] = &samples.by_kernel(&|_, _| true)[..] else { panic!() };
    assert_eq!((a.kernel.symbol.as_str(), a.dispatches, a.total.samples), ("_Z1av", 2, 3));
    assert_eq!((a.total.issued, a.total.stalled, a.total.stalls[3]), (1, 2, 2));
    // An issued sample has no reason, whatever the file says.
    assert_eq!(a.total.stalls.iter().sum::<u64>(), 2);
    let (first, _) = a.rows.first_key_value().unwrap();
    assert_eq!((first.address, first.source.as_str()), (Some(16 + 4096), "a.cpp:1"));
    assert_eq!((b.total.samples, b.total.stalls[5]), (1, 1));
    assert_eq!(samples.by_kernel(&|_, dispatch| dispatch == 2)[0].total.samples, 1);
    assert!(w.problems.iter().any(|p| p.file == "7_ps_file_results.json" && p.rows == 1), "{:?}", w.problems);
}

#[test]
fn samples_beside_counters() {
    for (csv, own_run, sources) in [
        ("Dispatch_ID,Kernel_Name,SQ_WAVES\n1,a(),4\n2,a(),4\n3,b(),4\n", false, 2),
        ("Dispatch_ID,Kernel_Name,SQ_WAVES\n0,a(),4\n1,a(),4\n2,b(),4\n", true, 2),
    ] {
        let files = [("pmc_perf.csv", csv), ("ps_file_results.json", JSON)];
        let w = read(&folder(&files), &Options::default()).unwrap();
        let samples = w.samples.unwrap();
        assert_eq!((samples.own_run, samples.total(), w.sources.len()), (own_run, 4, sources), "{csv}");
    }
}

const CSV: &str = "\"Sample_Timestamp\",\"Exec_Mask\",\"Dispatch_Id\",\"Instruction\",\"Instruction_Comment\",\
\"Correlation_Id\",\"Wave_Issued_Instruction\",\"Instruction_Type\",\"Stall_Reason\",\"Wave_Count\"\n\
1,18446744073709551615,1,\"s_waitcnt vmcnt(0)\",\"a.cpp:2\",1,0,\"X\",\"WAITCNT\",4\n\
2,1,2,\"s_endpgm\",\"\",1,1,\"X\",\"ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_OTHER_WAIT\",4\n\
3,1,,\"s_endpgm\",\"\",1,1,\"X\",\"Y\",4\n";

#[test]
fn lines_of_csv_get_the_kernels_of_their_run() {
    let trace = "Kind,Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp\nK,1,a,5,6\nK,2,b,7,9\n";
    let files = [("9_kernel_trace.csv", trace), ("9_pc_sampling_stochastic.csv", CSV)];
    let w = read(&folder(&files), &Options::default()).unwrap();
    let samples = w.samples.unwrap();
    assert!(!samples.own_run);
    let names: Vec<(String, u64)> = samples
        .by_kernel(&|_, _| true)
        .into_iter()
        .map(|kernel| (kernel.kernel.name, kernel.total.samples))
        .collect();
    assert_eq!(names, [("a".to_string(), 1), ("b".to_string(), 1)]);
    let file = "9_pc_sampling_stochastic.csv";
    assert!(w.problems.iter().any(|p| p.file == file && p.rows == 1), "{:?}", w.problems);

    // Without a trace the kernel is unknown; the counters of another run do not tell.
    let w = read(&folder(&[("9_pc_sampling_stochastic.csv", CSV)]), &Options::default()).unwrap();
    assert_eq!((w.kernels, w.dispatches.id), (vec![NO_KERNEL.to_string()], vec![1, 2]));
    let counters = ("pmc_perf.csv", "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,a,4\n2,b,4\n");
    let files = [counters, ("9_pc_sampling_stochastic.csv", CSV)];
    let w = read(&folder(&files), &Options::default()).unwrap();
    let samples = w.samples.unwrap();
    assert_eq!((samples.own_run, samples.kernels[0].name.as_str()), (true, NO_KERNEL));
}

#[test]
fn host_traps_do_not_say_what_issued() {
    let csv = "Dispatch_Id,Instruction,Instruction_Comment\n4,s_endpgm,\n4,s_endpgm,\n";
    let w = read(&folder(&[("x/1_pc_sampling_host_trap.csv", csv)]), &Options::default()).unwrap();
    let samples = w.samples.unwrap();
    let kernel = &samples.by_kernel(&|_, _| true)[0];
    assert_eq!((kernel.total.samples, kernel.total.says_issued()), (2, false));
    assert_eq!(samples.methods, [SamplingMethod::HostTrap]);
}

#[test]
fn processes_are_told_apart() {
    let csv = "Dispatch_Id,Instruction,Instruction_Comment\n1,s_endpgm,\n1,s_nop 0,\n";
    let with_column = "PID,Dispatch_Id,Instruction\n7,1,s_endpgm\n8,1,s_endpgm\n8,2,s_endpgm\n";
    let of_two: &[(&str, &str)] =
        &[("7_pc_sampling_host_trap.csv", csv), ("8_pc_sampling_host_trap.csv", csv)];
    let one: &[(&str, &str)] = &[("7_pc_sampling_host_trap.csv", csv)];
    let column: &[(&str, &str)] = &[("x_pc_sampling_host_trap.csv", with_column)];
    for (files, want, dispatches) in
        [(of_two, vec![(7, 1), (8, 1)], 2), (one, vec![], 1), (column, vec![(7, 1), (8, 2)], 3)]
    {
        let samples = read(&folder(files), &Options::default()).unwrap().samples.unwrap();
        let kernel = &samples.by_kernel(&|_, _| true)[0];
        let end = kernel.rows.keys().find(|it| it.text == "s_endpgm").unwrap();
        let found: Vec<(u64, u64)> = kernel
            .processes
            .get(end)
            .into_iter()
            .flatten()
            .map(|(process, count)| (*process, *count))
            .collect();
        assert_eq!((found, kernel.dispatches), (want, dispatches), "{files:?}");
    }
}

#[test]
fn damaged_files_are_left_out() {
    let counters = ("pmc_perf.csv", "Dispatch_ID,Kernel_Name,SQ_WAVES\n1,a(),4\n");
    let cut = &JSON[..JSON.len() - 40];
    let odd = r#"{"rocprofiler-sdk-tool":{"pc_sample_stochastic":3}}"#;
    for (name, text, damaged) in [
        ("ps_file_results.json", cut, true),
        ("ps_file_results.json", odd, true),
        ("ps_file_results.json", "{}", false),
        ("tuning_results.json", "[not json", false),
        ("1_pc_sampling_stochastic.csv", "a,b\n1,2\n", true),
        ("1_pc_sampling_stochastic.csv", "", true),
    ] {
        let w = read(&folder(&[counters, (name, text)]), &Options::default()).unwrap();
        let said = w.problems.iter().any(|p| p.file == name && p.kind == view::NoteKind::Error);
        assert_eq!((said, w.samples.is_none()), (damaged, true), "{name} {text}");
    }
    assert!(read(&folder(&[("ps_file_results.json", cut)]), &Options::default()).is_err());
}

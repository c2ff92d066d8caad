use super::*;
use crate::hardware::rocprofv3;
use counters::plan;
use std::collections::BTreeSet;

fn request(tool: Tool, program: &[&str]) -> Request {
    Request {
        profiler: format!("/opt/rocm/bin/{}", tool.name()).into(),
        tool,
        program: program.iter().map(OsString::from).collect(),
        target: "gfx90a".into(),
        ..rocprofv3::tests::request(&[], [0; 3])
    }
}

fn level() -> Pass {
    let counters = ["SQ_IFETCH_LEVEL", ACCUMULATOR, "SQ_WAVES"].map(str::to_owned).to_vec();
    Pass { level: Some("SQ_IFETCH_LEVEL".into()), counters }
}

fn words(request: &Request, run: &Run<'_>) -> String {
    rocprofv3::tests::joined(command(request, run, Path::new("/out/.running")))
}

#[test]
fn commands_are_those_of_the_documentation() {
    let app = &["./app", "-n", "5"][..];
    let level = level();
    let input = "-i /out/.running/input.txt";
    for (request, run, expected) in [
        (
            request(Tool::Rocprof, app),
            Run::Counters(&level),
            format!("/opt/rocm/bin/rocprof {input} --timestamp on -o /out/.running/rocprof.csv ./app -n 5"),
        ),
        (
            request(Tool::Rocprofv2, app),
            Run::Times,
            format!("/opt/rocm/bin/rocprofv2 {input} -d /out/.running -o pass ./app -n 5"),
        ),
        (
            request(Tool::Rocprofv2, app),
            Run::Samples(&super::super::Samples { method: "host-trap".into(), interval: 1 }),
            "rocprofv2 counts in one process, and nothing else".to_owned(),
        ),
        (
            Request { launcher: Some(vec!["mpirun".into()]), ..request(Tool::Rocprof, app) },
            Run::Times,
            "rocprof counts in one process, and nothing else".to_owned(),
        ),
    ] {
        assert_eq!(words(&request, &run), expected);
    }
}

#[test]
fn input_files_are_those_of_the_documentation() {
    let rest = "\n\ngpu:\nrange:\nkernel:\n";
    assert_eq!(input(&Run::Times), format!("pmc:{rest}"));
    assert_eq!(
        input(&Run::Counters(&level())),
        format!("pmc: SQ_IFETCH_LEVEL SQ_ACCUM_PREV_HIRES SQ_WAVES{rest}")
    );
    let counters = ["TCC_EA_RDREQ", "TA_TA_BUSY", "GRBM_COUNT", "SPI_CSN_BUSY"].map(str::to_owned).to_vec();
    assert_eq!(
        input(&Run::Counters(&Pass { level: None, counters })),
        format!("pmc: TCC_EA_RDREQ_sum TA_TA_BUSY_sum GRBM_COUNT SPI_CSN_BUSY{rest}")
    );
}

/// The names requested on an MI200 equal the names that Omniperf gave to rocprof there, in the input files
/// that it kept.
#[test]
fn names_are_those_that_the_profiler_was_given_before() {
    let Some(folder) = testkit::shared("workloads") else { return };
    let mut known: BTreeSet<String> = BTreeSet::new();
    for inputs in ["mixbench/mi200/perfmon", "dispatch_0_1/MI200/perfmon"] {
        for file in std::fs::read_dir(folder.join(inputs)).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for line in text.lines().filter_map(|line| line.strip_prefix("pmc:")) {
                known.extend(line.split_whitespace().map(str::to_owned));
            }
        }
    }
    assert!(known.len() > 200, "{}", known.len());
    let definitions = metrics::Definitions::built_in();
    let compiled = definitions.compile("gfx90a").unwrap();
    let needs: Vec<counters::Need> =
        definitions.metrics().iter().flat_map(|it| compiled.needs(&it.id)).collect();
    let plan = plan(catalogue(), "gfx90a", &needs).unwrap();
    let asked: BTreeSet<String> =
        plan.passes.iter().flat_map(|it| &it.counters).map(|name| asked_for(name)).collect();
    assert!(asked.len() > 200, "{}", asked.len());
    let unknown: Vec<&String> = asked.difference(&known).collect();
    // Its metrics did not read this one.
    assert_eq!(unknown, ["TCP_TCP_TA_DATA_STALL_CYCLES_sum"]);
}

/// Two dispatches as each profiler writes them.
const WRITTEN: [(Tool, &str, &str, &str); 2] = [
    (
        Tool::Rocprof,
        "rocprof.csv",
        "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,SQ_IFETCH_LEVEL,SQ_ACCUM_PREV_HIRES,SQ_WAVES,DispatchNs,BeginNs,EndNs,CompleteNs\n\
         0,\"scale(float*, int) [clone .kd]\",2,0,0,7,7,65536,256,0,0,8,0,16,64,0x0,0x7f,5,1000,1024,1,90,99,100\n\
         1,\"add(float*) [clone .kd]\",2,0,2,7,7,4096,256,0,0,8,0,16,64,0x0,0x7f,6,2000,64,2,190,199,200\n",
        "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,DispatchNs,BeginNs,EndNs,CompleteNs\n\
         0,\"scale(float*, int) [clone .kd]\",2,0,0,7,7,65536,256,0,0,8,0,16,64,0x0,0x7f,1,10,14,15\n\
         1,\"add(float*) [clone .kd]\",2,0,2,7,7,4096,256,0,0,8,0,16,64,0x0,0x7f,2,20,26,27\n",
    ),
    (
        Tool::Rocprofv2,
        "pmc_1/results_pass.csv",
        "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,SQ_IFETCH_LEVEL,SQ_ACCUM_PREV_HIRES,SQ_WAVES\n\
         0,60633,1,7,7,65536,256,0,0,8,0,16,64,\"scale(float*, int) (.kd)\",90,99,0,5.0,1000.0,1024.0\n\
         1,60633,1,7,7,4096,256,0,0,8,0,16,64,\"add(float*) (.kd)\",190,199,0,6.0,2000.0,64.0\n",
        "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID\n\
         1,60633,1,7,7,65536,256,0,0,8,0,16,64,\"scale(float*, int) (.kd)\",10,14,0\n\
         2,60633,1,7,7,4096,256,0,0,8,0,16,64,\"add(float*) (.kd)\",20,26,0\n",
    ),
];

#[test]
fn a_pass_reads_as_one_of_rocprofv3() {
    for (tool, file, counted, timed) in WRITTEN {
        let scratch = testkit::Scratch::new(tool.name());
        let output = scratch.path("out");
        let with = |kernels: &[&str]| Request {
            output: output.clone(),
            kernels: kernels.iter().map(|it| it.to_string()).collect(),
            ..request(tool, &["./app"])
        };
        let level = level();
        for (kernels, expected) in [(&[][..], 2), (&["^add"][..], 1)] {
            let request = with(kernels);
            let _ = std::fs::remove_dir_all(&output);
            for (name, run, text) in [("times", Run::Times, timed), ("pmc_1", Run::Counters(&level), counted)]
            {
                let folder = output.join(name);
                prepare(&run, &folder).unwrap();
                let path = folder.join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
                translate(&request, &run, &folder).unwrap();
            }
            let read = crate::recording::read(&output.as_path().into()).unwrap();
            assert_eq!(read.generation, workload::Generation::Rocprofv3, "{tool:?}");
            let d = &read.dispatches;
            assert_eq!(d.len(), expected, "{tool:?}");
            let last = expected - 1;
            assert_eq!(read.kernel_of(last), "add(float*)");
            assert_eq!(
                (d.start[last], d.end[last]),
                (Some(20), Some(26)),
                "{tool:?}: times of the other run"
            );
            assert_eq!((d.grid.get(last), d.sgpr.get(last)), (Some(4096.0), Some(16.0)));
            let value = |name: &str| read.counters.get(name).and_then(|it| it.values.get(last));
            assert_eq!(value("SQ_IFETCH_LEVEL_ACCUM"), Some(2000.0), "{tool:?}");
            assert_eq!((value("SQ_WAVES"), value("SQ_IFETCH_LEVEL")), (Some(64.0), None), "{tool:?}");
            assert!(output.join(format!("pmc_1/{}.csv", tool.name())).is_file(), "{tool:?}");
        }
    }
}

#[test]
fn output_that_is_none_is_said() {
    let scratch = testkit::Scratch::new("rocprof-nothing");
    let request = Request { output: scratch.path("out"), ..request(Tool::Rocprof, &["./app"]) };
    let folder = scratch.path("out/times");
    prepare(&Run::Times, &folder).unwrap();
    let said = || format!("{:#}", translate(&request, &Run::Times, &folder).unwrap_err());
    testkit::golden("no table", &said());
    std::fs::write(folder.join("rocprof.csv"), "Index,KernelName,BeginNs\n").unwrap();
    testkit::golden("no dispatches", &said());
    std::fs::write(folder.join("rocprof.csv"), b"\xff\xfe\x00").unwrap();
    assert!(translate(&request, &Run::Times, &folder).is_err());
}

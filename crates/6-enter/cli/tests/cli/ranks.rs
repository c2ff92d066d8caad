//! Folders of ranks or GPUs: named, merged and side by side, by every command that looks at recordings.

use crate::run::{folder, good, rockhound};
use std::path::Path;

const HEADER: &str = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,GRBM_GUI_ACTIVE,TCC_HIT_sum,TCC_MISS_sum";

/// A recording of one kernel that takes a time.
fn recording(dir: &Path, time: u32, target: &str) {
    std::fs::create_dir_all(dir).unwrap();
    let row = format!(
        "0,0,1024,64,copy,0,{time},16,8000,50,50\n1,0,1024,64,copy,{time},{},16,8000,50,50\n",
        2 * time
    );
    std::fs::write(dir.join("pmc_perf.csv"), format!("{HEADER}\n{row}")).unwrap();
    let system = format!("gpu_arch,gpu_model,cu_per_gpu,hostname\n{target},MI300X,304,node\n");
    std::fs::write(dir.join("sysinfo.csv"), system).unwrap();
    // Nothing more was to be recorded.
    std::fs::write(dir.join("profiling_config.yaml"), "roof_only: true\n").unwrap();
}

/// Three ranks below a folder, the last one slower.
fn ranks(test: &str) -> String {
    let dir = folder(test);
    for (rank, time) in [("rank_0", 100), ("rank_2", 100), ("rank_10", 400)] {
        recording(&dir.join(rank).join("MI300X"), time, "gfx942");
    }
    dir.display().to_string()
}

#[test]
fn a_folder_of_several_recordings_names_them() {
    let dir = ranks("ranks-named");
    for args in
        [&["analyze", "-p", &dir][..], &["guide", &dir], &["roofline", &dir], &["report", &dir, "-o", "-"]]
    {
        let ran = rockhound(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}: {}", ran.stderr);
        ran.golden(&args.join(" "));
    }
    // Each by its path, or by the folder that holds it alone.
    for path in [format!("{dir}/rank_10"), format!("{dir}/rank_10/MI300X")] {
        let text = good(&["analyze", "-p", &path]);
        assert!(text.contains("2 dispatches"), "{text}");
    }
}

#[test]
fn ranks_are_taken_as_one() {
    let dir = ranks("ranks-merged");
    let text = good(&["analyze", "-p", &dir, "--ranks", "--width", "100"]);
    for part in
        ["6 dispatches", "1 kernel", "0.6  Ranks", "rank_2/MI300X", "node", "`rank_10/MI300X`", "100.0 %"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("absent"), "{text}");
    let guide = good(&["guide", &dir, "--ranks", "--width", "200"]);
    assert!(guide.contains("copy"), "{guide}");
    for command in guide.lines().filter(|line| line.contains("rockhound analyze")) {
        assert!(command.contains("--ranks"), "{guide}");
    }
    assert!(good(&["report", &dir, "--ranks=merged", "-o", "-"]).contains("rank_10/MI300X"));
    good(&["roofline", "--ranks", &dir]);
    // One recording is what it is.
    let one = format!("{dir}/rank_0");
    assert!(good(&["analyze", "-p", &one, "--ranks"]).contains("2 dispatches"));
}

#[test]
fn ranks_stand_side_by_side() {
    let dir = ranks("ranks-each");
    let text = good(&["analyze", "-p", &dir, "--ranks=each", "-b", "0.1"]);
    for part in ["rank_0", "rank_2", "rank_10"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    good(&["roofline", &dir, "--ranks=each"]);
    let ran = rockhound(&["analyze", "-p", &dir, "--ranks=each", "--fail-on", "0.1.0 > 5%", "-b", "0.1"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    for command in ["guide", "report"] {
        let ran = rockhound(&[command, &dir, "--ranks=each"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (64, ""), "{}", ran.stderr);
        ran.golden(&format!("{command} --ranks=each"));
    }
}

#[test]
fn a_rank_that_cannot_be_read_is_said_and_other_gpus_are_not_added_up() {
    let dir = ranks("ranks-bad");
    std::fs::write(Path::new(&dir).join("rank_2/MI300X/pmc_perf.csv"), "").unwrap();
    let ran = rockhound(&["analyze", "-p", &dir, "--ranks"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    ran.golden("a rank without a recording");
    assert!(ran.stdout.contains("4 dispatches"), "{}", ran.stdout);
    recording(&Path::new(&dir).join("rank_2/MI300X"), 100, "gfx90a");
    let ran = rockhound(&["analyze", "-p", &dir, "--ranks"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    ran.golden("ranks of two kinds of GPU");
}

#[test]
fn passes_with_folders_of_their_own_are_one_recording() {
    let dir = folder("ranks-passes");
    let head = "Dispatch_Id,Agent_Id,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value";
    for (pass, counter) in [("pmc_1", "SQ_WAVES"), ("pmc_2", "SQ_INSTS_VALU")] {
        let dir = dir.join("out").join(pass).join("node");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(
            dir.join("7_counter_collection.csv"),
            format!("{head}\n1,4,copy,64,64,0,10,{counter},3\n"),
        )
        .unwrap();
    }
    for path in [dir.clone(), dir.join("out")] {
        let text = good(&["analyze", "-p", &path.display().to_string(), "--arch", "mi300x"]);
        assert!(text.contains("1 dispatch ") && text.contains("2 counters"), "{text}");
    }
}

use super::*;

fn read(text: &str) -> (Vec<BuiltKernel>, BuildCounts) {
    let mut log = BuildLog::default();
    // Pieces that end within lines.
    for piece in text.as_bytes().chunks(37) {
        log.feed(piece);
    }
    log.finish()
}

/// The messages on one kernel; `behind` follows every message.
fn remarks(prefix: &str, place: &str, name: &str, numbers: [u32; 6], behind: &str) -> String {
    let [sgprs, vgprs, scratch, occupancy, spills, lds] = numbers;
    [
        format!("Function Name: {name}"),
        format!("    TotalSGPRs: {sgprs}"),
        format!("    VGPRs: {vgprs}"),
        "    AGPRs: 8".to_owned(),
        format!("    ScratchSize [bytes/lane]: {scratch}"),
        "    Dynamic Stack: False".to_owned(),
        format!("    Occupancy [waves/SIMD]: {occupancy}"),
        "    SGPRs Spill: 1".to_owned(),
        format!("    VGPRs Spill: {spills}"),
        format!("    LDS Size [bytes/block]: {lds}"),
    ]
    .map(|text| match place.strip_prefix("remark: ") {
        None => format!("{prefix}{place}remark: {text}{behind}\n"),
        Some(place) => format!("{prefix}remark: {place}{text}{behind}\n"),
    })
    .concat()
}

const CLANG: &str = " [-Rpass-analysis=kernel-resource-usage]";

#[test]
fn remarks_whose_positions_are_cut_off() {
    let numbers = [24, 96, 588, 5, 12, 4096];
    let whole = remarks("", "", "k", numbers, "");
    let cut = whole.replace("remark: ", "");
    for text in [cut.clone(), cut.replace('\n', "\r\n"), format!("VGPRs: 7 of 9\n{cut}")] {
        let (kernels, counts) = read(&text);
        let [it] = &kernels[..] else { panic!("{kernels:?}") };
        assert_eq!((it.name.as_str(), it.vgprs, it.vgpr_spills), ("k", Some(96), Some(12)));
        assert_eq!((counts.used, counts.nameless), (10, 0));
    }
}

#[test]
fn forms_of_messages() {
    let numbers = [24, 96, 588, 5, 12, 4096];
    let cases = [
        ("", "a/k.hip:4:1: ", "k", CLANG, Some(("a/k.hip", 4))),
        // The form of llc and of the linker: the position is behind the word, and there is no suffix.
        ("", "", "k", "", None),
        ("", "remark: <unknown>:0:0: ", "k", "", None),
        ("ld.lld: ", "remark: a/k.cl:27:0: ", "k", "", Some(("a/k.cl", 27))),
        ("2025-09-09T01:02:03.123Z ", "k.cu:9:1: ", "_Z1kv", CLANG, Some(("k.cu", 9))),
        ("#12 345.6 ", "/src/k.cpp:7:1: ", "k", CLANG, Some(("/src/k.cpp", 7))),
        ("3: ", "k.hip:7:1: ", "k(int, float)", CLANG, Some(("k.hip", 7))),
        ("\x1b[0;1;36m", "k.hip:7:1: ", "k", CLANG, Some(("k.hip", 7))),
    ];
    for (prefix, place, name, behind, source) in cases {
        let (kernels, counts) = read(&remarks(prefix, place, name, numbers, behind));
        let [it] = &kernels[..] else { panic!("{prefix}{place}: {kernels:?}") };
        assert_eq!(it.name, name);
        assert_eq!(it.source.as_ref().map(|(file, line)| (file.as_str(), *line)), source, "{prefix}{place}");
        assert_eq!(
            [it.sgprs, it.vgprs, it.scratch_bytes, it.waves_per_simd, it.vgpr_spills, it.lds_bytes],
            numbers.map(Some)
        );
        assert_eq!((it.agprs, it.sgpr_spills, it.dynamic_stack), (Some(8), Some(1), Some(false)));
        assert_eq!((counts.used, counts.kernels, counts.nameless), (10, 1, 0));
    }
}

#[test]
fn kernels_of_parallel_compilers_are_kept_apart() {
    let one = remarks("", "a.hip:4:1: ", "a", [1, 2, 3, 4, 5, 6], CLANG);
    let two = remarks("", "b.hip:8:1: ", "b", [11, 12, 13, 14, 15, 16], CLANG);
    let mixed: Vec<String> = one.lines().zip(two.lines()).map(|(a, b)| format!("{a}\n{b}\n")).collect();
    let (kernels, _) = read(&mixed.concat());
    let found: Vec<_> =
        kernels.iter().map(|it| (it.name.as_str(), it.sgprs, it.lds_bytes, it.line)).collect();
    assert_eq!(found, [("a", Some(1), Some(6), 1), ("b", Some(11), Some(16), 2)]);
}

#[test]
fn targets_come_from_commands() {
    let k = |file: &str| remarks("", &format!("{file}:4:1: "), "k", [1, 2, 0, 8, 0, 0], CLANG);
    let of = |text: String| -> Vec<String> {
        read(&text).0.into_iter().map(|it| it.target.unwrap_or_default()).collect()
    };
    let one = "clang++ --offload-arch=gfx942 -O3 -c x/a.hip -o a.o\n".to_owned();
    assert_eq!(of(one.clone() + &k("a.hip")), ["gfx942"]);
    // Targets of a command are compiled in the order of their names, not of the options.
    let two = "clang++ --offload-arch=gfx950 --offload-arch=gfx90a:xnack- -c b.hip\n".to_owned();
    assert_eq!(of(two.clone() + &k("b.hip") + &k("b.hip")), ["gfx90a:xnack-", "gfx950"]);
    // Two commands before the messages of both: the source file decides.
    assert_eq!(of(one + &two + &k("x/a.hip") + &k("b.hip")), ["gfx942", "gfx90a:xnack-"]);
    for line in [
        "-- The HIP architectures: CMAKE_HIP_ARCHITECTURES=gfx908\n",
        "cmake -DAMDGPU_TARGETS='gfx908' ..\n",
        "\"/opt/rocm/llvm/bin/clang\" -cc1 \"-target-cpu\" \"gfx908\" -x hip\n",
        "llc -mcpu=gfx908 a.ll\n",
    ] {
        assert_eq!(of(line.to_owned() + &k("c.hip")), ["gfx908"], "{line}");
    }
    // The host's processor is no target.
    assert_eq!(of("clang -cc1 -target-cpu x86-64\n".to_owned() + &k("a.hip")), [""]);
    let ends = k("a.hip") + "1 warning generated when compiling for gfx90a.\n" + &k("a.hip");
    assert_eq!(of(ends), ["gfx90a", ""]);
}

#[test]
fn warnings_and_spill_blocks() {
    let text = "a.hip:3:28: error: local memory (160000) exceeds limit (65536) in 'big'\n\
        a.hip:7:8: warning: stack frame size (552) exceeds limit (64) in 'deep' [-Wframe-larger-than]\n\
        warning: <unknown>:0:0: stack frame size of 128 bytes in function 'old'\n\
        a.hip:9:1: warning: failed to meet occupancy target given by 'amdgpu-waves-per-eu' in 'few': desired occupancy was 8, final occupancy is 4 [-Wpass-failed]\n\
        I0000 00:00:1764849271.079538 29 amdgpu_backend.cc:447] ====== REGISTER SPILLING DETECTED ======\n\
        I0000 00:00:1764849271.079561 29 amdgpu_backend.cc:448] Module: fusion_7\n\
        I0000 00:00:1764849271.079565 29 amdgpu_backend.cc:449] SGPR spill count: 3\n\
        I0000 00:00:1764849271.079569 29 amdgpu_backend.cc:450] VGPR spill count: 19\n\
        I0000 00:00:1764849271.079572 29 amdgpu_backend.cc:451] Private segment size: 80 bytes\n";
    let (kernels, counts) = read(text);
    let of = |name: &str| kernels.iter().find(|it| it.name == name).unwrap_or_else(|| panic!("{name}"));
    assert_eq!(of("big").lds_bytes, Some(160_000));
    assert_eq!(of("deep").scratch_bytes, Some(552));
    assert_eq!(of("deep").source, Some(("a.hip".to_owned(), 7)));
    assert_eq!(of("old").scratch_bytes, Some(128));
    assert_eq!(of("few").waves_per_simd, Some(4));
    let fusion = of("fusion_7");
    assert_eq!((fusion.sgpr_spills, fusion.vgpr_spills, fusion.scratch_bytes), (Some(3), Some(19), Some(80)));
    assert_eq!((counts.kernels, counts.used, counts.lines), (5, 9, 9));
    // A warning before the messages of its kernel is one kernel with them.
    let (kernels, _) = read(
        &(text.lines().nth(3).unwrap_or_default().to_owned()
            + "\n"
            + &remarks("", "a.hip:9:1: ", "few", [1, 2, 0, 4, 0, 0], CLANG)),
    );
    assert_eq!((kernels.len(), kernels[0].diagnostics.len()), (1, 1));
}

#[test]
fn what_cannot_be_used_is_counted() {
    let whole = remarks("", "a.hip:4:1: ", "k", [1, 2, 3, 4, 5, 6], CLANG);
    let cut: String = whole.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let (kernels, counts) = read(&cut);
    assert_eq!((kernels.len(), counts.nameless), (0, 9));
    let text = format!(
        "a.hip:4:1: remark: Function Name: k{CLANG}\n\
         a.hip:4:1: remark:     VGPRs: k.num_vgpr{CLANG}\n\
         a.hip:4:1: remark:     Named Barriers: 2{CLANG}\n\
         a.hip:5:1: remark: loop vectorized [-Rpass=loop-vectorize]\n"
    );
    let (kernels, counts) = read(&text);
    assert_eq!(kernels[0].vgprs, None);
    assert_eq!((counts.formulas, counts.labels.len()), (1, 1));
    assert_eq!(read("nothing\nat all").1, BuildCounts { lines: 2, ..BuildCounts::default() });
}

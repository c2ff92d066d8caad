//! Hand-made values that use every field a renderer shows.

use std::collections::BTreeMap;
use view::*;

fn source(line: u32) -> Option<SourceLine> {
    Some(SourceLine { file: "/home/dev/src/gemm.hip".into(), line, function: Some("gemm".into()) })
}

fn widths(pairs: &[(u32, u32)]) -> BTreeMap<u32, u32> {
    pairs.iter().copied().collect()
}

pub(crate) fn gemm() -> KernelCard {
    KernelCard {
        file: "build/libgemm.so".into(),
        origin: ".hip_fatbin[3]".into(),
        target: "gfx942:sramecc+:xnack-".into(),
        code_object_version: 6,
        name: "_Z4gemmI4TileI5ArrayIiLi4EEfELj256EEvPKfPfi".into(),
        demangled: "void ns::detail::gemm<ns::detail::Tile<std::array<int, 4ul>, float, ns::detail::RowMajor, ns::detail::ColumnMajor>, 256u, ns::detail::Epilogue<float, ns::detail::Relu<float> > >(float const*, float const*, float*, int, int, int)".into(),
        source: source(14),
        resources: Resources {
            vgprs: Some(132),
            agprs: Some(64),
            vgprs_allocated: Some(200),
            sgprs: Some(48),
            vgpr_spills: Some(3),
            sgpr_spills: Some(0),
            lds_bytes: Some(16384),
            launch_lds_bytes: None,
            scratch_bytes: Some(16),
            dynamic_stack: false,
            kernarg_bytes: Some(296),
            max_workgroup: Some(256),
            required_workgroup: None,
            wavefront_size: Some(64),
            waves_per_workgroup: Some(4),
        },
        occupancy: Some(OccupancyCard {
            waves_per_simd: 2.0,
            waves_per_cu: 8,
            max_waves_per_simd: 8,
            limiter: "VGPR".into(),
            assumptions: vec!["workgroup of 256 (max_flat_workgroup_size)".into()],
            reasons: Vec::new(),
            next: vec![
                OccupancyStep { resource: "VGPR".into(), shed: 32, unit: "registers".into(), waves_per_simd: 3.0 },
                OccupancyStep { resource: "LDS".into(), shed: 3277, unit: "bytes".into(), waves_per_simd: 2.5 },
            ],
            together: vec![],
        }),
        code_bytes: Some(5120),
        instructions: Some(1012),
        unknown_instructions: Some(0),
        mix: Some(Mix { valu: 480, mfma: 128, salu: 150, smem: 14, vmem_load: 48, vmem_store: 16, vmem_atomic: 0, lds: 96, branch: 12, wait: 52, barrier: 6, message: 0, control: 10, unknown: 0 }),
        load_widths: widths(&[(4, 16), (16, 32)]),
        store_widths: widths(&[(4, 16)]),
        lds_widths: widths(&[(8, 64), (16, 32)]),
        pressure: Some(Pressure {
            live_vgprs: 130,
            live_agprs: 64,
            at: Place { address: Some(0x1a30), instruction: Some("v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]".into()), source: source(33), in_loop: Some(2), ..Place::default() },
        }),
        loops: vec![
            LoopCard {
                id: 1,
                depth: 1,
                parent: None,
                function: None,
                place: Place { address: Some(0x1900), source: source(28), ..Place::default() },
                instructions: 148,
                mix: Mix { valu: 80, salu: 20, vmem_load: 16, lds: 16, wait: 12, branch: 2, barrier: 2, ..Mix::default() },
                load_widths: widths(&[(16, 16)]),
                store_widths: BTreeMap::new(),
                lds_widths: widths(&[(16, 16)]),
                waits: ["vmcnt(3)", "vmcnt(2)", "vmcnt(1)", "vmcnt(0)", "lgkmcnt(0)", "lgkmcnt(0)"].map(String::from).to_vec(),
            },
            LoopCard {
                id: 2,
                depth: 2,
                parent: Some(1),
                function: None,
                place: Place { address: Some(0x1a00), source: source(33), ..Place::default() },
                instructions: 96,
                mix: Mix { valu: 12, mfma: 32, salu: 6, lds: 24, wait: 20, branch: 1, ..Mix::default() },
                load_widths: BTreeMap::new(),
                store_widths: BTreeMap::new(),
                lds_widths: widths(&[(8, 24)]),
                waits: vec!["lgkmcnt(0)".into(); 20],
            },
        ],
        compiler: None,
        triton: None,
        arguments: vec![
            ArgumentCard { name: "A".into(), type_name: "float const*".into(), offset: 0, size: 8, kind: "global_buffer".into() },
            ArgumentCard { name: "C".into(), type_name: "float*".into(), offset: 8, size: 8, kind: "global_buffer".into() },
            ArgumentCard { name: String::new(), type_name: String::new(), offset: 16, size: 4, kind: "by_value".into() },
        ],
        hidden_arguments: vec!["hidden_block_count_x".into(), "hidden_group_size_x".into()],
        calls: vec!["__assert_fail".into()],
        findings: vec![
            Finding {
                kernel: None,
                time_percent: None,
                time_trust: None,
                rule: "RES001",
                severity: Severity::Severe,
                message: "3 VGPRs are spilled to 16 bytes of scratch per lane, 2 of the accesses inside loop #2".into(),
                advice: "Give the compiler more registers (`__launch_bounds__(256)`), or keep fewer values alive across the loop.".into(),
                cost: Some("4 of 96 instructions per iteration".into()),
                time_lost_ns: None,
                time_lost_trust: None,
                trust: Vec::new(),
                evidence: vec![Evidence { what: "VGPR spills".into(), value: "3".into() }, Evidence { what: "scratch per lane".into(), value: "16 B".into() }],
                places: vec![
                    Place { address: Some(0x1a48), instruction: Some("scratch_store_dwordx3 off, v[4:6], off offset:4".into()), source: source(34), in_loop: Some(2), ..Place::default() },
                    Place { address: Some(0x1b00), instruction: Some("scratch_load_dwordx3 v[4:6], off, off offset:4".into()), source: source(41), ..Place::default() },
                ],
                gate: None,
            joined: Vec::new(),
                in_verdict: false,
            },
            Finding {
                kernel: None,
                time_percent: None,
                time_trust: None,
                rule: "SYN002",
                severity: Severity::Warning,
                message: "every LDS read is waited for with lgkmcnt(0) although 3 younger ones are in flight".into(),
                advice: "Wait with a higher count, or load the next tile's operands one step ahead.".into(),
                cost: None,
                time_lost_ns: None,
                time_lost_trust: None,
                trust: Vec::new(),
                evidence: vec![],
                places: vec![Place { text_line: Some(120), instruction: Some("s_waitcnt lgkmcnt(0)".into()), in_loop: Some(2), ..Place::default() }],
                gate: None,
            joined: Vec::new(),
                in_verdict: false,
            },
            Finding {
                kernel: None,
                time_percent: None,
                time_trust: None,
                rule: "RES002",
                severity: Severity::Info,
                message: "2 of 8 waves per SIMD, limited by VGPR".into(),
                advice: "Nothing to do when the matrix cores are busy.".into(),
                cost: None,
                time_lost_ns: None,
                time_lost_trust: None,
                trust: Vec::new(),
                evidence: vec![],
                places: vec![],
                gate: None,
            joined: Vec::new(),
                in_verdict: false,
            },
        ],
        not_checked: vec![
            NotChecked::new("TIL006", "the Triton metadata file"),
            NotChecked::new("LCH001", "the workgroup size"),
            NotChecked::new("RES005", "the workgroup size"),
        ],
        warnings: vec!["symbol `gemm` is 4 bytes longer than its section".into()],
    }
}

pub(crate) fn plain_copy() -> KernelCard {
    KernelCard {
        file: "copy.hsaco".into(),
        origin: String::new(),
        target: "gfx90a".into(),
        code_object_version: 5,
        name: "copy".into(),
        demangled: "copy".into(),
        source: None,
        resources: Resources {
            vgprs: Some(4),
            agprs: Some(0),
            vgprs_allocated: Some(8),
            sgprs: Some(10),
            vgpr_spills: Some(0),
            sgpr_spills: Some(0),
            lds_bytes: Some(0),
            scratch_bytes: Some(0),
            kernarg_bytes: Some(24),
            required_workgroup: Some([64, 4, 1]),
            wavefront_size: Some(64),
            waves_per_workgroup: Some(4),
            ..Resources::default()
        },
        occupancy: Some(OccupancyCard {
            waves_per_simd: 8.0,
            waves_per_cu: 32,
            max_waves_per_simd: 8,
            limiter: "wave slots".into(),
            assumptions: vec![],
            reasons: Vec::new(),
            next: vec![],
            together: vec![],
        }),
        code_bytes: Some(100),
        instructions: Some(19),
        unknown_instructions: Some(1),
        mix: Some(Mix {
            valu: 7,
            salu: 4,
            smem: 2,
            vmem_load: 1,
            vmem_store: 1,
            wait: 2,
            branch: 1,
            unknown: 1,
            ..Mix::default()
        }),
        load_widths: widths(&[(16, 1)]),
        store_widths: widths(&[(16, 1)]),
        lds_widths: BTreeMap::new(),
        pressure: None,
        loops: vec![],
        compiler: None,
        triton: None,
        arguments: vec![],
        hidden_arguments: vec![],
        calls: vec![],
        findings: vec![],
        not_checked: vec![],
        warnings: vec![],
    }
}

pub(crate) fn library() -> Vec<KernelRow> {
    let mut rows = vec![KernelRow::from(&gemm()), KernelRow::from(&plain_copy())];
    for (index, tile) in [
        "64u, 64u, float",
        "128u, 64u, float",
        "128u, 128u, _Float16",
        "256u, 128u, _Float16",
        "32u, 32u, double",
    ]
    .iter()
    .enumerate()
    {
        let index = index as u32;
        let mut row = KernelRow::from(&plain_copy());
        row.name = format!(
            "void lib::scan_by_key<{tile}, lib::detail::Policy<lib::Plus<float>, 4u> >(float const*, float*, unsigned int)"
        );
        row.vgprs = Some(32 + 24 * index);
        row.lds_bytes = Some(1024 * index + 100);
        row.waves_per_simd = (index != 2).then_some(8.0 - 1.5 * f64::from(index));
        row.waves_per_cu = row.waves_per_simd.map(|it| (4.0 * it) as u32);
        row.limiter = if index > 2 { "VGPR".into() } else { "wave slots".into() };
        row.instructions = Some(400 * index + 7);
        row.findings = match index {
            0 => vec![],
            1 => vec![(Severity::Info, "RES002", 1)],
            2 => vec![(Severity::Warning, "MEM001", 3), (Severity::Info, "RES002", 1)],
            _ => vec![
                (Severity::Warning, "LDS001", 12),
                (Severity::Warning, "MEM001", 3),
                (Severity::Warning, "SYN001", 2),
                (Severity::Info, "RES002", 1),
                (Severity::Info, "RES003", 1),
            ],
        };
        rows.push(row);
    }
    rows
}

pub(crate) fn summary() -> Summary {
    let mut summary = Summary::default();
    library().iter_mut().for_each(|row| {
        row.said = row
            .findings
            .iter()
            .filter(|(severity, ..)| *severity > Severity::Info)
            .map(|(severity, rule, times)| Said {
                rule,
                severity: *severity,
                message: format!("{times} of {} accesses of the loop are narrow", 2 * times),
                advice: format!("use {} bytes per lane", 8 * times),
            })
            .collect();
        summary.add(row);
    });
    summary
}

pub(crate) fn rules() -> Vec<RuleInfo> {
    [
        ("RES001", "registers spill to scratch", Severity::Severe),
        ("RES002", "occupancy and what limits it", Severity::Info),
        ("RES003", "a few registers above an occupancy boundary", Severity::Warning),
        ("MEM001", "global loads in a loop narrower than 16 bytes per lane, so that each takes more instructions than the data need", Severity::Warning),
        ("LDS001", "LDS access narrower than 8 bytes", Severity::Warning),
        ("SYN001", "`vmcnt(0)` right after the load in a loop", Severity::Warning),
        ("SYN002", "`lgkmcnt(0)` where a higher count would do", Severity::Warning),
    ]
    .map(|(id, title, severity)| RuleInfo { id, title, severity, page: "# Page\n\nText.\n" })
    .to_vec()
}

pub(crate) fn errors() -> Vec<FileError> {
    vec![FileError {
        file: "broken.hsaco".into(),
        error: "section header table ends at byte 900 of 512".into(),
        hint: Some("the file is truncated".into()),
    }]
}

pub(crate) fn listing() -> Listing {
    let line = |address: u64, text: &str, loop_depth: u32, live_vgprs: u32| ListingLine {
        address,
        text: text.into(),
        label: None,
        source: None,
        loop_depth,
        live_vgprs,
        live_agprs: 0,
        peak: false,
        findings: vec![],
        run: None,
        samples: None,
        trace: None,
    };
    let mut lines = vec![
        line(0x19f8, "s_mov_b32 s4, 0", 1, 4),
        line(0x1a00, "v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], v[4:5], a[0:15]", 2, 130),
        line(0x1a08, "s_waitcnt lgkmcnt(0)", 2, 128),
        line(0x1a48, "scratch_store_dwordx3 off, v[4:6], off offset:4 sc0 sc1 nt with a long tail", 2, 128),
        line(0x1a50, "s_endpgm", 0, 0),
    ];
    lines[0].source = source(28);
    lines[1].label = Some("L1".into());
    lines[1].source = source(33);
    lines[1].peak = true;
    lines[1].live_agprs = 64;
    lines[2].findings = vec!["SYN002"];
    lines[3].findings = vec!["RES001", "SYN002"];
    Listing {
        kernel: "ns::gemm<256u>(float const*)".into(),
        text_lines: false,
        run: None,
        samples: None,
        trace: None,
        lines,
    }
}

/// The same with what a recording says; one line never ran.
pub(crate) fn measured_listing() -> Listing {
    let mut listing = listing();
    let wait = |why: &str, share| WaitShare { why: why.to_owned(), share };
    listing.run = Some(ListingRun {
        dispatches: 3,
        issued: 9_437_184,
        elsewhere: 1024,
        waits: vec![wait("memory", 81.5), wait("lds/smem", 18.25), wait("fetch", 0.25)],
    });
    let run = |count: u64, lanes: f64| LineRun {
        count,
        share: 100.0 * count as f64 / 9_437_184.0,
        lanes,
        lines_per_access: None,
        conflict_cycles: None,
        lds_cycles: None,
        stall: None,
    };
    listing.lines[0].run = Some(run(16_384, 64.0));
    listing.lines[1].run = Some(run(8_388_608, 64.0));
    listing.lines[2].run =
        Some(LineRun { conflict_cycles: Some(262_144), lds_cycles: Some(524_288), ..run(2_359_296, 21.25) });
    listing.lines[3].run = Some(LineRun {
        lines_per_access: Some(16.0),
        stall: Some(view::LineStall { cycles: 1234.5, share: 61.25, why: "memory".to_owned() }),
        ..run(1_048_576, 63.5)
    });
    listing
}

fn name(name: &str) -> KernelName {
    KernelName { name: format!("_Z{name}"), demangled: format!("{name}(float*)"), target: "gfx942".into() }
}

pub(crate) fn comparison() -> Answer<Comparison> {
    let change =
        |metric: &str, label: &str, unit: &str, old: Option<f64>, new: Option<f64>, verdict| Change {
            metric: metric.into(),
            label: label.into(),
            unit: unit.into(),
            old,
            new,
            verdict,
            remark: None,
            breaks: None,
        };
    let mut changes = vec![
        change("vgprs", "VGPRs", "", Some(96.0), Some(104.0), Verdict::Worse),
        change("occupancy", "waves per SIMD", "", Some(5.0), Some(4.0), Verdict::Worse),
        change("lds_bytes", "LDS", "bytes", Some(32768.0), Some(16384.0), Verdict::Better),
        change("mix.mfma", "MFMA", "", Some(64.0), Some(32.0), Verdict::Neutral),
        change("scratch_bytes", "scratch", "bytes", None, Some(16.0), Verdict::Neutral),
    ];
    changes[1].breaks = Some("-0".into());
    let card = gemm();
    let total = |metric: &str, label: &str, better, worse, different| ChangeTotal {
        metric: metric.into(),
        label: label.into(),
        better,
        worse,
        different,
    };
    let mut second = changes.clone();
    second.truncate(1);
    (second[0].verdict, second[0].remark) = (Verdict::Neutral, Some("waves unchanged"));
    let side = |id, instructions, load_bytes| LoopSide {
        id,
        instructions,
        mfma: 16,
        load_bytes,
        store_bytes: 0,
        lds_bytes: 4096,
        barriers: 2,
    };
    let loops = vec![LoopComparison { depth: 2, old: side(2, 148, 64), new: side(3, 1096, 16) }];
    let balance = |verdict, words: &str| Balance { verdict, words: words.into() };
    let second = KernelComparison {
        old: name("scale"),
        new: name("scale"),
        balance: balance(Verdict::Neutral, "nothing that counts: same waves, widths and work"),
        changes: second,
        loops: vec![],
        appeared: vec![],
        gone: vec![],
    };
    let part = Comparison {
        totals: vec![
            total("occupancy", "waves per SIMD", 0, 1, 0),
            total("vgprs", "VGPRs", 0, 2, 0),
            total("mix.mfma", "MFMA instructions", 0, 0, 1),
        ],
        changed: vec![
            KernelComparison {
                old: name("gemm_v1"),
                new: name("gemm_v2"),
                balance: balance(Verdict::Worse, "worse: waves per SIMD 5 → 4"),
                changes,
                loops,
                appeared: vec![card.findings[0].clone()],
                gone: vec![card.findings[1].clone()],
            },
            second,
        ],
        added: vec![name("scan")],
        removed: vec![name("reduce")],
        unchanged: 1240,
        regressions: 1,
        shown: 20,
    };
    let mut answer = Answer::new(DIFF_SCHEMA, part);
    answer.inputs = ["old.hsaco", "new.hsaco"].map(|path| Input::new(path, path, "code")).to_vec();
    answer
}

pub(crate) fn occupancy() -> Answer<OccupancyReport> {
    let rows = |list: &[(f64, u32)], here: f64| {
        list.iter()
            .map(|(waves, at_most)| BoundaryRow {
                waves_per_simd: *waves,
                at_most: *at_most,
                here: *waves == here,
            })
            .collect::<Vec<_>>()
    };
    let report = OccupancyReport {
        target: "gfx942".into(),
        resources: OccupancyInputs {
            vgprs: 170,
            agprs: 0,
            sgprs: 40,
            lds_bytes: 32768,
            waves_per_workgroup: 4,
        },
        result: OccupancyCard {
            waves_per_simd: 2.0,
            waves_per_cu: 8,
            max_waves_per_simd: 8,
            limiter: "VGPR".into(),
            assumptions: vec![],
            reasons: Vec::new(),
            next: vec![],
            together: vec![
                OccupancyStep {
                    resource: "VGPR".into(),
                    shed: 2,
                    unit: "registers".into(),
                    waves_per_simd: 3.0,
                },
                OccupancyStep {
                    resource: "LDS".into(),
                    shed: 11264,
                    unit: "bytes".into(),
                    waves_per_simd: 2.0,
                },
            ],
        },
        limits: vec![
            ResourceLimit { resource: "VGPR".into(), waves_per_simd: 2.0 },
            ResourceLimit { resource: "LDS".into(), waves_per_simd: 2.0 },
            ResourceLimit { resource: "wave slots".into(), waves_per_simd: 8.0 },
        ],
        boundaries: vec![
            BoundaryTable {
                resource: "VGPR".into(),
                unit: "registers".into(),
                rows: rows(
                    &[
                        (8.0, 64),
                        (7.0, 72),
                        (6.0, 80),
                        (5.0, 96),
                        (4.0, 128),
                        (3.0, 168),
                        (2.0, 256),
                        (1.0, 512),
                    ],
                    2.0,
                ),
            },
            BoundaryTable {
                resource: "LDS".into(),
                unit: "bytes".into(),
                rows: rows(&[(4.0, 16384), (3.0, 21504), (2.0, 32768), (1.0, 65536)], 2.0),
            },
        ],
    };
    Answer::new(OCCUPANCY_SCHEMA, report)
}

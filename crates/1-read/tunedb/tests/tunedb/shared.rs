//! Reads each file of `../shared/tuning` and writes it back byte for byte; the facts in its notes are found.
//!
//! A row of a table is a file and the facts that the loader's documentation states about it.

use rockhound_tunedb::{FlawKind, Format, Tunings, read, time};
use std::collections::BTreeMap;

/// Files that are not tuning databases.
const OTHERS: [&str; 2] = ["NOTES.md", "README.md"];

fn files() -> Option<BTreeMap<String, Vec<u8>>> {
    let folder = testkit::shared("tuning")?;
    let mut files = testkit::files(&folder);
    files.retain(|name, _| !OTHERS.iter().any(|it| name.contains(it)) && !name.ends_with(".gz"));
    Some(files)
}

fn kinds(tunings: &Tunings<'_>, kind: FlawKind) -> Vec<u32> {
    tunings.flaws.iter().filter(|it| it.kind == kind).map(|it| it.line).collect()
}

#[test]
fn every_file_is_read_and_comes_back_byte_for_byte() {
    let Some(files) = files() else { return };
    // A truncated JSON text and an AITER table of settings without shapes hold no rows.
    let refused = ["triton/made-truncated.autotune.json"];
    let mut formats: BTreeMap<Format, usize> = BTreeMap::new();
    for (name, bytes) in &files {
        match read(name, bytes) {
            Ok(tunings) => {
                assert!(tunings.write() == *bytes, "{name} as {:?} does not come back", tunings.format);
                *formats.entry(tunings.format).or_default() += 1;
                for row in &tunings.rows {
                    assert!(row.span.is_empty() || !tunings.text(row).is_empty(), "{name}: {row:?}");
                }
            }
            Err(error) => assert!(refused.contains(&name.as_str()), "{name}: {error}"),
        }
    }
    assert!(files.len() >= 130, "{} files", files.len());
    // Nothing there has these formats, and a timeline is read by another crate.
    let others = [
        Format::ShapeList,
        Format::Timeline,
        Format::BlockGemmJson,
        Format::ProblemProfile,
        Format::RocblasLog,
        Format::RocblasBench,
        Format::RocblasOverride,
        Format::CkProfiler,
        Format::ServerLog,
    ];
    for format in Format::ALL.iter().filter(|it| !others.contains(it)) {
        assert!(formats.contains_key(format), "no file of {format:?}");
    }
}

#[test]
fn formats_rows_and_times() {
    let Some(files) = files() else { return };
    for (name, format, rows, timed) in [
        ("tunableop/pt2.2-rocm6.0-notime.csv", Format::TunableOp, 2, 0),
        ("tunableop/pt2.2-rocm6.0-bareindex.csv", Format::TunableOp, 2, 2),
        ("tunableop/pt2.11.0-hip702-gfx1100.csv", Format::TunableOp, 265, 265),
        ("tunableop/made-crlf.csv", Format::TunableOp, 14, 14),
        ("tunableop/made-blas-params.csv", Format::TunableOp, 3, 3),
        ("tunableop/untuned-mixed.csv", Format::TunableOpUntuned, 4, 0),
        ("tunableop/untuned-scaled.csv", Format::TunableOpUntuned, 3, 0),
        ("tunableop/verbose-load.log", Format::TunableOpLog, 6, 6),
        ("hipblaslt/logs/bench-validate.log", Format::BenchOutput, 1, 1),
        ("hipblaslt/logs/bench-freq-all.log", Format::BenchOutput, 1, 1),
        ("hipblaslt/logs/bench-mi300x-freq-noindent.log", Format::BenchOutput, 1, 1),
        ("hipblaslt/logs/bench-winner.log", Format::BenchOutput, 1, 1),
        ("hipblaslt/logs/tuning-cache-runs.log", Format::BenchOutput, 1, 0),
        ("hipblaslt/logs/log-mask-32.txt", Format::ProblemLog, 6, 0),
        ("hipblaslt/made-tuning-conflicts.txt", Format::TuningFile, 5, 5),
        ("hipblaslt/find_exact-template.yaml", Format::FindExact, 2, 0),
        ("hipblaslt/matmul_probset1_bench.yaml", Format::BenchProblems, 35, 0),
        (
            "hipblaslt/logic/gfx942/Equality/aquavanjaram_Cijk_Alik_Bljk_F8HS_BH_UserArgs.yaml",
            Format::Logic,
            4,
            0,
        ),
        (
            "hipblaslt/logic/gfx942/FreeSize/aquavanjaram_Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs.yaml",
            Format::Logic,
            0,
            0,
        ),
        ("hipblaslt/logic/navi32/Equality/navi32_Cijk_Ailk_Bjlk_HHS_BH_UserArgs.yaml", Format::Logic, 4, 4),
        ("hipblaslt/logic/excerpt-dict-form.gfx1250.Equality.yaml", Format::Logic, 2, 2),
        ("tensile/made-00_Final.csv", Format::TensileData, 7, 7),
        ("tensile/client.log", Format::TensileLog, 4, 2),
        ("tensile/gsu-f32_gsu.yaml", Format::TensileConfig, 0, 0),
        ("miopen/gfx942130.HIP.fdb.sample.txt", Format::FindDb, 0, 0),
        ("miopen/gfx942130.sample.db", Format::PerfDbSqlite, 1316, 0),
        ("miopen/driver-output.log", Format::DriverCommands, 1, 1),
        ("aiter/tuned/dsv3_bf16_tuned_gemm.csv", Format::AiterTuned, 176, 62),
        ("aiter/tuned/chunk_gdn_h_opt_tuned.csv", Format::AiterTuned, 0, 0),
        ("aiter/tuned/tuned_fhmoe.csv", Format::AiterTuned, 12, 0),
        ("aiter/untuned/kimi_bf16_untuned_gemm.csv", Format::AiterUntuned, 40, 0),
        ("aiter/untuned/a8w8_blockscale_bpreshuffle_untuned_gemm.csv", Format::AiterUntuned, 0, 0),
        ("triton/made-all-failed.autotune.json", Format::Autotune, 2, 0),
        ("triton/made-print-autotuning-mixed.log", Format::AutotuneLog, 2, 0),
        ("triton/print-autotuning-old.log", Format::AutotuneLog, 3, 0),
        ("triton/made-tritonparse-autotune.ndjson", Format::TritonParse, 3, 2),
    ] {
        let tunings = read(name, &files[name]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(tunings.format, format, "{name}");
        // 0 rows match any number if the notes give none.
        let found = tunings.rows.len();
        let any = matches!(format, Format::FindDb | Format::TensileConfig);
        assert!(any && found > 0 || found == rows, "{name}: {found} rows, not {rows}");
        let measured = tunings.rows.iter().filter(|row| row.time_us.is_ok()).count();
        assert!(any || measured == timed, "{name}: {measured} rows with a time, not {timed}");
    }
}

#[test]
fn flaws_that_the_notes_name() {
    let Some(files) = files() else { return };
    for (name, kind, lines) in [
        ("tunableop/made-crlf.csv", FlawKind::CarriageReturn, &[1][..]),
        ("tunableop/made-bom.csv", FlawKind::ByteOrderMark, &[1]),
        ("tunableop/made-empty-line.csv", FlawKind::EmptyLine, &[6, 12]),
        ("tunableop/made-bad-fields.csv", FlawKind::Malformed, &[6, 7, 9]),
        ("tunableop/made-bad-fields.csv", FlawKind::UnknownOperation, &[10]),
        ("tunableop/made-bad-fields.csv", FlawKind::Contradiction, &[11]),
        ("hipblaslt/made-tuning-conflicts.txt", FlawKind::CutLine, &[8]),
        ("aiter/tuned/dsv4_fp8fp4_tuned_fmoe.csv", FlawKind::ShiftedFields, &[9, 11, 12, 13, 14, 15, 16, 17]),
        ("miopen/made-gfx942130.HIP.3_2_0_36bb7fd4a-dirty.ufdb.txt", FlawKind::OldGeneration, &[25]),
        ("miopen/made-gfx942130.HIP.3_2_0_36bb7fd4a-dirty.ufdb.txt", FlawKind::RepeatedEntry, &[26]),
        ("miopen/made-gfx942130.HIP.3_2_0_36bb7fd4a-dirty.ufdb.txt", FlawKind::IllFormedEntry, &[27]),
        ("tensile/client.log", FlawKind::WrongResult, &[7, 8]),
    ] {
        let tunings = read(name, &files[name]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(kinds(&tunings, kind), lines, "{name}: {:?}", tunings.flaws);
    }
    let bad = read("f", &files["tunableop/made-bad-fields.csv"]).unwrap();
    let row = bad.rows.iter().find(|row| row.line == 8).unwrap();
    assert_eq!(row.time_us, Err(time::NAN));
    assert!(bad.spoiled(12).is_none());
}

#[test]
fn what_triton_takes() {
    let Some(files) = files() else { return };
    for (name, best) in [
        ("triton/made-matmul_kernel.gfx942.autotune.json", Some(3)),
        ("triton/made-matmul_kernel.oldkey.autotune.json", Some(3)),
        ("triton/made-all-failed.autotune.json", None),
        ("triton/made-scalar-timing.autotune.json", Some(1)),
    ] {
        let tunings = read(name, &files[name]).unwrap();
        assert_eq!(rockhound_tunedb::triton::best(&tunings), best, "{name}");
    }
    let error = read("t", &files["triton/made-truncated.autotune.json"]).unwrap_err();
    assert!(error.to_string().contains("no JSON"), "{error}");
}

#[test]
fn values_of_single_rows() {
    let Some(files) = files() else { return };
    let row = |name: &str, at: usize| {
        let tunings = read(name, &files[name]).unwrap();
        let row = &tunings.rows[at];
        let shape = row.shape.as_ref().map(ToString::to_string).unwrap_or_else(|it| (*it).to_owned());
        let target = row.target.as_deref().unwrap_or("-").to_owned();
        let types = row.types.as_deref().unwrap_or("-").to_owned();
        let layout = row.layout.as_deref().unwrap_or("-").to_owned();
        (types, layout, shape, target, row.cu_count.ok())
    };
    for (name, at, types, layout, shape, target, units) in [
        (
            "tunableop/pt2.9.1-hip702-gfx950.csv",
            0,
            "Half",
            "TN",
            "51866x39232x1280 ld 1280,1280,51866",
            "gfx950",
            None,
        ),
        ("hipblaslt/tuning.txt", 0, "xf32_r", "TN", "512x1024x13 ld 13,13,512", "gfx942", Some(304)),
        (
            "hipblaslt/logs/bench-mi350x-bf16-nt.log",
            0,
            "bf16_r",
            "NT",
            "3584x512x2048 ld 3584,512,3584",
            "gfx950",
            None,
        ),
        (
            "hipblaslt/logic/gfx942_80cu/Equality/aquavanjaram_Cijk_Ailk_Bljk_SB_UserArgs.yaml",
            0,
            "f32_r",
            "NN",
            "4096x5120x4096",
            "gfx942",
            Some(80),
        ),
        (
            "hipblaslt/made-merge-original/aldebaran_Cijk_Alik_Bljk_HHS_BH.yaml",
            0,
            "f16_r",
            "TN",
            "4096x4096x40 batch 16 ld 40,40,4096",
            "gfx90a",
            None,
        ),
        (
            "aiter/tuned/dsv4_batched_gemm_a8w8_blockscale_mxscale_tuned.csv",
            0,
            "a8w8",
            "-",
            "1x1024x4096 batch 2",
            "gfx950",
            None,
        ),
        (
            "miopen/gfx90a6e.HIP.fdb.sample.txt",
            2,
            "FP16",
            "NCHW",
            "1-1-1-3x3-2-3-3-128-0x0-1x1-1x1-0-NCHW-FP16-B",
            "gfx90a",
            Some(110),
        ),
        (
            "vllm-sglang/vllm/E=8,N=14336,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json",
            0,
            "fp8_w8a8",
            "-",
            "1 tokens, 8 experts, inter 14336",
            "-",
            None,
        ),
        (
            "aiter/triton-configs/gfx950/triton/gemm/gemm_afp4wfp4/GEMM-AFP4WFP4-N=18432-K=16384.json",
            0,
            "-",
            "-",
            "M <= 8",
            "gfx950",
            None,
        ),
    ] {
        let expected = (types.to_owned(), layout.to_owned(), shape.to_owned(), target.to_owned(), units);
        assert_eq!(row(name, at), expected, "{name}");
    }
}

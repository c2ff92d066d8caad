//! Merges with their expected results: own small files, and the pairs of the shared data.

#![allow(clippy::disallowed_methods, reason = "tests read the shared files")]

use super::*;
use proptest::prelude::*;
use sorting::Sort;
use tunedb::read;

const HEAD: &str = "Validator,PT_VERSION,2.9.1\nValidator,GCN_ARCH_NAME,gfx950\n";

fn row(k: u32, kernel: &str, ms: &str) -> String {
    format!("GemmTunableOp_Half_TN,tn_8_8_{k},{kernel},{ms}\n")
}

fn merged(texts: &[(&str, String)], options: &Options) -> String {
    let files: Vec<_> = texts.iter().map(|(name, text)| read(name, text.as_bytes()).unwrap()).collect();
    String::from_utf8(merge(&files, options).unwrap().bytes).unwrap()
}

#[test]
fn the_faster_row_of_each_key() {
    let two = Options { noise: Some(0.02), ..Options::default() };
    let force = Options { force: true, ..two };
    for (a, b, options, expected) in [
        // Beyond noise the faster one wins, whichever file has it.
        (row(1, "A", "1.0"), row(1, "B", "0.9"), two, row(1, "B", "0.9")),
        (row(1, "A", "0.9"), row(1, "B", "1.0"), two, row(1, "A", "0.9")),
        // Within noise the first file's stays.
        (row(1, "A", "1.0"), row(1, "B", "0.99"), two, row(1, "A", "1.0")),
        // Of one kernel the smaller time counts.
        (row(1, "A", "1.0"), row(1, "A", "0.99"), two, row(1, "A", "0.99")),
        // A row without a measurement loses.
        (row(1, "Default", "0"), row(1, "B", "9.0"), two, row(1, "B", "9.0")),
        (row(1, "A", "inf"), row(1, "B", "9.0"), two, row(1, "B", "9.0")),
        (row(1, "A", "-1"), row(1, "B", "9.0"), two, row(1, "B", "9.0")),
        (row(1, "A", "nan"), row(1, "B", "nan"), two, row(1, "A", "nan")),
        // A slower one only where it is forced.
        (row(1, "A", "0.5"), row(1, "B", "1.0"), force, row(1, "B", "1.0")),
        // Keys are sorted with their numbers as numbers.
        (row(10, "A", "1"), row(9, "B", "1"), two, row(9, "B", "1") + &row(10, "A", "1")),
    ] {
        let files = [("a.csv", format!("{HEAD}{a}")), ("b.csv", format!("{HEAD}{b}"))];
        assert_eq!(merged(&files, &options), format!("{HEAD}{expected}"), "{a}{b}");
    }
}

#[test]
fn rows_under_other_columns_are_left_out() {
    let head = "transA,transB,batch_count,m,n,k,a_type,b_type,c_type,compute_type,us,solution_index";
    let row = |m: u32, more: &str| format!("    T,N,1,{m},6,7,f32_r,f32_r,f32_r,f32_r,9.5,532{more}\n");
    let a = format!("Git Version: 7d9f\n    {head}\n{}    {head},CUs\n{}", row(5, ""), row(6, ",304"));
    let b = format!("Git Version: 7d9f\n    {head}\n{}", row(8, ""));
    let texts = [("a.txt", a), ("b.txt", b)];
    let files: Vec<_> = texts.iter().map(|(name, text)| read(name, text.as_bytes()).unwrap()).collect();
    let merged = merge(&files, &Options::default()).unwrap();
    let expected = format!("Git Version: 7d9f\n    {head}\n{}{}", row(5, ""), row(8, ""));
    assert_eq!(String::from_utf8(merged.bytes).unwrap(), expected);
    testkit::golden("other columns", &merged.report.tables[0].notes.join("\n"));
}

#[test]
fn repeats_say_what_noise_is() {
    // Six kernels measured twice, 4 % apart: a difference of 3 % means nothing here.
    let (mut a, mut b) = (HEAD.to_owned(), HEAD.to_owned());
    for k in 1..=6 {
        a.push_str(&row(k, "A", "1.00"));
        b.push_str(&row(k, "A", "1.04"));
    }
    a.push_str(&row(7, "A", "1.03"));
    b.push_str(&row(7, "B", "1.00"));
    let result = merged(&[("a.csv", a), ("b.csv", b)], &Options::default());
    assert!(result.contains("tn_8_8_7,A,1.03"), "{result}");
}

#[test]
fn refusals_name_what_differs() {
    let a = read("a.csv", b"Validator,PT_VERSION,2.9.1\nGemmTunableOp_Half_TN,tn_8_8_8,A,1\n").unwrap();
    let b = read("b.csv", b"Validator,PT_VERSION,2.8.0\nGemmTunableOp_Half_TN,tn_8_8_8,A,1\n").unwrap();
    let json = read("gfx942-G.json", b"{\"any\": {\"BLOCK_SIZE_M\": 16}}").unwrap();
    let sized = read("gfx942-G-N=8-K=16.json", b"{\"any\": {\"BLOCK_SIZE_M\": 16}}").unwrap();
    let newer = read("gfx950-G.json", b"{\"any\": {\"BLOCK_SIZE_M\": 16}}").unwrap();
    let group = read("gfx942-G.json", b"{\"any\": {\"x\": {\"BLOCK_SIZE_M\": 16}}}").unwrap();
    let twice = b"{\"any\": {\"BLOCK_SIZE_M\": 16}, \"any\": {\"BLOCK_SIZE_M\": 32}}";
    let twice = read("gfx942-G.json", twice).unwrap();
    let moe = read("x.json", b"{\"8\": {\"BLOCK_SIZE_M\": 16}}").unwrap();
    let cache = |config: &str| {
        format!("{{\"key\": [\"8\"], \"configs_timings\": [[{{\"kwargs\": {{{config}}}}}, 0.5]]}}")
    };
    let (cache, other) = (cache("\"B\": 1"), cache("\"B\": 2"));
    let cache = read("k.autotune.json", cache.as_bytes()).unwrap();
    let other = read("k.autotune.json", other.as_bytes()).unwrap();
    for (what, files) in [
        ("versions", [a.clone(), b]),
        ("kinds", [a, json.clone()]),
        ("sizes", [json.clone(), sized]),
        ("targets", [json.clone(), newer]),
        ("a group", [json.clone(), group]),
        ("a key twice", [json, twice]),
        ("no name of a service", [moe.clone(), moe]),
        ("configurations", [cache.clone(), other]),
    ] {
        let refusal = merge(&files, &Options::default()).unwrap_err();
        testkit::golden(&format!("refused: {what}"), &format!("{}\nhint: {}", refusal.message, refusal.hint));
    }
}

#[test]
fn rows_that_cannot_be_read_are_named() {
    let text = format!("{HEAD}{}GemmTunableOp_Half_TN,tn_8_x_8,A,1\n", row(1, "A", "1"));
    let files = [read("a.csv", text.as_bytes()).unwrap()];
    let result = merge(&files, &Options::default()).unwrap();
    assert_eq!(String::from_utf8(result.bytes).unwrap(), format!("{HEAD}{}", row(1, "A", "1")));
    testkit::golden("a row that cannot be read", &result.report.tables[0].notes.join("\n"));
}

fn shared(names: &[&str], options: &Options) -> Option<(String, Answer<Tuned>)> {
    let folder = testkit::shared("tuning")?;
    let bytes: Vec<Vec<u8>> =
        names.iter().map(|name| std::fs::read(folder.join(name)).expect(name)).collect();
    let files: Vec<_> =
        names.iter().zip(&bytes).map(|(name, bytes)| read(name, bytes).expect(name)).collect();
    let result = merge(&files, options).expect("a merge");
    Some((String::from_utf8(result.bytes).expect("text"), result.report))
}

#[test]
fn ranks_merge_alike_in_any_order() {
    let names =
        ["tunableop/made-ranks/tunableop_results0.csv", "tunableop/made-ranks/tunableop_results1.csv"];
    let Some((result, _)) = shared(&names, &Options::default()) else { return };
    let (turned, _) = shared(&[names[1], names[0]], &Options::default()).unwrap();
    assert_eq!(result, turned);
    let rows: Vec<&str> = result.lines().filter(|it| it.starts_with("Gemm")).collect();
    assert_eq!(rows.len(), 9);
    for part in [
        "_7184_1280_ld_1280_1280_51866,Gemm_Rocblas_477111,0.9",
        "_16_1280_ld_1280_1280_51866,Gemm_Rocblas_477365,0.0287017",
    ] {
        assert!(rows.iter().any(|row| row.ends_with(part)), "{part}");
    }
}

#[test]
fn duplicates_keep_the_fastest() {
    let Some((result, _)) = shared(&["tunableop/made-duplicates.csv"], &Options::default()) else { return };
    let rows: Vec<&str> = result.lines().filter(|it| it.starts_with("Gemm")).collect();
    assert_eq!(rows.len(), 7);
    assert!(
        rows.iter()
            .any(|row| row.ends_with("tn_51866_39232_1280_ld_1280_1280_51866,Gemm_Hipblaslt_477400,4.12"))
    );
    assert!(
        rows.iter()
            .any(|row| row.ends_with("tn_51866_1172_1280_ld_1280_1280_51866,Gemm_Rocblas_477326,0.185983"))
    );
}

#[test]
fn ranks_of_miopen_keep_the_smaller_times() {
    let names = ["miopen/made-rank0.ufdb.txt", "miopen/made-rank1.ufdb.txt"];
    let Some((result, _)) = shared(&names, &Options::default()) else { return };
    assert_eq!(result.lines().count(), 10);
    let merged = read("m.ufdb.txt", result.as_bytes()).unwrap();
    assert!(merged.flaws.is_empty(), "{:?}", merged.flaws);
    let (turned, _) = shared(&[names[1], names[0]], &Options::default()).unwrap();
    assert_eq!(result, turned);
}

#[test]
fn databases_of_miopen_merge_as_their_text_does() {
    let Some(folder) = testkit::shared("tuning/miopen") else { return };
    let database = std::fs::read(folder.join("gfx942130.sample.db")).unwrap();
    let whole = read("gfx942130.db", &database).unwrap();
    // Halves of the database, one with other parameters for the solvers of its first problem.
    let half = |keep: i64, change: bool| {
        let db = rocprof::database::open_copy(&database, 1_000_000).unwrap();
        db.execute("DELETE FROM perf_db WHERE config % 3 = ?1", [keep]).unwrap();
        db.execute("DELETE FROM config WHERE id NOT IN (SELECT config FROM perf_db)", []).unwrap();
        if change {
            let query = "UPDATE perf_db SET params = 'x' WHERE config = (SELECT min(config) FROM perf_db WHERE config % 3 = 2)";
            db.execute(query, []).unwrap();
        }
        db.serialize("main").unwrap().to_vec()
    };
    let (a, b) = (half(0, false), half(1, true));
    let files = [read("gfx942130.db", &a).unwrap(), read("gfx942130.db", &b).unwrap()];
    assert!(files.iter().all(|it| it.rows.len() < whole.rows.len()));
    let rows = |file: &Tunings<'_>| {
        let mut rows: Vec<_> = file
            .rows
            .iter()
            .map(|it| (it.key.to_string(), it.candidate.as_deref().unwrap_or("").to_owned()))
            .collect();
        rows.in_order();
        rows
    };
    let result = merge(&files, &Options::default()).unwrap();
    assert!(rows(&read("gfx942130.db", &result.bytes).unwrap()) == rows(&whole));
    let conflicts = result.report.tables[0].rows.len();
    assert!(conflicts > 0 && result.report.tables[0].notes[0].starts_with(&format!("{conflicts} solvers")));
    let forced = merge(&files, &Options { force: true, ..Options::default() }).unwrap();
    let forced = read("gfx942130.db", &forced.bytes).unwrap();
    assert_eq!(
        forced.rows.iter().filter(|it| it.candidate.as_deref().is_ok_and(|it| it.ends_with(": x"))).count(),
        conflicts
    );
    assert_eq!(forced.rows.len(), whole.rows.len());
    // A broken page is found before anything is lost.
    let mut broken = b.clone();
    let page = broken.len() / 1024 / 2 * 1024;
    broken[page..page + 256].fill(0xff);
    let broken = [files[0].clone(), Tunings { bytes: &broken, ..files[1].clone() }];
    assert!(merge(&broken, &Options::default()).unwrap_err().message.contains("damaged"));
}

/// Sizes of the merged logic file with tile and mapping of their kernels, as the notes name them.
fn logic_rows(text: &str) -> Vec<(String, String, String)> {
    let file = read("merged.yaml", text.as_bytes()).unwrap();
    assert!(file.flaws.is_empty(), "{:?}", file.flaws);
    let tunedb::Detail::Logic(logic) = &file.detail else { panic!("no logic") };
    let rows = logic.sizes.iter().map(|size| {
        let solution = &logic.solutions[size.solution];
        let tile = ["MacroTile0", "MacroTile1"].map(|key| solution.value(key).unwrap_or("?"));
        let mapping = solution.value("WorkGroupMapping").unwrap_or("?");
        let numbers: Vec<String> = size.numbers.iter().map(u64::to_string).collect();
        (numbers.join(","), format!("{}x{} WGM{mapping}", tile[0], tile[1]), size.written.clone())
    });
    rows.collect()
}

#[test]
fn logic_pair_of_the_notes() {
    let names = [
        "hipblaslt/made-merge-original/aldebaran_Cijk_Alik_Bljk_HHS_BH.yaml",
        "hipblaslt/made-merge-incremental/aldebaran_Cijk_Alik_Bljk_HHS_BH.yaml",
    ];
    let common = [
        ("77,4096,16,40,77,77,40,40", "96x128 WGM1", "14542.6"),
        ("77,256,16,160,77,77,160,160", "32x64 WGM1", "13086.6"),
        ("77,4096,16,40,128,128,40,40", "96x128 WGM32", "15000.0"),
        ("2048,2048,16,80,2048,2048,80,80", "256x128 WGM8", "45000.0"),
        ("2048,2048,16,80,2112,2112,80,80", "256x128 WGM4", "46000.0"),
        ("512,512,1,512", "256x128 WGM8", "31000.0"),
        ("4096,4096,16,40,4096,4096,40,40", "128x192 WGM8", "41000.0"),
    ];
    let keep = [
        ("1024,1024,16,80,1024,1024,80,80", "256x128 WGM8", "47180.0"),
        ("77,1024,16,80,77,77,80,80", "96x128 WGM32", "14947.4"),
    ];
    // The vendor's default takes what is new also where it is slower.
    let forced = [
        ("1024,1024,16,80,1024,1024,80,80", "256x128 WGM4", "40000.0"),
        ("77,1024,16,80,77,77,80,80", "128x192 WGM8", "14947.4"),
    ];
    for (force, own, kernels) in [(false, keep, 6), (true, forced, 6)] {
        let options = Options { force, explain: true, ..Options::default() };
        let Some((text, report)) = shared(&names, &options) else { return };
        let mut found = logic_rows(&text);
        found.in_order();
        let mut expected: Vec<_> = common
            .iter()
            .chain(&own)
            .map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned()))
            .collect();
        expected.in_order();
        assert_eq!(found, expected, "force {force}");
        let fact =
            |name: &str| report.tables[0].facts.iter().find(|it| it.name == name).map(|it| it.value.clone());
        assert_eq!(fact("solutions"), Some(kernels.to_string()), "force {force}");
        assert_eq!(fact("sizes"), Some("9".to_owned()));
        let slower = report.tables[0]
            .rows
            .iter()
            .filter(|row| row.cells[0] == view::Cell::text("forced, SLOWER"))
            .count();
        assert_eq!(slower, usize::from(force));
    }
    // Cut to four numbers, sizes that differ in leading dimensions fall together, and that is said.
    let trim = Options { trim: true, ..Options::default() };
    let Some((text, report)) = shared(&names, &trim) else { return };
    assert_eq!(logic_rows(&text).len(), 7);
    assert_eq!(report.tables[0].notes.iter().filter(|it| it.starts_with("--trim: 2 sizes")).count(), 2);
}

#[test]
fn a_logic_file_merged_with_itself_is_the_same() {
    let name = "hipblaslt/made-merge-original/aldebaran_Cijk_Alik_Bljk_HHS_BH.yaml";
    let Some((text, _)) = shared(&[name, name], &Options::default()) else { return };
    let original = std::fs::read_to_string(testkit::shared("tuning").unwrap().join(name)).unwrap();
    assert!(text == original);
    // The two forms, and files without sizes.
    for name in [
        "hipblaslt/logic/excerpt-dict-form.gfx1250.Equality.yaml",
        "hipblaslt/logic/gfx942/FreeSize/aquavanjaram_Cijk_Alik_Bljk_BBS_BH_Bias_HAS_SAV_UserArgs.yaml",
        "hipblaslt/logic/gfx942/GridBased/aquavanjaram_Cijk_Alik_Bjlk_HHS_BH_Bias_HAH_SAV.yaml",
    ] {
        let (text, _) = shared(&[name], &Options::default()).unwrap();
        let original = std::fs::read_to_string(testkit::shared("tuning").unwrap().join(name)).unwrap();
        assert!(text == original, "{name}");
    }
}

/// A configuration of AITER for one kernel, from two people.
#[test]
fn configurations_by_rows_are_joined() {
    let file = |entries: &[(&str, u32)]| {
        let all: Vec<String> =
            entries.iter().map(|(key, size)| format!("\"{key}\": {{\"BLOCK_SIZE_M\": {size}}}")).collect();
        format!("{{{}}}", all.join(", "))
    };
    let name = "gfx942-GEMM-A16W16.json";
    let base = file(&[("M_LEQ_16", 16), ("M_LEQ_64", 64), ("any", 128)]);
    let plain = Options::default();
    let force = Options { force: true, ..plain };
    for (other, options, expected, notes) in [
        // An entry that the first lacks is added where it belongs, and what it takes over is said.
        (
            file(&[("M_LEQ_32", 32), ("any", 128)]),
            plain,
            file(&[("M_LEQ_16", 16), ("M_LEQ_32", 32), ("M_LEQ_64", 64), ("any", 128)]),
            vec!["M 17 to 32: takes `M_LEQ_32` in the place of `M_LEQ_64`; nothing says which is faster"],
        ),
        (
            file(&[("M_LEQ_256", 32), ("M_GEQ_4096", 512)]),
            plain,
            file(&[("M_LEQ_16", 16), ("M_LEQ_64", 64), ("M_LEQ_256", 32), ("M_GEQ_4096", 512), ("any", 128)]),
            vec![
                "M 65 to 256: takes `M_LEQ_256` in the place of `any`; nothing says which is faster",
                "M from 4096 on: takes `M_GEQ_4096` in the place of `any`; nothing says which is faster",
            ],
        ),
        // Of entries that differ the first file's stay, unless the last ones are asked for.
        (
            file(&[("M_LEQ_64", 32)]),
            plain,
            base.clone(),
            vec![
                "the files hold no times: of entries that differ the first file's stay; measure both, or use --force for the last file's",
            ],
        ),
        (file(&[("M_LEQ_64", 32)]), force, file(&[("M_LEQ_16", 16), ("M_LEQ_64", 32), ("any", 128)]), vec![]),
        (base.clone(), plain, base.clone(), vec![]),
    ] {
        let files = [read(name, base.as_bytes()).unwrap(), read(name, other.as_bytes()).unwrap()];
        let result = merge(&files, &options).unwrap();
        assert_eq!(String::from_utf8(result.bytes).unwrap(), expected, "{other}");
        assert_eq!(result.report.tables[0].notes, notes, "{other}");
    }
    // Settings in another order are the same settings.
    let texts = ["{\"any\": {\"BLOCK_M\": 1, \"kpack\": 2}}", "{\"any\": {\"kpack\": 2, \"BLOCK_M\": 1}}"];
    let files = texts.map(|text| read(name, text.as_bytes()).unwrap());
    let result = merge(&files, &plain).unwrap();
    assert!(result.report.tables[0].facts.contains(&view::NamedValue::new("equal", "1")), "{result:?}");
    // Every file of the shared data merges with itself, byte for byte.
    let Some(folder) = testkit::shared("tuning/aiter/triton-configs") else { return };
    for (name, bytes) in testkit::files(&folder) {
        let files = [read(&name, &bytes).unwrap(), read(&name, &bytes).unwrap()];
        assert!(merge(&files, &plain).unwrap().bytes == bytes, "{name}");
    }
}

proptest! {
    /// The command does not read a result back that says it is made of lines that were read.
    #[test]
    fn lines_that_were_read_are_read_again(
        lines in prop::collection::vec("(Gemm(AndBias)?TunableOp_Half_(TN|NN|XX),(tn|nn|)_8_[0-9]_1(_ld_8_8_8)?,K[0-2],(|nan|0|[0-9]\\.5)|,|Validator,A)\r?", 0..12),
        cut in 0..12_usize,
    ) {
        let text = |lines: &[String]| format!("{HEAD}{}", lines.join("\n"));
        let (a, b) = lines.split_at(cut.min(lines.len()));
        let texts = [text(a), text(b)];
        let files: Vec<_> = texts.iter().map(|text| read("a.csv", text.as_bytes()).unwrap()).collect();
        let Ok(merged) = merge(&files, &Options::default()) else { return Ok(()) };
        prop_assert!(merged.verbatim);
        let keys = |files: &[Tunings<'_>]| -> std::collections::BTreeSet<String> {
            let rows = files.iter().flat_map(|file| file.rows.iter().filter(|row| file.spoiled(row.line).is_none()));
            rows.map(|row| row.key.to_string()).collect()
        };
        let back = read("a.csv", &merged.bytes).unwrap();
        prop_assert_eq!(back.rows.len(), keys(&files).len());
        prop_assert_eq!(keys(&[back]), keys(&files));
    }
}

/// Records of FindDb 1.0 name the algorithm before the colon; MIOpen throws on any other word in its place.
#[test]
fn records_of_the_first_find_db_keep_their_algorithm() {
    let key = "16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-F";
    let old = format!(
        "{key}=miopenConvolutionFwdAlgoGEMM:GemmFwdRest,49.48,7225344,MIOpenGEMM,5x5;miopenConvolutionFwdAlgoDirect:ConvAsm1x1U,0.5,0,ConvAsm1x1U,<unused>\n"
    );
    let new = format!("{key}=GemmFwdRest:0.9,7225344,miopenConvolutionFwdAlgoGEMM\n");
    let own = format!(
        "{key}=ConvAsm1x1U:0.5,0,miopenConvolutionFwdAlgoDirect;GemmFwdRest:49.48,7225344,miopenConvolutionFwdAlgoGEMM\n"
    );
    let files = |texts: &[&String]| {
        let named: Vec<(&str, String)> =
            texts.iter().map(|it| ("gfx942130.HIP.fdb.txt", (*it).clone())).collect();
        merged(&named, &Options::default())
    };
    assert_eq!(files(&[&old]), own);
    assert_eq!(files(&[&old, &new]), own.replace("49.48", "0.9"));
}

/// A record of FindDb 1.0 is a flaw each; work per record has to be constant.
#[test]
fn many_records_of_the_first_find_db_take_linear_time() {
    let mut text = String::new();
    for size in 0..100_000 {
        text.push_str(&format!(
            "16-13-{size}-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-F=miopenConvolutionFwdAlgoGEMM:GemmFwdRest,49.48,7225344,MIOpenGEMM,5x5\n"
        ));
    }
    let start = std::time::Instant::now();
    let file = read("gfx942130.HIP.fdb.txt", text.as_bytes()).unwrap();
    assert_eq!(file.rows.len(), 100_000);
    let merged = merge(&[file], &Options::default()).unwrap();
    assert_eq!(merged.bytes.iter().filter(|it| **it == b'\n').count(), 100_000);
    // Squared it is minutes.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn logic_with_anchors_is_not_merged() {
    let text = "- {MinimumRequiredVersion: 4.2.0}\n- vega10\n- gfx900\n- [Device 687f]\n- DataType: 0\n- - ThreadTile: &id001 [8, 2]\n  - ThreadTile: *id001\n- [2, 3, 0, 1]\n- - - [8, 8, 1, 8]\n    - [1, 2.5]\n- null\n";
    let file = read("logic.yaml", text.as_bytes()).unwrap();
    let refused = merge(&[file.clone(), file], &Options::default()).unwrap_err();
    testkit::golden("refused: anchors", &refused.message);
}

//! Parameters in the names of kernels (instances of Composable Kernel, solutions of TensileLite), and recorded spaces made
//! from the output of a benchmark, one for each problem.

use crate::format::Format;
use crate::model::{Detail, Kind, Row, Said, Shape, Tunings};
use crate::space::{Parameter, Space, Status, Trial};
use std::borrow::Cow;
use std::collections::HashMap;

/// Arguments of kernel templates by place.
const ARGUMENTS: &str = include_str!("../data/ck-arguments.tsv");
/// The operation of an instance as a parameter.
const OPERATION: &str = "Operation";
/// The value of a parameter that a name does not have.
const ABSENT: &str = "-";

/// The parameters of an instance of CK as ckProfiler lists it; empty for other names.
///
/// `DeviceGemmXdl<256, 128, …> PipelineVersion: v1` gives its arguments by place, and
/// `DeviceGemmXdlUniversal<Default, RCR> BlkSize: 256, BlkTile: 224x256x64, …` by name.
pub fn ck(name: &str) -> Vec<(String, String)> {
    let name = name.trim();
    let Some((operation, rest)) = name.split_once('<') else { return joined(name) };
    if !operation.contains("Device") && !operation.contains("Gemm") {
        return Vec::new();
    }
    let (inner, after) = rest.split_once('>').unwrap_or((rest, ""));
    let mut all = vec![(OPERATION.to_owned(), operation.trim().to_owned())];
    let split =
        |text: &str| text.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned).collect();
    let arguments: Vec<String> = split(inner);
    let (named, plain): (Vec<String>, Vec<String>) = arguments.into_iter().partition(|it| it.contains(": "));
    by_place(operation.trim(), &plain, &mut all);
    let after: Vec<String> = split(after);
    for part in named.iter().chain(&after) {
        let Some((key, value)) = part.split_once(':').or_else(|| part.split_once(' ')) else { continue };
        by_name(key.trim(), value.trim(), &mut all);
    }
    all
}

/// `GemmXdlSplitKCShuffle_MNKPadding_RRR_B256_Vec8x2x8_256x128x4x8 LoopScheduler: Default, KBatch 2`.
fn joined(name: &str) -> Vec<(String, String)> {
    let (tokens, after) = name.split_once(' ').unwrap_or((name, ""));
    let tokens: Vec<&str> = tokens.trim_end_matches(',').split('_').collect();
    let at = tokens.iter().position(|it| it.strip_prefix('B').is_some_and(is_number));
    let (Some(at), Some(tile)) = (at, tokens.last()) else { return Vec::new() };
    let sizes: Vec<&str> = tile.split('x').collect();
    let [m, n, k0, k1] = sizes[..] else { return Vec::new() };
    let vectors = tokens[at..].iter().find_map(|it| it.strip_prefix("Vec")).unwrap_or_default();
    let mut all = vec![(OPERATION.to_owned(), tokens[0].to_owned())];
    let words: Vec<String> = tokens[1..at].iter().map(|it| (*it).to_owned()).collect();
    by_place(tokens[0], &words, &mut all);
    let names = [
        "ABlockTransferSrcScalarPerVector",
        "BBlockTransferSrcScalarPerVector",
        "CBlockTransferScalarPerVector",
    ];
    let vectors = names.into_iter().zip(vectors.split('x'));
    let tiles =
        [("BlockSize", &tokens[at][1..]), ("MPerBlock", m), ("NPerBlock", n), ("K0PerBlock", k0), ("K1", k1)];
    all.extend(tiles.into_iter().chain(vectors).map(|(name, value)| (name.to_owned(), value.to_owned())));
    for part in after.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        if let Some((key, value)) = part.split_once(':').or_else(|| part.split_once(' ')) {
            by_name(key.trim(), value.trim(), &mut all);
        }
    }
    all
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}

/// Arguments without names. Words come before the numbers: specialisation and layouts.
fn by_place(operation: &str, arguments: &[String], all: &mut Vec<(String, String)>) {
    let is_word = |it: &&String| it.parse::<i64>().is_err();
    let words: Vec<&String> = arguments.iter().filter(is_word).collect();
    let numbers: Vec<&String> = arguments.iter().filter(|it| it.parse::<i64>().is_ok()).collect();
    for (at, word) in words.iter().enumerate() {
        let layouts = word.len() >= 3 && word.bytes().all(|it| matches!(it, b'R' | b'C'));
        let name = match (layouts, at) {
            (true, _) => "Layouts".to_owned(),
            (false, 0) => "Specialization".to_owned(),
            (false, at) => format!("Word{}", at + 1),
        };
        all.push((name, (*word).clone()));
    }
    let known = ARGUMENTS.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (name, rest) = line.split_once('\t')?;
        let names: Vec<&str> = rest.split('\t').collect();
        (name == operation && names.len() >= numbers.len()).then_some(names)
    });
    for (at, number) in numbers.iter().enumerate() {
        // Every one of these templates begins with the block and its tile.
        let usual = ["BlockSize", "MPerBlock", "NPerBlock", "KPerBlock"];
        let name = match &known {
            Some(names) => names[at].to_owned(),
            None => usual.get(at).map_or_else(|| format!("Argument{}", at + 1), |it| (*it).to_owned()),
        };
        all.push((name, (*number).clone()));
    }
}

/// A named part; tiles are several parameters.
fn by_name(key: &str, value: &str, all: &mut Vec<(String, String)>) {
    const TILES: [(&str, &[&str]); 4] = [
        ("BlkTile", &["MPerBlock", "NPerBlock", "KPerBlock"]),
        ("WaveTile", &["MPerXDL", "NPerXDL"]),
        ("WaveMap", &["MXdlPerWave", "NXdlPerWave"]),
        ("VmemReadVec", &["ABlockTransferSrcScalarPerVector", "BBlockTransferSrcScalarPerVector"]),
    ];
    let parts: Vec<&str> = value.split('x').collect();
    match TILES.iter().find(|it| it.0 == key && it.1.len() == parts.len()) {
        Some((_, names)) => {
            all.extend(names.iter().zip(parts).map(|(name, it)| ((*name).to_owned(), it.to_owned())))
        }
        None => {
            let key = match key {
                "BlkSize" => "BlockSize",
                "BlkGemmPipelineVersion" => "PipelineVersion",
                "BlkGemmPipelineScheduler" => "LoopScheduler",
                other => other,
            };
            all.push((key.to_owned(), value.to_owned()));
        }
    }
}

/// The parameters of a solution of TensileLite: `Cijk_Ailk_Bljk_HHS_BH_MT128x64x32_MI16x16x1_SN_GSU2_WGM8`. Tokens
/// before the tile are the problem type; a token of digits continues the value before it.
pub fn tensile(name: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    let mut begun = false;
    for token in name.split('_') {
        begun |= token.starts_with("MT") && token.as_bytes().get(2).is_some_and(u8::is_ascii_digit);
        if !begun || token.is_empty() {
            continue;
        }
        let letters = token.bytes().take_while(u8::is_ascii_alphabetic).count();
        match (all.last_mut(), letters) {
            (Some(last), 0) => last.1 = format!("{}_{token}", last.1),
            (None, 0) => {}
            _ => {
                let value = if letters == token.len() { "1" } else { &token[letters..] };
                all.push((token[..letters].to_owned(), value.to_owned()));
            }
        }
    }
    all
}

/// Whether rows of a file are kernels whose names hold parameters.
pub fn has_instances(format: Format) -> bool {
    matches!(format, Format::CkProfiler | Format::TensileData | Format::TensileLog)
}

/// The recorded spaces of a benchmark's output: for each problem the kernels that ran, in the order of the file. A kernel
/// that ran several times is one trial with several runs. Names without parameters are values of `Kernel`.
pub fn recorded<'a>(file: &Tunings<'a>) -> Vec<Tunings<'a>> {
    let mut problems: Vec<(String, Vec<&Row<'a>>)> = Vec::new();
    let mut at: HashMap<String, usize> = HashMap::new();
    for row in &file.rows {
        if row.candidate.is_err() {
            continue;
        }
        let types = row.types.as_deref().unwrap_or_default();
        let layout = row.layout.as_deref().unwrap_or_default();
        let shape = row.shape.as_ref().map_or_else(|why| (*why).to_owned(), ToString::to_string);
        let key =
            [&shape, types, layout].iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(" ");
        let place = *at.entry(key.clone()).or_insert_with(|| {
            problems.push((key, Vec::new()));
            problems.len() - 1
        });
        problems[place].1.push(row);
    }
    problems.into_iter().map(|(problem, rows)| one(file, problem, &rows)).collect()
}

/// A kernel of a problem, with the times of its runs in microseconds.
struct Kernel<'f, 'a> {
    name: &'f str,
    parameters: Vec<(String, String)>,
    times: Vec<f64>,
    row: &'f Row<'a>,
}

/// The space of one problem.
fn one<'a>(file: &Tunings<'a>, problem: String, rows: &[&Row<'a>]) -> Tunings<'a> {
    let parse = if file.format == Format::CkProfiler { ck } else { tensile };
    let mut kernels: Vec<Kernel<'_, 'a>> = Vec::new();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for row in rows {
        let name = row.candidate.as_deref().unwrap_or_default();
        let place = *at.entry(name).or_insert_with(|| {
            kernels.push(Kernel { name, parameters: parse(name), times: Vec::new(), row });
            kernels.len() - 1
        });
        kernels[place].times.extend(row.time_us.ok());
    }
    let mut names: Vec<String> = Vec::new();
    for (name, _) in kernels.iter().flat_map(|it| &it.parameters) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let value = |it: &[(String, String)], name: &str| {
        it.iter().find(|it| it.0 == name).map_or_else(|| ABSENT.to_owned(), |it| it.1.clone())
    };
    // Names of two kernels may differ in more than their parameters.
    let mut seen = std::collections::HashSet::new();
    let all_differ = kernels
        .iter()
        .all(|it| seen.insert(names.iter().map(|name| value(&it.parameters, name)).collect::<Vec<_>>()));
    let mut space = Space {
        kernel: file.base_name().to_owned(),
        problem,
        parameters: names.iter().map(|name| Parameter { name: name.clone(), values: Vec::new() }).collect(),
        ..Space::default()
    };
    let by_name = names.is_empty() || !all_differ;
    if by_name {
        space.parameters.push(Parameter { name: "Kernel".to_owned(), values: Vec::new() });
    }
    let mut out = Tunings::new(&file.name, file.format, file.bytes);
    for Kernel { name, parameters, times, row } in &kernels {
        let mut values: Vec<u32> =
            names.iter().enumerate().map(|(at, it)| space.place(at, &value(parameters, it))).collect();
        if by_name {
            values.push(space.place(names.len(), name));
        }
        let status = if times.is_empty() { Status::Failed } else { Status::Correct };
        let least = times.iter().copied().min_by(f64::total_cmp);
        let mut made = Row::new(row.line, row.span.clone(), Kind::Kernel, Cow::Owned(space.kernel.clone()));
        made.shape = Ok(Shape::Text(Cow::Owned(space.problem.clone())));
        made.candidate = Ok(Cow::Owned((*name).to_owned()));
        made.time_us = least.map_or(row.time_us, Said::Ok);
        out.rows.push(made);
        let runs_ms = times.iter().map(|it| (*it / 1e3) as f32).collect();
        space.trials.push(Trial { values, runs_ms, compile_ms: None, status });
    }
    out.detail = Detail::Space(Box::new(space));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find<'p>(all: &'p [(String, String)], name: &str) -> &'p str {
        all.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str())
    }

    #[test]
    fn instances_of_both_spellings() {
        let universal = "DeviceGemmXdlUniversal<MNPadding, RRR> BlkSize: 256, BlkTile: 224x256x64, WaveTile: 16x16, WaveMap: 7x8, VmemReadVec: 8x4, BlkGemmPipelineScheduler: Intrawave, BlkGemmPipelineVersion: v3, BlkGemmPipelinePrefetchStages: 2, KBatch 4";
        let old = "DeviceGemm_Xdl_CShuffle<Default, 256, 224, 256, 64, 8, 8, 16, 16, 7, 8, 8, 4, 1, 2> LoopScheduler: Intrawave, PipelineVersion: v3";
        for name in [universal, old] {
            let all = ck(name);
            for (key, value) in [
                ("BlockSize", "256"),
                ("MPerBlock", "224"),
                ("NPerBlock", "256"),
                ("KPerBlock", "64"),
                ("MPerXDL", "16"),
                ("NXdlPerWave", "8"),
                ("ABlockTransferSrcScalarPerVector", "8"),
                ("BBlockTransferSrcScalarPerVector", "4"),
                ("LoopScheduler", "Intrawave"),
                ("PipelineVersion", "v3"),
            ] {
                assert_eq!(find(&all, key), value, "{key} of {name}");
            }
        }
        assert_eq!((find(&ck(universal), "Layouts"), find(&ck(universal), "KBatch")), ("RRR", "4"));
        let unknown = ck("DeviceNew_Xdl<128, 64, 32, 16, 5>");
        assert_eq!((find(&unknown, "KPerBlock"), find(&unknown, "Argument5")), ("16", "5"));
        let inside = ck(
            "DeviceConv_Xdl<256, 128, Default, BlkGemmPipelineScheduler: Intrawave, BlkGemmPipelineVersion: v4>",
        );
        assert_eq!((find(&inside, "PipelineVersion"), find(&inside, "Specialization")), ("v4", "Default"));
        let joined = ck(
            "GemmXdlSplitKCShuffle_MNKPadding_RRR_B256_Vec8x4x4_16x256x8x8 LoopScheduler: Default, PipelineVersion: v2, KBatch 2",
        );
        for (key, value) in [
            ("Operation", "GemmXdlSplitKCShuffle"),
            ("Specialization", "MNKPadding"),
            ("Layouts", "RRR"),
            ("BlockSize", "256"),
            ("NPerBlock", "256"),
            ("K0PerBlock", "8"),
            ("BBlockTransferSrcScalarPerVector", "4"),
            ("PipelineVersion", "v2"),
            ("KBatch", "2"),
        ] {
            assert_eq!(find(&joined, key), value, "{key}");
        }
        for none in ["", "kernel", "vector<int>", "<1>", "a_B256", "B256_1x2x3x4x5"] {
            assert_eq!(ck(none), [], "{none}");
        }
    }

    #[test]
    fn solutions_by_their_tokens() {
        let all =
            tensile("Cijk_Alik_Bljk_BBS_BH_Bias_UserArgs_MT256x224x64_MI16x16x1_SN_K1_MIWT4_14_DTVA_GSU2");
        for (key, value) in [
            ("MT", "256x224x64"),
            ("MI", "16x16x1"),
            ("SN", "1"),
            ("MIWT", "4_14"),
            ("DTVA", "1"),
            ("GSU", "2"),
        ] {
            assert_eq!(find(&all, key), value, "{key}");
        }
        assert_eq!(find(&all, "BH"), "");
        for none in ["", "Kernel0", "a_MT", "_"] {
            assert_eq!(tensile(none), [], "{none}");
        }
    }

    #[test]
    fn a_table_is_a_space_for_each_problem() {
        let text = "GFlops, SizeI, SizeJ, SizeK, SizeL, TotalFlops, C_MT128x128x8_WGM1, C_MT128x128x8_WGM2, C_MT64x128x8_WGM1\n0, 1024, 1024, 1, 1024, 2147483648, 9100.5, 9088.0, -1\n1, 512, 512, 1, 512, 268435456, 50, 60, 70\n2, 1024, 1024, 1, 1024, 2147483648, 9000, 9240.0, -1\n";
        let file = crate::read("00_Final.csv", text.as_bytes()).unwrap();
        let spaces = recorded(&file);
        assert_eq!(spaces.len(), 2);
        let Detail::Space(first) = &spaces[0].detail else { panic!("a space") };
        assert_eq!(first.problem, "1024x1024x1024");
        let names: Vec<&str> = first.parameters.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["MT", "WGM"]);
        assert_eq!((first.trials.len(), first.trials[1].runs_ms.len()), (2, 2));
        let Detail::Space(second) = &spaces[1].detail else { panic!("a space") };
        assert_eq!((second.trials.len(), second.parameters[0].values.len()), (3, 2));

        let log = "run,problem-progress,solution-progress,operation,problem-sizes,solution,validation,time-us,gflops\n0,0/0,0/1,Contraction,\"(512,128,1,256)\",Kernel0,PASSED,10.0,1000.0\n0,0/0,1/1,Contraction,\"(512,128,1,256)\",Kernel1,FAILED,11.0,900.0\n";
        let file = crate::read("client.log", log.as_bytes()).unwrap();
        let spaces = recorded(&file);
        let Detail::Space(only) = &spaces[0].detail else { panic!("a space") };
        assert_eq!((only.parameters[0].name.as_str(), only.trials[1].status), ("Kernel", Status::Failed));
    }
}

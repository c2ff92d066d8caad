//! Conversion of tuning files where the meaning is kept, with a list of losses.
//!
//! A value that the new format cannot hold is listed as lost, and a row whose meaning would change is left
//! out with the reason.

use super::merge::Refusal;
use super::{Selection, answer};
use arch::ElementType;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tunedb::{Detail, Format, GemmShape, Row, Shape, Tunings, tunableop};
use view::{Answer, NoteKind, Tuned};

/// Target format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// TunableOp's results with plain line ends, without mark and blank lines.
    TunableOp,
    /// TunableOp's untuned GEMMs.
    TunableOpUntuned,
    /// A configuration of find_exact.
    FindExact,
    /// AITER's table under the header of another one.
    Aiter,
    /// vLLM's name and content.
    Vllm,
    /// SGLang's name and content.
    Sglang,
    /// Configurations for `@triton.autotune`.
    TritonConfigs,
}

/// A converted file.
#[derive(Clone, Debug)]
pub struct Converted {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its name, where the name is a part of the key.
    pub name: Option<String>,
    /// Losses of the conversion, and the number of rows.
    pub report: Answer<Tuned>,
}

/// Chooses rows of these types and of this transposition.
pub fn chosen<'a>(types: Option<&str>, layout: Option<&'a str>) -> impl Fn(&Row<'_>) -> bool + 'a {
    let selection = Selection { types: types.map(str::to_owned), ..Selection::default() };
    move |row| {
        selection.takes(row)
            && layout
                .is_none_or(|wanted| row.layout.as_ref().is_ok_and(|own| own.eq_ignore_ascii_case(wanted)))
    }
}

/// Converts a file. `schema` is the table whose header AITER's rows get; `layout` and `types` choose among
/// problem types.
///
/// # Errors
/// Formats between which the meaning is not kept.
pub fn convert(
    file: &Tunings<'_>,
    to: To,
    schema: Option<&Tunings<'_>>,
    takes: &dyn Fn(&Row<'_>) -> bool,
) -> Result<Converted, Refusal> {
    let mut lost = Lost::default();
    let rows: Vec<&Row<'_>> = file
        .rows
        .iter()
        .filter(|row| takes(row))
        .filter(|row| match file.spoiled(row.line) {
            Some(flaw) => {
                lost.row(row, &flaw.text);
                false
            }
            None => true,
        })
        .collect();
    let is_gemm_list = !matches!(
        file.format,
        Format::AiterJson
            | Format::MoeJson
            | Format::BlockGemmJson
            | Format::AiterTuned
            | Format::AiterUntuned
    );
    let (bytes, name) = match to {
        To::TunableOp if file.format == Format::TunableOp => (plain(file, &rows), None),
        To::TunableOpUntuned if is_gemm_list => (untuned(file, &rows, &mut lost), None),
        To::FindExact if is_gemm_list => (find_exact(file, &rows, &mut lost)?, None),
        To::Aiter if matches!(file.format, Format::AiterTuned | Format::AiterUntuned) => {
            let schema = schema.ok_or_else(|| {
                Refusal::new("the header of another table is needed", "name it with --schema FILE")
            })?;
            (aiter(file, &rows, schema, &mut lost)?, None)
        }
        To::Vllm | To::Sglang if matches!(file.format, Format::MoeJson | Format::BlockGemmJson) => {
            moe(file, to, &mut lost)?
        }
        To::TritonConfigs
            if matches!(file.format, Format::Autotune | Format::AutotuneLog | Format::TritonParse) =>
        {
            (configurations(file, &rows, &mut lost), None)
        }
        _ => {
            return Err(Refusal::new(
                format!("`{}` ({}) has no meaning in that format", file.name, file.format.name()),
                "hipBLASLt logs and TunableOp files become tunableop-untuned or find-exact, AITER tables aiter, fused-MoE \
                 files vllm or sglang, Triton's results triton-configs",
            ));
        }
    };
    let mut report = answer("convert", [file]);
    let lost = lost.notes();
    if lost.is_empty() {
        report.note(NoteKind::Info, "nothing is lost");
    }
    lost.into_iter().for_each(|text| report.note(NoteKind::Warning, text));
    Ok(Converted { bytes, name, report })
}

/// Data that the new file does not hold.
#[derive(Default)]
struct Lost {
    columns: BTreeSet<String>,
    remarks: BTreeSet<String>,
    rows: BTreeMap<String, Vec<u32>>,
}

impl Lost {
    fn value(&mut self, what: impl Into<String>) {
        self.columns.insert(what.into());
    }

    fn remark(&mut self, what: String) {
        self.remarks.insert(what);
    }

    fn row(&mut self, row: &Row<'_>, why: &str) {
        self.rows.entry(why.to_owned()).or_default().push(row.line);
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.columns.iter().map(|it| format!("lost: {it}")).collect();
        notes.extend(self.remarks.iter().cloned());
        for (why, lines) in &self.rows {
            let shown: Vec<String> = lines.iter().take(8).map(u32::to_string).collect();
            let more = if lines.len() > shown.len() {
                format!(" and {} more", lines.len() - shown.len())
            } else {
                String::new()
            };
            notes.push(format!("left out, line {}{more}: {why}", shown.join(", ")));
        }
        notes
    }
}

/// Results with plain line ends.
fn plain(file: &Tunings<'_>, rows: &[&Row<'_>]) -> Vec<u8> {
    let mut out = String::new();
    for version in &file.versions {
        // A byte-order mark before the first name is not part of it.
        let _ = writeln!(out, "Validator,{},{}", version.key, version.value.trim_end());
    }
    let mut bytes = out.into_bytes();
    for row in rows {
        bytes.extend_from_slice(file.text(row));
        bytes.push(b'\n');
    }
    bytes
}

/// Name of a type in PyTorch's operations.
fn torch_type(types: &str) -> Option<&'static str> {
    Some(match types.split('/').next()? {
        "f16_r" => "Half",
        "bf16_r" => "BFloat16",
        "f32_r" => "float",
        "xf32_r" => "tf32",
        "f64_r" => "double",
        _ => return None,
    })
}

fn untuned(file: &Tunings<'_>, rows: &[&Row<'_>], lost: &mut Lost) -> Vec<u8> {
    let mut out = String::new();
    let mut seen = BTreeSet::new();
    let native = matches!(file.format, Format::TunableOp | Format::TunableOpUntuned | Format::TunableOpLog);
    for row in rows {
        let line = if native { Ok(row.key.to_string()) } else { untuned_line(row) };
        match line {
            Ok(line) => {
                if seen.insert(line.clone()) {
                    out.push_str(&line);
                    out.push('\n');
                }
            }
            Err(why) => lost.row(row, why),
        }
        if let Some(why) = tunableop::offline_skips(row) {
            lost.remark(format!("offline tuning leaves some out: {why}"));
        }
    }
    if file.format == Format::TunableOp {
        lost.value("versions, solutions and times");
    } else if !native {
        lost.value(
            "strides of batches, epilogue, alpha and beta, solution: TunableOp keys hold none of them",
        );
    }
    if rows.iter().any(|it| it.calls > 1) {
        lost.value("numbers of calls");
    }
    out.into_bytes()
}

/// A hipBLASLt problem as a line of TunableOp, which calls the same function with the same column-major
/// sizes.
fn untuned_line(row: &Row<'_>) -> Result<String, &'static str> {
    let shape = row.shape.as_ref().map_err(|why| *why)?.gemm().ok_or("no matrix product")?;
    let types = torch_type(row.types.as_deref().map_err(|why| *why)?)
        .ok_or("types of scaled products: the log does not say how TunableOp names their scales")?;
    let layout = row.layout.as_deref().map_err(|why| *why)?;
    let lower = layout.to_ascii_lowercase();
    let GemmShape { m, n, k, batch, leading } = *shape;
    let [a, b, c, _] = leading.ok_or("no leading dimensions")?;
    let text = row.key.as_ref();
    let bias = text.contains("--bias_vector");
    let (operation, middle) = match (batch, bias) {
        (1, true) => ("GemmAndBiasTunableOp", String::new()),
        (1, false) => ("GemmTunableOp", String::new()),
        (_, false) => ("GemmStridedBatchedTunableOp", format!("_B_{batch}")),
        (_, true) => return Err("a batched product with bias: TunableOp has none"),
    };
    Ok(format!("{operation}_{types}_{layout},{lower}_{m}_{n}_{k}{middle}_ld_{a}_{b}_{c}"))
}

/// Letter of a type in find_exact's configurations.
fn tensile_type(types: &str) -> Option<&'static str> {
    Some(match tunedb::element(types)? {
        ElementType::F16 => "h",
        ElementType::Bf16 => "b",
        ElementType::F32 | ElementType::Xf32 => "s",
        ElementType::F64 => "d",
        ElementType::I8 => "i8",
        ElementType::F8 => "f8",
        _ => return None,
    })
}

fn find_exact(file: &Tunings<'_>, rows: &[&Row<'_>], lost: &mut Lost) -> Result<Vec<u8>, Refusal> {
    let mut groups: BTreeMap<(String, &'static str), BTreeSet<[u32; 4]>> = BTreeMap::new();
    for row in rows {
        let layout = row.layout.as_deref().ok().filter(|it| it.len() == 2);
        let types = row.types.as_deref().ok().and_then(tensile_type);
        let (Some(layout), Some(types), Some(shape)) =
            (layout, types, row.shape.as_ref().ok().and_then(Shape::gemm))
        else {
            lost.row(row, "transposition, types or sizes are not known");
            continue;
        };
        groups.entry((layout.to_owned(), types)).or_default().insert([
            shape.m,
            shape.n,
            shape.batch,
            shape.k,
        ]);
    }
    let names: Vec<String> = groups
        .iter()
        .map(|((layout, types), sizes)| format!("{layout} {types} ({} sizes)", sizes.len()))
        .collect();
    let mut all = groups.into_iter();
    let (Some(((layout, types), sizes)), None) = (all.next(), all.next()) else {
        return Err(Refusal::new(
            match names.len() {
                0 => format!(
                    "`{}` has no matrix products whose transposition, types and sizes are known",
                    file.name
                ),
                _ => format!(
                    "find_exact takes one problem type at a time and there are {}: {}",
                    names.len(),
                    names.join(", ")
                ),
            },
            "choose with --layout and --types",
        ));
    };
    let letter = |at: usize| u8::from(layout.as_bytes().get(at) == Some(&b'T'));
    let mut out = String::from("Bench:\n  ProblemType:\n");
    let (compute, xf32) =
        (if types == "d" { "d" } else { "s" }, rows.iter().any(|row| row.types.as_deref() == Ok("xf32_r")));
    for key in ["DataTypeA", "DataTypeB", "DataTypeC", "DataTypeD"] {
        let _ = writeln!(out, "    {key}: {types}");
    }
    let _ = write!(
        out,
        "    ComputeInputDataType: {types}\n    ComputeDataType: {compute}\n    TransposeA: {}\n    TransposeB: {}\n    UseBias: False\n",
        letter(0),
        letter(1)
    );
    out.push_str("  TestConfig:\n    ColdIter: 20\n    Iter: 100\n    AlgoMethod: \"all\"\n    RotatingBuffer: 512\n  TuningParameters:\n    SplitK: [0]\n  ProblemSizes:\n");
    for [m, n, batch, k] in sizes {
        let _ = writeln!(out, "  - [{m}, {n}, {batch}, {k}]");
    }
    out.push_str("CreateLogic: {}\n");
    lost.value("leading dimensions: find_exact measures dense matrices");
    lost.value("epilogue and bias: the configuration says UseBias: False");
    if xf32 {
        lost.value("xf32 arithmetic: ComputeInputDataType is s");
    }
    if types == "i8" || types == "f8" {
        lost.value("types of C and D: taken to be those of A; correct them in the configuration");
    }
    if rows.iter().any(|row| row.time_us.is_ok()) {
        lost.value("solutions and times");
    }
    Ok(out.into_bytes())
}

fn aiter(
    file: &Tunings<'_>,
    rows: &[&Row<'_>],
    schema: &Tunings<'_>,
    lost: &mut Lost,
) -> Result<Vec<u8>, Refusal> {
    let (Detail::Columns(own), Detail::Columns(wanted)) = (&file.detail, &schema.detail) else {
        return Err(Refusal::new("both files need to be AITER's tables", "name one with --schema"));
    };
    for (name, is_key) in wanted.names.iter().zip(&wanted.is_key) {
        if *is_key && own.at(name).is_none() && *name != "_tag" {
            return Err(Refusal::new(
                format!("`{}` lacks the key column `{name}` of `{}`", file.name, schema.name),
                "a value for it cannot be made up; add the column by hand where it is known",
            ));
        }
        if own.at(name).is_none() {
            lost.remark(format!("the column `{name}` is empty"));
        }
    }
    own.names
        .iter()
        .filter(|name| wanted.at(name).is_none())
        .for_each(|name| lost.value(format!("the column `{name}`")));
    let mut out = format!("{}\n", wanted.header);
    for row in rows {
        let text = std::str::from_utf8(file.text(row)).unwrap_or_default();
        let values: Vec<&str> = text.split(',').map(str::trim).collect();
        let cells = wanted
            .names
            .iter()
            .map(|name| own.at(name).and_then(|at| values.get(at)).copied().unwrap_or_default());
        out.push_str(&cells.collect::<Vec<_>>().join(","));
        out.push('\n');
    }
    Ok(out.into_bytes())
}

fn moe(file: &Tunings<'_>, to: To, lost: &mut Lost) -> Result<(Vec<u8>, Option<String>), Refusal> {
    let Detail::Moe(name) = &file.detail else {
        return Err(Refusal::new(
            format!("the name of `{}` says no experts, size and device", file.name),
            "the name is half of the key",
        ));
    };
    let blank = to == To::Sglang;
    if !blank && name.down {
        return Err(Refusal::new("vLLM has no files for the second product (`_down`)", ""));
    }
    if let Some(folder) = &name.folder {
        lost.value(format!("the folder `{folder}`, which says the Triton version"));
    }
    let mut bytes = file.bytes.to_vec();
    if blank && let Some(version) = file.version("triton_version") {
        // SGLang takes every key for a number of tokens.
        lost.value(format!(
            "`triton_version` {version}: put the file below triton_{}",
            version.replace('.', "_")
        ));
        let text = String::from_utf8_lossy(&bytes);
        let kept = text.lines().filter(|line| !line.contains("\"triton_version\""));
        bytes = (kept.collect::<Vec<_>>().join("\n") + "\n").into_bytes();
    }
    Ok((bytes, Some(name.base(blank))))
}

fn configurations(file: &Tunings<'_>, rows: &[&Row<'_>], lost: &mut Lost) -> Vec<u8> {
    const OPTIONS: [&str; 4] = ["num_warps", "num_stages", "num_ctas", "maxnreg"];
    let mut out = String::from("configs = [\n");
    let mut seen = BTreeSet::new();
    let best = tunedb::triton::best(file).and_then(|at| file.rows.get(at)).map(|row| &row.span);
    for row in rows {
        let Ok(candidate) = &row.candidate else { continue };
        if file.format == Format::Autotune && row.time_us.is_err() {
            lost.row(row, "the configuration failed");
            continue;
        }
        if !seen.insert(candidate.clone()) {
            continue;
        }
        let mut arguments = Vec::new();
        let mut options = Vec::new();
        for (key, value) in candidate.split(", ").filter_map(|it| it.split_once(": ")) {
            match OPTIONS.contains(&key) {
                true if value == "None" => {}
                true => options.push(format!(", {key}={value}")),
                false => arguments.push(format!("\"{key}\": {value}")),
            }
        }
        let note = if best == Some(&row.span) && file.rows.len() > 1 && file.format == Format::Autotune {
            "  # the fastest"
        } else {
            ""
        };
        let _ = writeln!(out, "    triton.Config({{{}}}{}),{note}", arguments.join(", "), options.join(""));
    }
    out.push_str("]\n");
    lost.value("key and timings");
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunedb::read;

    fn text(name: &str, source: &str, to: To) -> Result<(String, Vec<String>), Refusal> {
        let file = read(name, source.as_bytes()).unwrap();
        let found = convert(&file, to, None, &|_| true)?;
        Ok((
            String::from_utf8(found.bytes).unwrap(),
            found.report.notes.into_iter().map(|it| it.text).collect(),
        ))
    }

    #[test]
    fn logged_problems_become_untuned_gemms() {
        let command = "hipblaslt-bench --api_method c -m 48 -n 176 -k 1024 --lda 48 --ldb 176 --ldc 48 --ldd 48 --transA N --transB T --batch_count 1 --a_type bf16_r --b_type bf16_r --compute_type f32_r";
        let source = format!(
            "{command}\n{command}\n{} --bias_vector\n",
            command.replace("batch_count 1", "batch_count 4")
        );
        let (found, lost) = text("a.log", &source, To::TunableOpUntuned).unwrap();
        assert_eq!(found, "GemmTunableOp_BFloat16_NT,nt_48_176_1024_ld_48_176_48\n");
        testkit::golden("lost of logged problems", &lost.join("\n"));
        // The result is read back as what it is.
        let back = read("u.csv", found.as_bytes()).unwrap();
        assert_eq!((back.format, back.rows.len(), back.flaws.len()), (Format::TunableOpUntuned, 1, 0));
    }

    #[test]
    fn results_become_a_find_exact_configuration() {
        let source = "Validator,PT_VERSION,2.9.1\nGemmTunableOp_Half_TN,tn_16_8_4_ld_4_4_16,Gemm_Rocblas_7,0.5\nGemmTunableOp_Half_TN,tn_32_8_4_ld_4_4_32,Gemm_Rocblas_7,0.5\n";
        let (found, _) = text("t.csv", source, To::FindExact).unwrap();
        let back = read("f.yaml", found.as_bytes()).unwrap();
        assert_eq!((back.format, back.rows.len()), (Format::FindExact, 2));
        assert_eq!(back.rows[0].shape.as_ref().unwrap().to_string(), "16x8x4");
        assert_eq!(back.rows[0].layout.as_deref(), Ok("TN"));
        let refusal =
            text("t.csv", &format!("{source}GemmTunableOp_float_NN,nn_1_2_3,Default,1\n"), To::FindExact)
                .unwrap_err();
        testkit::golden("several problem types", &refusal.message);
    }

    #[test]
    fn names_of_two_services() {
        let name = "E=1,N=2,device_name=X,block_shape=[128,128].json";
        let source =
            "{\n    \"triton_version\": \"3.4.0\",\n    \"1\": {\n        \"BLOCK_SIZE_M\": 16\n    }\n}\n";
        let file = read(name, source.as_bytes()).unwrap();
        let found = convert(&file, To::Sglang, None, &|_| true).unwrap();
        assert_eq!(found.name.as_deref(), Some("E=1,N=2,device_name=X,block_shape=[128, 128].json"));
        let back = read(found.name.as_deref().unwrap(), &found.bytes).unwrap();
        assert_eq!((back.rows.len(), back.versions.len()), (1, 1));
    }

    #[test]
    fn line_ends_are_repaired_and_timings_become_configurations() {
        let (found, lost) = text(
            "t.csv",
            "Validator,PT_VERSION,2.9.1\r\nGemmTunableOp_Half_TN,tn_16_8_4,A,0.5\r\n",
            To::TunableOp,
        )
        .unwrap();
        assert_eq!(found, "Validator,PT_VERSION,2.9.1\nGemmTunableOp_Half_TN,tn_16_8_4,A,0.5\n");
        testkit::golden("lost of line ends", &lost.join("\n"));
        let cache = "{\"key\": [\"8\"], \"configs_timings\": [[{\"kwargs\": {\"B\": 1}, \"num_warps\": 4, \"maxnreg\": null}, 0.2], [{\"kwargs\": {\"B\": 2}, \"num_warps\": 8}, Infinity]]}";
        let (found, _) = text("k.autotune.json", cache, To::TritonConfigs).unwrap();
        assert!(found.starts_with("configs = [\n    triton.Config({\"B\": 1}, num_warps=4),"), "{found}");
        assert_eq!(found.lines().count(), 3);
        // Rows on one line: one of them is the fastest.
        let (found, _) =
            text("k.autotune.json", &cache.replace("Infinity", "0.1"), To::TritonConfigs).unwrap();
        let marked: Vec<&str> = found.lines().filter(|line| line.ends_with("# the fastest")).collect();
        assert!(marked.len() == 1 && marked[0].contains("\"B\": 2"), "{found}");
    }
}

//! Problems as the input of a tuner.

use super::super::Refusal;
use super::{Experts, Found, OfAiter, Product, collect};
use arch::ElementType;
use std::collections::{BTreeMap, BTreeSet};
use tunedb::{Tunings, moe::MoeName};
use view::{counted, shell_word};

/// A tuner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShapesTo {
    /// Untuned tables of AITER, one for each of its operations.
    Aiter,
    /// hipBLASLt's profile log, which GEKO reads.
    Geko,
    /// Commands of hipblaslt-bench.
    HipblasltBench,
    /// Commands of vLLM's and SGLang's benchmarks.
    Vllm,
    /// Untuned file of PyTorch's TunableOp.
    TunableOp,
}

/// Files for a tuner.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Written {
    /// Name and bytes of each.
    pub files: Vec<(String, Vec<u8>)>,
    /// What is not in them, and why.
    pub notes: Vec<String>,
}

/// Writes the problems of files for a tuner.
///
/// # Errors
/// None of the problems is one for that tuner.
pub fn write(files: &[Tunings<'_>], to: ShapesTo) -> Result<Written, Refusal> {
    let found = collect(files);
    let mut left = Left::default();
    let files = match to {
        ShapesTo::Aiter => aiter(&found, &mut left),
        ShapesTo::Vllm => one_file("tune_moe.sh", vllm(&found, &mut left)),
        ShapesTo::Geko => one_file("problems.yaml", lines(&found, &mut left, geko)),
        ShapesTo::HipblasltBench => one_file("problems.sh", lines(&found, &mut left, bench)),
        ShapesTo::TunableOp => one_file("tunableop_untuned0.csv", lines(&found, &mut left, tunable)),
    };
    if files.iter().all(|(_, bytes)| bytes.is_empty()) {
        let why = left.notes().into_iter().next();
        return Err(Refusal::new(
            format!(
                "no problem in these files is one for that tuner{}",
                why.map_or_else(String::new, |it| format!(": {it}"))
            ),
            "`rockhound tunedb shapes FILES` lists what there is",
        ));
    }
    Ok(Written { files, notes: left.notes() })
}

fn one_file(name: &str, text: String) -> Vec<(String, Vec<u8>)> {
    vec![(name.to_owned(), text.into_bytes())]
}

/// Problems that a tuner does not take, by the reason.
#[derive(Default)]
struct Left(BTreeMap<&'static str, u64>);

impl Left {
    fn out(&mut self, why: &'static str) {
        *self.0.entry(why).or_default() += 1;
    }

    fn notes(&self) -> Vec<String> {
        self.0.iter().map(|(why, count)| format!("{} left out: {why}", counted(*count, "problem"))).collect()
    }
}

/// A line for each product, each once, most called first.
fn lines(found: &Found, left: &mut Left, line: fn(&Product, u64) -> Result<String, &'static str>) -> String {
    let mut out = String::new();
    let mut seen = BTreeSet::new();
    for (product, counted) in &found.products {
        match line(product, counted.calls) {
            Ok(line) if seen.insert(line.clone()) => {
                out.push_str(&line);
                out.push('\n');
            }
            Ok(_) => {}
            Err(why) => left.out(why),
        }
    }
    found.experts.iter().for_each(|_| left.out("no matrix product of one size"));
    out
}

/// Transposition, leading dimensions and types of a product, as BLAS has them.
struct Blas<'p> {
    sizes: [u64; 4],
    layout: &'p str,
    leading: [u64; 4],
    types: String,
    result: String,
    compute: &'static str,
}

fn blas(product: &Product) -> Result<Blas<'_>, &'static str> {
    let layout = product.layout.as_deref().ok_or("the transposition is not known")?;
    let types = product.types.as_deref().ok_or("the types are not known")?;
    let element = tunedb::element(types).ok_or("the types are not known")?;
    let (types, compute) = match element {
        ElementType::Xf32 => ("f32_r".to_owned(), "xf32_r"),
        ElementType::F64 => ("f64_r".to_owned(), "f64_r"),
        ElementType::I8 => ("i8_r".to_owned(), "i32_r"),
        ElementType::F4 => {
            return Err("hipBLASLt's words for 4-bit types need the scales, which the file does not name");
        }
        other => (format!("{}_r", other.name()), "f32_r"),
    };
    // Eight-bit inputs have a 16-bit result.
    let result = if element == ElementType::F8 { "bf16_r".to_owned() } else { types.clone() };
    let [m, n, k, _] = product.sizes;
    let of = |transposed: bool, plain, other| if transposed { other } else { plain };
    let both = layout.as_bytes();
    let (a, b) = (of(both.first() != Some(&b'N'), m, k), of(both.get(1) != Some(&b'N'), k, n));
    let leading = product.leading.map_or([a, b, m, m], |it| it.map(u64::from));
    Ok(Blas { sizes: product.sizes, layout, leading, types, result, compute })
}

fn geko(product: &Product, calls: u64) -> Result<String, &'static str> {
    let it = blas(product)?;
    let ([m, n, k, batch], [a, b, c, d]) = (it.sizes, it.leading);
    let (left, right) = it.layout.split_at(1);
    let Blas { types, result, compute, .. } = it;
    Ok(format!(
        "- {{ function: matmul, M: {m}, N: {n}, K: {k}, lda: {a}, ldb: {b}, ldc: {c}, ldd: {d}, transA: {left}, transB: {right}, \
         batch_count: {batch}, a_type: {types}, b_type: {types}, c_type: {result}, d_type: {result}, scale_type: f32_r, \
         compute_type: c_{compute}, call_count: {calls} }}"
    ))
}

fn bench(product: &Product, calls: u64) -> Result<String, &'static str> {
    let it = blas(product)?;
    let ([m, n, k, batch], [a, b, c, d]) = (it.sizes, it.leading);
    let (left, right) = it.layout.split_at(1);
    let Blas { types, result, compute, .. } = it;
    Ok(format!(
        "hipblaslt-bench -m {m} -n {n} -k {k} --transA {left} --transB {right} --batch_count {batch} --lda {a} --ldb {b} --ldc {c} \
         --ldd {d} --a_type {types} --b_type {types} --c_type {result} --d_type {result} --compute_type {compute} --initialization \
         trig_float --rotating 512 --cold_iters 100 --iters 1000 --use_gpu_timer --algo_method all --print_kernel_info  # {}",
        counted(calls, "call")
    ))
}

fn tunable(product: &Product, _calls: u64) -> Result<String, &'static str> {
    if let Some(line) = &product.tunable {
        return Ok(line.clone());
    }
    let it = blas(product)?;
    let types = match it.types.as_str() {
        "f16_r" => "Half",
        "bf16_r" => "BFloat16",
        "f32_r" if it.compute == "xf32_r" => "tf32",
        "f32_r" => "float",
        "f64_r" => "double",
        _ => return Err("scaled products: the file does not say how TunableOp names their scales"),
    };
    let ([m, n, k, batch], [a, b, c, _]) = (it.sizes, it.leading);
    let (layout, lower) = (it.layout, it.layout.to_ascii_lowercase());
    let (operation, middle) = if batch > 1 {
        ("GemmStridedBatchedTunableOp", format!("_B_{batch}"))
    } else {
        ("GemmTunableOp", String::new())
    };
    Ok(format!("{operation}_{types}_{layout},{lower}_{m}_{n}_{k}{middle}_ld_{a}_{b}_{c}"))
}

/// Columns of AITER's untuned tables that are no sizes, with the values that a plain product has.
const BF16: [(&str, &str); 5] =
    [("bias", "False"), ("dtype", ""), ("outdtype", ""), ("scaleAB", "False"), ("bpreshuffle", "False")];

/// A table for each operation.
fn aiter(found: &Found, left: &mut Left) -> Vec<(String, Vec<u8>)> {
    let mut tables: BTreeMap<String, (String, BTreeSet<String>, String)> = BTreeMap::new();
    let mut add = |name: String, header: &str, line: String| {
        let (_, seen, text) =
            tables.entry(name).or_insert_with(|| (header.to_owned(), BTreeSet::new(), format!("{header}\n")));
        if seen.insert(line.clone()) {
            text.push_str(&line);
            text.push('\n');
        }
    };
    for (product, _) in &found.products {
        match aiter_line(product) {
            Ok((name, header, line)) => add(name, &header, line),
            Err(why) => left.out(why),
        }
    }
    for (experts, _) in &found.experts {
        match experts {
            Experts::Aiter(it) => {
                let names: Vec<&str> = it.columns.iter().map(|it| it.0.as_str()).collect();
                let values: Vec<&str> = it.columns.iter().map(|it| it.1.as_str()).collect();
                if names.contains(&"doweight_stage1") {
                    add(
                        format!("untuned_{}.csv", it.family.replace(' ', "_")),
                        &names.join(","),
                        values.join(","),
                    );
                } else {
                    left.out(
                        "the message about a mixture of experts does not name all columns of AITER's table",
                    );
                }
            }
            Experts::File(_) => left.out("a file that vLLM or SGLang lack: `--to vllm`"),
        }
    }
    tables.into_iter().map(|(name, (_, _, text))| (name, text.into_bytes())).collect()
}

/// Name of the table, its header, and the line.
fn aiter_line(product: &Product) -> Result<(String, String, String), &'static str> {
    let [n, m, k, batch] = product.sizes;
    if product.layout.as_deref().is_some_and(|it| it != "TN") {
        return Err("AITER takes the second matrix as its transpose only");
    }
    let family = match &product.aiter {
        Some(of) => of.family.clone(),
        None => match product.types.as_deref().and_then(tunedb::element) {
            Some(ElementType::Bf16 | ElementType::F16) if batch == 1 => "bf16".to_owned(),
            Some(ElementType::Bf16) => "batched bf16".to_owned(),
            _ => {
                return Err(
                    "which of AITER's operations it is depends on the scales, which the file does not name",
                );
            }
        },
    };
    let mut cells: Vec<(&str, String)> =
        vec![("M", m.to_string()), ("N", n.to_string()), ("K", k.to_string())];
    let value = |name: &str| product.aiter.as_ref().and_then(|it: &OfAiter| it.value(name));
    if batch > 1 || family.starts_with("batched") {
        cells.insert(0, ("B", batch.to_string()));
    } else if family == "bf16" {
        let torch = match product.types.as_deref().and_then(tunedb::element) {
            Some(ElementType::F16) => "torch.float16",
            _ => "torch.bfloat16",
        };
        let own = |name, plain: &str| {
            value(name).unwrap_or(if plain.is_empty() { torch } else { plain }).to_owned()
        };
        cells.extend(BF16.map(|(name, plain)| (name, own(name, plain))));
    } else if let Some(types) = value("q_dtype_w") {
        cells.push(("q_dtype_w", types.to_owned()));
    }
    let (names, values): (Vec<&str>, Vec<String>) = cells.into_iter().unzip();
    let name = match family.strip_prefix("batched ") {
        Some(rest) => format!("{rest}_untuned_batched_gemm.csv"),
        None => format!("{family}_untuned_gemm.csv"),
    };
    Ok((name.replace(' ', "_"), names.join(","), values.join(",")))
}

/// Commands that write the files which servers looked for. The benchmarks take experts and sizes from the model.
fn vllm(found: &Found, left: &mut Left) -> String {
    let mut out = String::new();
    let mut seen = BTreeSet::new();
    for (experts, counts) in &found.experts {
        let Experts::File(path) = experts else {
            left.out("AITER's mixture of experts: `--to aiter`");
            continue;
        };
        let Some(name) = MoeName::parse(path) else { continue };
        // The file of the second product comes with the first.
        let whole = MoeName { down: false, ..name };
        let base = whole.base(whole.blank);
        if !seen.insert(base.clone()) {
            continue;
        }
        let sglang = whole.folder.is_some() || path.contains("sglang") || path.contains("/srt/");
        let dtype =
            whole.dtype.as_ref().map_or_else(String::new, |it| format!(" --dtype {}", shell_word(it)));
        let command = match (whole.k, sglang) {
            (Some(k), true) => format!(
                "python3 benchmark/kernels/quantization/tuning_block_wise_kernel.py --N {} --K {k} --input-type fp8",
                whole.n
            ),
            (Some(k), false) => format!(
                "python3 benchmarks/kernels/benchmark_w8a8_block_fp8.py --tp-size \"$TP\" --input-type fp8 --save-path .  # the model's N {} and K {k}",
                whole.n
            ),
            (None, true) => format!(
                "python3 benchmark/kernels/fused_moe_triton/tuning_fused_moe_triton.py --model \"$MODEL\" --tp-size \"$TP\"{dtype} --tune"
            ),
            (None, false) => format!(
                "python3 benchmarks/kernels/benchmark_moe.py --model \"$MODEL\" --tp-size \"$TP\"{dtype} --tune"
            ),
        };
        out.push_str(&format!("# {base}: asked for {}\n{command}\n", counted(counts.calls, "time")));
    }
    found.products.iter().for_each(|_| left.out("a matrix product: vLLM and SGLang keep no files for it"));
    out
}

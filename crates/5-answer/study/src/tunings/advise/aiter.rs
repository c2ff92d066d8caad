//! Next steps for AITER's tables and its configurations of Triton kernels.

use super::{gpu_option, step};
use tunedb::{Detail, Tunings};
use view::{Recipe, shell_word};

/// Tuners by family: substring of the family's name, and the command, with `IN` and `OUT` for the tables. The
/// first match counts.
const TUNERS: [(&str, &str); 11] = [
    ("fmoe", "python3 csrc/ck_gemm_moe_2stages_codegen/gemm_moe_tune.py -i IN -o OUT"),
    ("batched bf16", "python3 csrc/ck_batched_gemm_bf16/batched_gemm_bf16_tune.py -i IN -o OUT"),
    ("mxscale", "python3 csrc/bmm_a8w8_mxscale/bmm_a8w8_mxscale_bpreshuffle_tune.py -i IN -o OUT"),
    ("batched", "python3 csrc/ck_batched_gemm_a8w8/batched_gemm_a8w8_tune.py -i IN -o OUT"),
    (
        "a8w8_blockscale_bpreshuffle",
        "python3 csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_tune.py --preshuffle -i IN -o OUT",
    ),
    ("a8w8_blockscale", "python3 csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_tune.py -i IN -o OUT"),
    ("a8w8_bpreshuffle", "python3 csrc/ck_gemm_a8w8_bpreshuffle/gemm_a8w8_bpreshuffle_tune.py -i IN -o OUT"),
    ("a8w8", "python3 csrc/ck_gemm_a8w8/gemm_a8w8_tune.py -i IN -o OUT"),
    ("a4w4", "python3 csrc/ck_gemm_a4w4_blockscale/gemm_a4w4_blockscale_tune.py -i IN -o OUT"),
    ("chunk_gdn", "python3 csrc/gdn_k5/chunk_gdn_h_opt_tune.py -i IN -o OUT"),
    ("bf16", "python3 gradlib/gradlib/gemm_tuner.py --input_file IN --tuned_file OUT"),
];

/// A table of rows: which shapes lack one, tune, merge, check.
pub(super) fn table(file: &Tunings<'_>) -> Recipe {
    let (name, gpu) = (shell_word(&file.name), gpu_option(file));
    let family = match &file.detail {
        Detail::Columns(columns) => columns.family.as_str(),
        _ => "",
    };
    let is = |part: &str| family.contains(part) || part == "mxscale" && file.base_name().contains(part);
    let (input, output) = if file.rows.iter().any(|row| row.candidate.is_ok()) {
        ("untuned.csv".into(), "tuned.csv")
    } else {
        (name.clone(), "tuned.csv")
    };
    let tune = match TUNERS.iter().find(|it| is(it.0)) {
        Some((_, command)) => step(
            "Tune those, in AITER's folder: the tuner takes a table of shapes and writes one of results.",
            command.replace("OUT", output).replace("IN", &input),
        ),
        None => step(
            format!("Tune those with the tuner of `{family}`; AITER has one in `csrc` for most families."),
            "find csrc -name '*_tune.py'",
        ),
    };
    let mut steps = vec![tune];
    if input == name {
        steps
            .push(step("Check the result.", format!("rockhound tunedb lint {output}{gpu} --fail-on severe")));
    } else {
        let coverage = format!("rockhound tunedb coverage {name} --shapes {input} --missing{gpu}");
        steps.insert(0, step("See which of your shapes have no entry.", coverage));
        let merge = format!("rockhound tunedb merge {name} {output} -o merged.csv --explain");
        steps.push(step("Merge into a new file; AITER's own merge rewrites the sources.", merge));
    }
    steps.push(step(
        "Check all tables of the family together.",
        format!("rockhound tunedb lint aiter/configs{gpu} --fail-on severe"),
    ));
    Recipe {
        title: format!("{}: tuning AITER", file.base_name()),
        why: "Rows count for one target and number of compute units. Two tables of a family with one key stop the loader.".to_owned(),
        steps,
    }
}

/// A configuration of a Triton kernel: show the entry for a size, write a file for an N and K, check, join.
pub(super) fn configuration(file: &Tunings<'_>) -> Recipe {
    let (name, gpu) = (shell_word(&file.name), gpu_option(file));
    let sizes = match &file.detail {
        Detail::Config(config) => config.size("N").zip(config.size("K")),
        _ => None,
    };
    let (n, k) = sizes.unwrap_or((4096, 4096));
    let rows =
        file.rows.iter().any(|row| row.key.contains("M_") || row.key == "any" || row.key.ends_with("_M"));
    let question = if rows { format!("--mnk 16,{n},{k}") } else { "--key NAME".to_owned() };
    let mut steps = vec![
        step("See which entry a problem takes.", format!("rockhound tunedb query {name} {question}{gpu}")),
        step(
            "Check the entries: bounds that nobody asks for, tiles that do not fit.",
            format!("rockhound tunedb lint {name} --fail-on warning"),
        ),
    ];
    if sizes.is_none() && rows {
        steps.push(step(
            "Every N and K without a file of its own takes this default. Measure the sizes of your model and put the result beside it, under \
             the same name with the sizes behind it.",
            format!("cp {name} {}", shell_word(&file.name.replace(".json", "-N=4096-K=4096.json"))),
        ));
    }
    steps.push(step(
        "Join it with another person's file for the same kernel. The files hold no times: entries that differ are listed, and what a new entry \
         takes over.",
        format!("rockhound tunedb merge {name} OTHER/{} -o {} --explain", shell_word(file.base_name()), shell_word(file.base_name())),
    ));
    Recipe {
        title: format!("{}: settings of a Triton kernel of AITER", file.base_name()),
        why: "The path is half of the key: target, kernel, N and K. The number of rows chooses the entry, and what no entry is for takes `any`, \
              which may be many times slower."
            .to_owned(),
        steps,
    }
}

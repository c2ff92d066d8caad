//! Next steps for a tuning file, as commands to paste.
//!
//! The steps follow the vendor's guides, with the names and sizes of this file.

mod aiter;

use super::answer;
use arch::ElementType;
use arch::{Model, Target};
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tunedb::{Detail, Format, GemmShape, Kind, Row, Shape, Tunings};
use view::{Answer, NoteKind, Recipe, RecipeStep, Tuned, shell_word};

/// Problems for which benchmarks are written.
const SHOWN: usize = 3;
/// Files of one kind for which flows are written.
const SHOWN_FILES: usize = 2;

fn step(text: impl Into<String>, command: impl Into<String>) -> RecipeStep {
    RecipeStep { text: text.into(), command: command.into() }
}

/// Purposes of a file format whose steps differ.
fn kind(file: &Tunings<'_>) -> String {
    match &file.detail {
        Detail::Columns(columns) => columns.family.clone(),
        _ => String::new(),
    }
}

/// Flows for each file.
pub fn advise(files: &[Tunings<'_>]) -> Answer<Tuned> {
    let mut report = answer("advise", files);
    let mut same: BTreeMap<(Format, String), usize> = BTreeMap::new();
    for file in files {
        // Files of one kind have one flow, with the names of the first in it.
        let seen = same.entry((file.format, kind(file))).or_default();
        *seen += 1;
        if *seen <= SHOWN_FILES {
            report.recipes.extend(flows(file));
        }
    }
    for ((format, _), count) in same.iter().filter(|it| *it.1 > SHOWN_FILES) {
        let text = format!(
            "{} more files of the kind `{}`: the same steps with their names",
            count - SHOWN_FILES,
            format.name()
        );
        report.note(NoteKind::Info, text);
    }
    report
}

fn flows(file: &Tunings<'_>) -> Vec<Recipe> {
    match file.format {
        Format::TunableOp | Format::TunableOpUntuned | Format::TunableOpLog => {
            vec![offline(file), benchmark(file)]
        }
        Format::BenchOutput | Format::ProblemLog | Format::TuningFile => {
            vec![benchmark(file), online(file), find_exact(file)]
        }
        Format::FindExact => vec![find_exact(file)],
        Format::Logic
        | Format::TensileConfig
        | Format::TensileData
        | Format::TensileLog
        | Format::BenchProblems => {
            vec![tensile(file)]
        }
        Format::FindDb | Format::PerfDb | Format::PerfDbSqlite | Format::DriverCommands => vec![miopen(file)],
        Format::AiterTuned | Format::AiterUntuned => vec![aiter::table(file)],
        Format::AiterJson => vec![aiter::configuration(file)],
        Format::MoeJson => vec![moe(file)],
        Format::BlockGemmJson => vec![block_gemm(file)],
        Format::Autotune | Format::AutotuneLog | Format::TritonParse => vec![triton(file)],
        Format::ProblemProfile | Format::RocblasLog | Format::ServerLog => vec![shapes(file)],
        // Sizes or times alone name no library.
        Format::ShapeList
        | Format::Timeline
        | Format::RocblasBench
        | Format::RocblasOverride
        | Format::CkProfiler
        | Format::KernelTuner
        | Format::SpaceResults
        | Format::SpaceDescription => Vec::new(),
    }
}

/// `--gpu NAME` for the single GPU of a file; empty if it has several or an unknown one.
fn gpu_option(file: &Tunings<'_>) -> String {
    let gpus: BTreeSet<_> =
        file.rows.iter().map(|row| (row.target.as_deref().ok(), row.cu_count.ok())).collect();
    let [(Some(target), units)] = gpus.into_iter().collect::<Vec<_>>()[..] else { return String::new() };
    let Some(target) = Target::by_name(target) else { return String::new() };
    let own = |model: &&Model| units == Some(model.compute_units.value);
    // The first of the largest: any whole GPU of the target where the file does not say which, or the one
    // that a partition is of.
    let largest = Model::of_target(target).min_by_key(|model| std::cmp::Reverse(model.compute_units.value));
    match (Model::of_target(target).find(own), largest, units) {
        (Some(model), _, _) | (None, Some(model), None) => format!(" --gpu {}", model.key()),
        (None, Some(model), Some(units)) => format!(" --gpu {} --cu {units}", model.key()),
        (None, None, _) => String::new(),
    }
}

/// Offline tuning with TunableOp: record, tune, check, switch off.
fn offline(file: &Tunings<'_>) -> Recipe {
    let rows = file.rows.len();
    let gpu = gpu_option(file);
    let name = shell_word(&file.name);
    let default = file.rows.iter().filter(|row| row.candidate.as_deref() == Ok("Default")).count();
    let why = match file.format {
        Format::TunableOp => format!(
            "{rows} GEMMs are tuned, {default} of them run the default. Results hold for one build of PyTorch, ROCm, hipBLASLt and \
             rocBLAS; after an upgrade the recorded GEMMs can be tuned again without the application."
        ),
        _ => format!("{rows} GEMMs are recorded and none is tuned."),
    };
    let untuned = "rockhound tunedb convert FILE --to tunableop-untuned -o tunableop_untuned0.csv"
        .replace("FILE", &name);
    Recipe {
        title: format!("{}: offline tuning with TunableOp (PyTorch 2.6 or later)", file.base_name()),
        why,
        steps: vec![
            match file.format {
                Format::TunableOp => step(
                    "Take the GEMMs from the results, or record them again as in the next line.",
                    untuned,
                ),
                _ => step("The GEMMs are recorded. To record others:", String::new()),
            },
            step(
                "Record the GEMMs of the application; nothing is tuned and nothing slows down.",
                "PYTORCH_TUNABLEOP_ENABLED=1 PYTORCH_TUNABLEOP_TUNING=0 PYTORCH_TUNABLEOP_RECORD_UNTUNED=1 python app.py",
            ),
            step(
                "Tune them, on an idle GPU with steady clocks and a rotating buffer of at least the size of the last cache \
                 (256 MiB on an MI300X).",
                "rocm-smi --setperfdeterminism 1900\nPYTORCH_TUNABLEOP_ENABLED=1 PYTORCH_TUNABLEOP_TUNING=1 PYTORCH_TUNABLEOP_ROTATING_BUFFER_SIZE=512 \\\n  python -c \"import torch.cuda.tunable as t; t.tune_gemm_in_file('tunableop_untuned0.csv')\"",
            ),
            step(
                "Check the result before it is used.",
                format!("rockhound tunedb lint tunableop_results0.csv{gpu} --fail-on severe"),
            ),
            step(
                "Run with the results and tuning switched off; compare with a run without TunableOp.",
                "PYTORCH_TUNABLEOP_ENABLED=1 PYTORCH_TUNABLEOP_TUNING=0 PYTORCH_TUNABLEOP_FILENAME=tunableop_results.csv python app.py",
            ),
            step(
                "Ranks tune for themselves: merge their files and give all the result.",
                "rockhound tunedb merge tunableop_results?.csv -o merged.csv --explain",
            ),
        ],
    }
}

/// Rows by cost, highest first: calls times time, or calls times operations if no time is known.
fn costly<'f, 'a>(file: &'f Tunings<'a>) -> Vec<&'f Row<'a>> {
    let mut rows: Vec<&Row<'_>> = file
        .rows
        .iter()
        .filter(|row| row.kind == Kind::Gemm && row.shape.as_ref().is_ok_and(|it| it.gemm().is_some()))
        .collect();
    let timed = rows.iter().all(|row| row.time_us.is_ok());
    let cost = |row: &Row<'_>| {
        let one = if timed { row.time_us.unwrap_or(0.0) } else { row.flop().unwrap_or(0.0) };
        one * row.calls as f64
    };
    rows.in_order_by(|a, b| cost(b).total_cmp(&cost(a)));
    rows.truncate(SHOWN);
    rows
}

/// A problem as a command of hipblaslt-bench; `None` if its types are unknown.
fn bench_command(row: &Row<'_>) -> Option<String> {
    let GemmShape { m, n, k, batch, leading } = *row.shape.as_ref().ok()?.gemm()?;
    let layout = row.layout.as_deref().ok().filter(|it| it.len() == 2)?;
    let element = tunedb::element(row.types.as_deref().ok()?)?;
    let (types, compute) = match element {
        ElementType::Xf32 => ("f32_r".to_owned(), "xf32_r"),
        ElementType::F64 => ("f64_r".to_owned(), "f64_r"),
        ElementType::I8 => ("i8_r".to_owned(), "i32_r"),
        other => (format!("{other}_r"), "f32_r"),
    };
    // Eight-bit inputs have a 16-bit result.
    let result = if element == ElementType::F8 { "bf16_r".to_owned() } else { types.clone() };
    let mut out =
        format!("hipblaslt-bench -m {m} -n {n} -k {k} --transA {} --transB {}", &layout[..1], &layout[1..]);
    if batch > 1 {
        let _ = write!(out, " --batch_count {batch}");
    }
    if let Some([a, b, c, d]) = leading {
        let _ = write!(out, " --lda {a} --ldb {b} --ldc {c} --ldd {d}");
    }
    let _ = write!(
        out,
        " \\\n  --a_type {types} --b_type {types} --c_type {result} --d_type {result} --compute_type {compute} --initialization trig_float \\\n  \
         --rotating 512 --cold_iters 100 --iters 1000 --use_gpu_timer"
    );
    Some(out)
}

/// Every solution of the shapes that cost most.
fn benchmark(file: &Tunings<'_>) -> Recipe {
    let rows = costly(file);
    let mut steps: Vec<RecipeStep> = rows
        .iter()
        .filter_map(|row| {
            let command = bench_command(row)?;
            let shape = row.shape.as_ref().map(Shape::to_string).ok()?;
            let calls = if row.calls > 1 { format!(", {} calls", row.calls) } else { String::new() };
            Some(step(
                format!("{shape}{calls}: all solutions"),
                format!("HIP_FORCE_DEV_KERNARG=1 {command} \\\n  --algo_method all --print_kernel_info"),
            ))
        })
        .collect();
    steps.push(step(
        "Keep the solution index, not the number in brackets, which is another one in every run. Write results into a tuning file \
         and use it:",
        "HIPBLASLT_TUNING_FILE=tuning.txt hipblaslt-bench …   # writes\nHIPBLASLT_TUNING_OVERRIDE_FILE=tuning.txt python app.py  # uses",
    ));
    Recipe {
        title: format!("{}: hipblaslt-bench for the problems that cost most", file.base_name()),
        why: format!(
            "{} of {} problems, by time or operations times calls. Without a rotating buffer of at least the size of the last cache, data \
             comes from the cache; zeros and integers as input run up to 20 % faster than random floats.",
            steps.len() - 1,
            file.rows.len()
        ),
        steps,
    }
}

fn online(file: &Tunings<'_>) -> Recipe {
    let name = shell_word(&file.name);
    Recipe {
        title: format!("{}: the same problems for PyTorch", file.base_name()),
        why: "TunableOp searches rocBLAS too, which has the faster kernel for some problems.".to_owned(),
        steps: vec![
            step(
                "Turn the problems into an untuned file.",
                format!("rockhound tunedb convert {name} --to tunableop-untuned -o tunableop_untuned0.csv"),
            ),
            step(
                "Tune them.",
                "PYTORCH_TUNABLEOP_ENABLED=1 PYTORCH_TUNABLEOP_TUNING=1 python -c \"import torch.cuda.tunable as t; t.tune_gemm_in_file('tunableop_untuned0.csv')\"",
            ),
        ],
    }
}

fn find_exact(file: &Tunings<'_>) -> Recipe {
    let is_config = file.format == Format::FindExact;
    let name = shell_word(&file.name);
    let config = if is_config { &*name } else { "tuning.yaml" };
    let mut steps = Vec::new();
    if !is_config {
        steps.push(step(
            "Write the sizes of one problem type as a configuration.",
            format!("rockhound tunedb convert {name} --to find-exact --layout TN --types f16 -o {config}"),
        ));
    }
    steps.push(step(
        "Benchmark all solutions of a built hipBLASLt and write the winners as Equality logic.",
        format!("python3 hipBLASLt/utilities/find_exact.py {config} hipBLASLt/build/release ./"),
    ));
    steps.push(step(
        "Merge what it found into the library's logic: faster ones only, every decision listed.",
        "rockhound tunedb merge hipBLASLt/library/src/amd_detail/rocblaslt/src/Tensile/Logic/asm_full/…/Equality/NAME.yaml 1_LogicYaml/NAME.yaml -o NAME.yaml --explain",
    ));
    steps.push(step("Build the library again and compare.", "cd hipBLASLt && ./install.sh -idc"));
    Recipe {
        title: format!("{}: find_exact, exact solutions for exact sizes", file.base_name()),
        why: "It chooses among solutions that the library has; a size that is in an Equality file gets its solution without a prediction. \
              SplitK is tried where `TuningParameters` has values for it. Keep `AlgoMethod: all`."
            .to_owned(),
        steps,
    }
}

fn tensile(file: &Tunings<'_>) -> Recipe {
    Recipe {
        title: format!("{}: new solutions with TensileLite", file.base_name()),
        why: "Seven steps are documented; in practice three are used: common parameters, fork parameters and the final sizes. Defaults \
              take the place of steps 1 and 2, and joining (5, 6) is left out, since all parameters are measured before it."
            .to_owned(),
        steps: vec![
            step("1, initial solution parameters, and 2, common parameters: leave to the defaults, or one value each.", "BenchmarkCommonParameters:\n  - KernelLanguage: [\"Assembly\"]"),
            step(
                "3, fork parameters: the product of all values is benchmarked, so few values each. 16x16 matrix instructions usually win.",
                "ForkParameters:\n  - MatrixInstruction:\n    - [16, 16, 16, 1, 1, 8, 6, 2, 2]\n  - DepthU: [32, 64]\n  - WorkGroupMapping: [1, 8, 16]\n  - GlobalSplitU: [1, 2]",
            ),
            step("4, 5 and 6, benchmark fork, join and benchmark join: leave empty.", ""),
            step("7, final sizes: Exact for sizes that matter, Range for a grid.", "BenchmarkFinalParameters:\n  - ProblemSizes:\n    - Exact: [4096, 4096, 1, 4096]"),
            step("Validation costs time; 0 measures only. Check the winner's result afterwards with -1.", "GlobalParameters:\n  NumElementsToValidate: 0"),
            step("Run it.", "cd hipBLASLt/tensilelite && ./Tensile/bin/Tensile config.yaml output"),
            step(
                "Merge its logic into the library's: exact sizes into Equality, a grid into GridBased, the rest into FreeSize.",
                "rockhound tunedb merge ORIGINAL.yaml output/3_LibraryLogic/NAME.yaml -o NAME.yaml --explain",
            ),
        ],
    }
}

fn miopen(file: &Tunings<'_>) -> Recipe {
    let command = file
        .rows
        .iter()
        .find(|_| file.format == Format::DriverCommands)
        .filter(|row| row.key.starts_with("MIOpenDriver"))
        .map_or("MIOpenDriver convbfp16 -n 1 -c 1024 -H 14 -W 14 -k 256 -y 1 -x 1 -p 0 -q 0 -u 1 -v 1 -l 1 -j 1 -m conv -g 1 -F 1", |row| row.key.as_ref());
    Recipe {
        title: format!("{}: tuning convolutions with MIOpen", file.base_name()),
        why: "PerfDb holds the parameters of each solver, FindDb the times of the solvers. MIOPEN_FIND_ENFORCE: 1 none, 2 update, 3 search \
              where nothing is there, 4 search and update, 5 clean. MIOPEN_FIND_MODE: 1 normal, 2 fast, 3 hybrid, 5 dynamic hybrid."
            .to_owned(),
        steps: vec![
            step("Log the convolutions of the application as driver commands.", "MIOPEN_ENABLE_LOGGING_CMD=1 python app.py 2> log.txt\nrockhound tunedb show log.txt --sort calls"),
            step(
                "Search parameters where PerfDb has none, and measure all solvers. A find mode other than normal together with enforcing leaves \
                 records of one solver that hide the system's.",
                format!("MIOPEN_FIND_ENFORCE=3 MIOPEN_FIND_MODE=1 {command}"),
            ),
            step(
                "Compare the user database with the system's.",
                "rockhound tunedb lint $ROCM_PATH/share/miopen/db/gfx942130.HIP.fdb.txt ~/.config/miopen/*.ufdb.txt",
            ),
            step("Join the databases of ranks; do not `cat` them.", "rockhound tunedb merge rank0.ufdb.txt rank1.ufdb.txt -o joined.ufdb.txt"),
            step("After an upgrade of MIOpen delete the user database: its version is in its name.", "rm -i ~/.config/miopen/*.u?db*"),
            step("In production look up and do not search.", "MIOPEN_FIND_MODE=2 python app.py"),
        ],
    }
}

fn moe(file: &Tunings<'_>) -> Recipe {
    Recipe {
        title: format!("{}: tuning fused mixtures of experts", file.base_name()),
        why: "The name is the key: experts, size per rank, device, types. The size changes with tensor parallelism.".to_owned(),
        steps: vec![
            step("See what a batch gets.", format!("rockhound tunedb query {} --tokens 48", shell_word(&file.name))),
            step("Tune with vLLM's benchmark, for the tensor parallelism of the service.", "python3 benchmarks/kernels/benchmark_moe.py --model MODEL --tp-size 8 --tune"),
            step("The same content for SGLang.", format!("rockhound tunedb convert {} --to sglang -o DIR", shell_word(&file.name))),
            step("Start the service and look for `Using default MoE config`: it means that no name fits.", ""),
        ],
    }
}

fn block_gemm(file: &Tunings<'_>) -> Recipe {
    Recipe {
        title: format!("{}: tuning products with scales by block", file.base_name()),
        why: "The name is the key: N and K per rank, device, block of the scales. Both change with tensor parallelism.".to_owned(),
        steps: vec![
            step("See what a batch gets.", format!("rockhound tunedb query {} --tokens 48", shell_word(&file.name))),
            step("Tune with vLLM's benchmark, for the tensor parallelism of the service.", "python3 benchmarks/kernels/benchmark_w8a8_block_fp8.py --tp-size 8 --save-path DIR"),
            step("Start the service and look for `Using default W8A8 Block FP8 kernel config`: it means that no name fits.", ""),
        ],
    }
}

/// Problems of a log as the input of a tuner.
fn shapes(file: &Tunings<'_>) -> Recipe {
    let name = shell_word(&file.name);
    let (to, why) = match file.format {
        Format::ServerLog => {
            ("aiter", "The server names problems that run a default since no tuned entry was found.")
        }
        Format::RocblasLog => ("tunableop", "rocBLAS was called with these problems."),
        _ => ("geko", "hipBLASLt was called with these problems, so many times each."),
    };
    Recipe {
        title: format!("{}: the problems as the input of a tuner", file.base_name()),
        why: why.to_owned(),
        steps: vec![
            step("List them with their calls.", format!("rockhound tunedb shapes {name}")),
            step("Write the input of the tuner.", format!("rockhound tunedb shapes {name} --to {to} -o DIR")),
            step(
                "See which have an entry by now.",
                format!("rockhound tunedb coverage TABLE --shapes {name} --missing"),
            ),
        ],
    }
}

fn triton(file: &Tunings<'_>) -> Recipe {
    Recipe {
        title: format!("{}: results of Triton's autotuner", file.base_name()),
        why: "A cache file is found by a hash of versions, source, key and all configurations: one more configuration orphans all files.".to_owned(),
        steps: vec![
            step("Print what is chosen while the application runs; switch it off in production.", "TRITON_PRINT_AUTOTUNING=1 python app.py 2>&1 | tee log.txt\nrockhound tunedb show log.txt"),
            step("Turn the configurations that ran into source.", format!("rockhound tunedb convert {} --to triton-configs", shell_word(&file.name))),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunedb::read;

    #[test]
    fn commands_hold_the_sizes_of_the_file() {
        let source = b"Validator,PT_VERSION,2.9.1\nGemmTunableOp_Half_TN,tn_16_8_4_ld_4_4_16,Gemm_Rocblas_7,0.5\nGemmTunableOp_BFloat16_NN,nn_4096_64_32_ld_4096_32_4096,Default,1.5\n";
        let file = read("tunableop_results0.csv", source).unwrap();
        let report = advise(&[file]);
        let command = &report.recipes[1].steps[0].command;
        assert!(
            command.contains("-m 4096 -n 64 -k 32 --transA N --transB N --lda 4096 --ldb 32"),
            "{command}"
        );
        assert!(command.contains("--a_type bf16_r"), "{command}");
        testkit::golden("a default among results", &report.recipes[0].why);
    }

    #[test]
    fn flows_are_those_of_the_family_and_name_its_gpu() {
        let moe = "gfx,cu_num,token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,q_type,use_g1u1,doweight_stage1,block_m,us\n\
                   gfx942,304,16,1,1,8,2,a,d,q,w,t,1,0,32,5.0\n";
        let part = moe.replace("304", "80");
        let mixed = format!("{moe}gfx950,256,16,1,1,8,2,a,d,q,w,t,1,0,32,5.0\n");
        let sized = "{\"M_LEQ_16\": {\"BLOCK_SIZE_M\": 16}}";
        for (name, text, words) in [
            ("tuned_fmoe.csv", moe, vec!["gemm_moe_tune.py -i", "--gpu mi300x "]),
            ("tuned_fmoe.csv", part.as_str(), vec!["--gpu mi300x --cu 80 "]),
            ("tuned_fmoe.csv", mixed.as_str(), vec!["untuned.csv", "lint aiter/configs --fail-on"]),
            (
                "bf16_tuned_gemm.csv",
                "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,us\ngfx950,256,1,2,3,False,a,b,False,False,asm,5\n",
                vec!["gemm_tuner.py --input_file", "--gpu mi350x"],
            ),
            (
                "a b/gfx942-GEMM-A16W16.json",
                sized,
                vec!["query 'a b/gfx942-GEMM-A16W16.json' --mnk", "--gpu mi300"],
            ),
        ] {
            let file = read(name, text.as_bytes()).unwrap();
            let flows = advise(&[file]).recipes;
            let commands: Vec<&str> =
                flows.iter().flat_map(|it| &it.steps).map(|it| it.command.as_str()).collect();
            let commands = commands.join("\n");
            for word in words {
                assert!(commands.contains(word), "{name}: `{word}` is not in\n{commands}");
            }
        }
    }
}

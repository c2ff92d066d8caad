//! Configurations for shapes: files, merges, refusals.

use super::*;
use crate::tunings::read;
use tunedb::Source;

/// Files that are read as tuning files.
fn tunings<'f>(files: &'f [(&'f str, &'f str)]) -> Vec<Tunings<'f>> {
    let given = files.iter().map(|(name, text)| (*name, Source::Bytes(text.as_bytes()), true));
    let (read, errors) = read(given);
    assert_eq!(errors, []);
    read
}

fn question<'a>(operation: Operation, target: TuneFor, lists: &'a [Tunings<'a>]) -> ShapesQuestion<'a> {
    ShapesQuestion {
        operation,
        target,
        gpu: Some("mi300x"),
        lists,
        models: &[],
        tp: 1,
        tokens: &[],
        dtype: None,
        block: None,
        model_dim: None,
        top_k: None,
        device: None,
        one: false,
        emulated: None,
        existing: &[],
        results: &[],
        files: "list.csv",
    }
}

fn model() -> Vec<(String, ModelConfig)> {
    let text = r#"{"hidden_size": 4096, "num_local_experts": 8, "num_experts_per_tok": 2, "intermediate_size": 14336}"#;
    vec![("config.json".to_owned(), ModelConfig::read(text.as_bytes()).unwrap())]
}

/// The entries of a written file.
fn entries(bytes: &[u8]) -> serde_json::Value {
    serde_json::from_slice(bytes).unwrap()
}

#[test]
fn a_model_gives_a_file_that_its_project_reads() {
    let models = model();
    for (target, tp, dtype, name) in [
        (TuneFor::Vllm, 2, None, "E=8,N=7168,device_name=AMD_Instinct_MI300X.json"),
        (
            TuneFor::Vllm,
            1,
            Some("fp8_w8a8"),
            "E=8,N=14336,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json",
        ),
        (TuneFor::Sglang, 2, None, "E=8,N=7168,device_name=AMD_Instinct_MI300X.json"),
    ] {
        let question = ShapesQuestion { models: &models, tp, dtype, ..question(Operation::Moe, target, &[]) };
        let found = tune_shapes(&question).unwrap();
        let [(file, bytes)] = &found.files[..] else { panic!("{name}") };
        assert_eq!(file, name);
        let read = tunedb::read(file, bytes).unwrap();
        assert_eq!((read.rows.len(), read.flaws.len()), (18, 0), "{name}: {:?}", read.flaws);
        let all = entries(bytes);
        let small = all["1"]["BLOCK_SIZE_M"].as_u64().unwrap();
        let large = all["4096"]["BLOCK_SIZE_M"].as_u64().unwrap();
        assert!(small <= 32 && large >= 64, "{name}: {small} {large}");
        assert_eq!(all["1"].get("kpack").is_some(), target == TuneFor::Vllm && dtype.is_none(), "{name}");
        let columns = found.answer.tables[0].columns.iter();
        assert!(columns.clone().any(|it| it.key == "modelled_us"), "times are marked");
        assert!(found.answer.notes.iter().any(|it| it.text.contains("modelled")));
        assert!(!found.answer.recipes.is_empty(), "the command that measures");
    }
}

#[test]
fn one_configuration_for_all_has_the_least_geometric_mean() {
    let models = model();
    let tokens = [1, 64, 4096];
    let question = ShapesQuestion {
        models: &models,
        tokens: &tokens,
        one: true,
        ..question(Operation::Moe, TuneFor::Vllm, &[])
    };
    let found = tune_shapes(&question).unwrap();
    let all = entries(&found.files[0].1);
    assert!(all["1"] == all["64"] && all["64"] == all["4096"], "{all}");
    let search = &found.answer.part.searches[0];
    let table = &found.answer.tables[0];
    let place = |key: &str| table.columns.iter().position(|it| it.key == key).unwrap();
    let time = |row: usize, key: &str| table.rows[row].cells[place(key)].number().unwrap();
    let mean = (0..3).map(|row| time(row, "modelled_us").ln()).sum::<f64>() / 3.0;
    assert!((search.winner.as_ref().unwrap().value.unwrap() - mean.exp()).abs() < 1e-6);
    for row in 0..3 {
        assert!(time(row, "own_us") <= time(row, "modelled_us") * 1.006);
    }
}

#[test]
fn entries_in_use_stay_and_new_ones_are_added() {
    let models = model();
    let name = "E=8,N=14336,device_name=AMD_Instinct_MI300X.json";
    let old = "{\n    \"2\": {\n        \"BLOCK_SIZE_M\": 256,\n        \"BLOCK_SIZE_N\": 16,\n        \"BLOCK_SIZE_K\": 64,\n        \"GROUP_SIZE_M\": 1,\n        \"num_warps\": 4,\n        \"num_stages\": 2\n    }\n}\n";
    let files = [(name, old)];
    let existing = tunings(&files);
    let tokens = [2, 64];
    let question = ShapesQuestion {
        models: &models,
        tokens: &tokens,
        existing: &existing,
        ..question(Operation::Moe, TuneFor::Vllm, &[])
    };
    let found = tune_shapes(&question).unwrap();
    let all = entries(&found.files[0].1);
    assert_eq!((&all["2"]["BLOCK_SIZE_M"], all["64"].is_object()), (&256.into(), true));
    let table = &found.answer.tables[0];
    let place = |key: &str| table.columns.iter().position(|it| it.key == key).unwrap();
    let words: Vec<&Cell> = table.rows.iter().map(|it| &it.cells[place("entry")]).collect();
    assert_eq!(words, [&Cell::text("existing stays"), &Cell::text("new")]);
    let row = &table.rows[0].cells;
    assert!(row[place("existing_us")].number().unwrap() > row[place("modelled_us")].number().unwrap());
}

#[test]
fn lists_become_files_of_products() {
    let list = [("list.csv", "M,N,K\n16,4096,7168\n4096,4096,7168\n64,1536,7168\n")];
    let log = [(
        "server.log",
        "INFO x\nConfig file not found at /s/N=576,K=7168,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json\n",
    )];
    for (files, names) in [
        (
            &list,
            &[
                "N=4096,K=7168,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128, 128].json",
                "N=1536,K=7168,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128, 128].json",
            ][..],
        ),
        (
            &log,
            &["N=576,K=7168,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128, 128].json"][..],
        ),
    ] {
        let lists = tunings(files);
        let found = tune_shapes(&question(Operation::Gemm, TuneFor::Sglang, &lists)).unwrap();
        let written: Vec<&str> = found.files.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(written, names);
    }
}

/// Compares notes with a section of the golden file.
#[track_caller]
fn golden(section: &str, notes: &[view::Note]) {
    let lines = notes.iter().map(|it| format!("{:?}: {}\n", it.kind, it.text));
    testkit::golden(section, &lines.collect::<String>());
}

#[test]
fn what_no_model_knows_is_refused_with_the_command_that_measures_it() {
    let files = [("list.txt", "64x4096x7168 TN bf16\n")];
    let lists = tunings(&files);
    for (target, command) in [
        (TuneFor::Aiter, "gemm_tuner.py"),
        (TuneFor::TunableOp, "tune_gemm_in_file"),
        (TuneFor::Hipblaslt, "hipblaslt-bench"),
    ] {
        let found = tune_shapes(&question(Operation::Gemm, target, &lists)).unwrap();
        assert!(found.files.is_empty());
        assert!(found.answer.notes.iter().any(|it| it.kind == NoteKind::Error), "{:?}", found.answer.notes);
        let steps = &found.answer.recipes[0].steps;
        assert!(steps.iter().any(|it| it.command.contains(command)), "{command}");
        assert!(steps[0].command.contains("list.csv"), "{steps:?}");
    }
    for (operation, target) in [
        (Operation::Moe, TuneFor::TunableOp),
        (Operation::Gemm, TuneFor::Vllm),
        (Operation::Moe, TuneFor::Vllm),
    ] {
        let refusal = tune_shapes(&question(operation, target, &lists)).unwrap_err();
        testkit::golden(&format!("{operation:?} for {target:?}"), &refusal.message);
    }
    let named = [("s.log", "Config file not found at /s/E=8,N=7168,device_name=AMD_Instinct_MI300X.json\n")];
    let lists = tunings(&named);
    let own = question(Operation::Moe, TuneFor::Vllm, &lists);
    assert!(tune_shapes(&own).unwrap_err().message.contains("--model-dim"));
    let models = model();
    for with in [
        ShapesQuestion { model_dim: Some(4096), top_k: Some(2), ..own },
        ShapesQuestion { models: &models, tp: 2, ..own },
    ] {
        assert_eq!(tune_shapes(&with).unwrap().files.len(), 1);
    }
}

const HEAD: &str = "Validator,PT_VERSION,2.9.1\nValidator,HIP_VERSION,702\nValidator,GCN_ARCH_NAME,gfx942\n";

#[test]
fn results_give_the_fastest_entry_of_the_shapes_asked_for() {
    let files = [("list.txt", "64x4096x7168 TN f16\n1x2x3 TN f16\n")];
    let lists = tunings(&files);
    let measured = format!(
        "{HEAD}GemmTunableOp_Half_NT,nt_4096_64_7168_ld_1_1_1,Gemm_Rocblas_1,0.02\nGemmTunableOp_Half_TN,tn_9_9_9_ld_9_9_9,Gemm_Rocblas_2,0.01\n"
    );
    let in_use = format!("{HEAD}GemmTunableOp_Half_NT,nt_4096_64_7168_ld_1_1_1,Gemm_Rocblas_7,0.01\n");
    let slow = in_use.replace("0.01", "0.05");
    for (existing, kept) in
        [(None, "Gemm_Rocblas_1,"), (Some(&in_use), "Gemm_Rocblas_7,"), (Some(&slow), "Gemm_Rocblas_1,")]
    {
        let results = [("results.csv", measured.as_str())];
        let results = tunings(&results);
        let existing: Vec<(&str, &str)> = existing.iter().map(|it| ("in_use.csv", it.as_str())).collect();
        let existing = tunings(&existing);
        let question = ShapesQuestion {
            results: &results,
            existing: &existing,
            ..question(Operation::Gemm, TuneFor::TunableOp, &lists)
        };
        let found = tune_shapes(&question).unwrap();
        let text = String::from_utf8(found.files[0].1.clone()).unwrap();
        assert!(text.contains(kept) && !text.contains("Gemm_Rocblas_2"), "{text}");
        golden("a problem without a result", &found.answer.notes);
    }
    let other = [("other.csv", "M,N,K\n1,2,3\n")];
    let other = tunings(&other);
    let question =
        ShapesQuestion { results: &other, ..question(Operation::Gemm, TuneFor::TunableOp, &lists) };
    testkit::golden("results of another kind", &tune_shapes(&question).unwrap_err().message);
}

#[test]
fn results_of_another_gpu_are_left_out() {
    let head = "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw\n";
    let row = |gpu: &str, us: &str| {
        format!("{gpu},64,4096,7168,False,torch.bfloat16,torch.bfloat16,False,False,asm,3,1,{us},k,0.0,1,1\n")
    };
    let text = format!("{head}{}{}", row("gfx942,304", "9.5"), row("gfx950,256", "4.5"));
    let results = [("bf16_tuned_gemm.csv", text.as_str())];
    let results = tunings(&results);
    let files = [("list.txt", "64x4096x7168 NT bf16\n")];
    let lists = tunings(&files);
    for (gpu, rows) in [(Some("mi300x"), 1), (None, 2)] {
        let question =
            ShapesQuestion { gpu, results: &results, ..question(Operation::Gemm, TuneFor::Aiter, &lists) };
        let found = tune_shapes(&question).unwrap();
        let text = String::from_utf8(found.files[0].1.clone()).unwrap();
        assert_eq!(text.lines().count(), rows + 1, "{text}");
    }
    let question = ShapesQuestion {
        gpu: Some("mi210"),
        results: &results,
        ..question(Operation::Gemm, TuneFor::Aiter, &lists)
    };
    assert!(tune_shapes(&question).unwrap_err().message.contains("1 problem"));
}

#[test]
fn what_a_question_does_not_use_is_named() {
    let models = model();
    let lists = [("list.txt", "64x4096x7168 NT bf16\n")];
    let lists = tunings(&lists);
    let question = ShapesQuestion { models: &models, ..question(Operation::Gemm, TuneFor::Aiter, &lists) };
    let found = tune_shapes(&question).unwrap();
    golden("a model that is not used", &found.answer.notes);
    let refused = tune_shapes(&ShapesQuestion { lists: &[], ..question }).unwrap_err();
    testkit::golden("no shapes", &refused.message);
    let other = [("E=9,N=9,device_name=AMD_Instinct_MI300X.json", "{\"1\": {\"BLOCK_SIZE_M\": 16}}")];
    let other = tunings(&other);
    let moe = ShapesQuestion {
        operation: Operation::Moe,
        target: TuneFor::Vllm,
        tokens: &[1],
        existing: &other,
        lists: &[],
        ..question
    };
    golden("a file that is not used", &tune_shapes(&moe).unwrap().answer.notes);
    let refused = tune_shapes(&ShapesQuestion { results: &other, ..moe }).unwrap_err();
    testkit::golden("results for a service", &refused.message);
}

/// Says that large tiles are slow, and `kpack` of 2; remembers what it is asked.
#[derive(Debug, Default)]
struct Clock(std::cell::RefCell<Vec<ProductLaunch>>);

impl ProductClock for Clock {
    fn times_us(&self, launches: &[ProductLaunch]) -> Vec<Result<Vec<f64>, String>> {
        self.0.borrow_mut().extend(launches.iter().cloned());
        let value = |it: &ProductLaunch, name: &str| {
            it.parameters.iter().find(|(other, _)| other == name).map_or(0, |it| it.1) as f64
        };
        let time = |it: &ProductLaunch| {
            let tile = value(it, "BLOCK_SIZE_M") * value(it, "BLOCK_SIZE_N") * (1.0 + value(it, "kpack"));
            Ok(it.depths.iter().map(|depth| tile * *depth as f64).collect())
        };
        launches.iter().map(time).collect()
    }
}

#[test]
fn the_emulated_clock_chooses_among_the_tiles_that_the_model_finds_fastest() {
    let models = model();
    let tokens = [1, 512];
    let clock = Clock::default();
    let question = ShapesQuestion {
        models: &models,
        tokens: &tokens,
        emulated: Some(ProductTimes { clock: &clock, tiles: 5 }),
        ..question(Operation::Moe, TuneFor::Vllm, &[])
    };
    let found = tune_shapes(&question).unwrap();
    let launches = clock.0.borrow();
    // Two products of at most five tiles and five settings for each of two shapes.
    assert!((20..=40).contains(&launches.len()), "{}", launches.len());
    for it in launches.iter() {
        let size = |name: &str| it.parameters.iter().find(|other| other.0 == name).unwrap().1 as u64;
        let workgroups =
            it.experts * it.rows.div_ceil(size("BLOCK_SIZE_M")) * it.n.div_ceil(size("BLOCK_SIZE_N"));
        assert!(workgroups <= 608 && it.depths.len() <= 2, "{it:?}");
        assert!(it.depths.iter().all(|depth| *depth <= 16 * size("BLOCK_SIZE_K")), "{it:?}");
        // Rows begin at the same channels as those of 4,096 and 14,336 halves.
        assert!([4096, 14336].iter().any(|k| (k - it.stride) % 2048 == 0), "{it:?}");
    }
    let all = entries(&found.files[0].1);
    for rows in ["1", "512"] {
        assert_eq!(all[rows]["kpack"], 1, "{all}");
    }
    let table = &found.answer.tables[0];
    let place = |key: &str| table.columns.iter().position(|it| it.key == key).unwrap();
    for row in &table.rows {
        let time = |key: &str| row.cells[place(key)].number().unwrap();
        assert!(time("emulated_us") <= time("tile_choice_us"), "{row:?}");
    }
}

#[test]
fn what_the_emulated_clock_cannot_time_is_said_and_tiles_have_the_models_choice() {
    let models = model();
    let tokens = [16];
    let clock = Clock::default();
    let emulated = Some(ProductTimes { clock: &clock, tiles: 2 });
    let narrow = Some("int4_w4a16");
    let question = |emulated| ShapesQuestion {
        models: &models,
        tokens: &tokens,
        dtype: narrow,
        emulated,
        ..question(Operation::Moe, TuneFor::Vllm, &[])
    };
    let (with, without) = (tune_shapes(&question(emulated)).unwrap(), tune_shapes(&question(None)).unwrap());
    assert_eq!(with.files, without.files);
    assert!(clock.0.borrow().is_empty());
    golden("no emulated time", &with.answer.notes);
}

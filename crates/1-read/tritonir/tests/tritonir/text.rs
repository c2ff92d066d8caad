//! Texts of our own: spellings, dumps of passes, what is wrong with broken ones.

use rockhound_tritonir::{Exchange, Form, KernelIr, Layout, Source, kernels, linear, read, recognise};

const COPY: &str = include_str!("../copy.ttgir");

fn first(text: &str) -> KernelIr {
    let dump = read(text).expect("readable");
    kernels(&dump.modules[0], None).remove(0)
}

#[test]
fn unknown_operations_are_kept_with_operands_and_types() {
    let dump = read(COPY).expect("readable");
    let function = &dump.modules[0].functions[0];
    let at = function.named("brand_new").next().expect("kept");
    let op = &function.ops[at];
    assert_eq!((op.name, op.attribute("mode")), ("future.brand_new", Some("\"fast, {odd}\"")));
    assert_eq!(op.line, 13);
    assert_eq!(function.operands(at).len(), 2);
    assert!(function.operands(at).iter().all(Option::is_some));
    let types: Vec<String> = dump.modules[0]
        .operand_types(function, at)
        .map(|it| it.tensor().expect("a tensor").text.clone())
        .collect();
    assert_eq!(types, ["256xf32", "256xf32"]);
    assert_eq!(
        dump.modules[0].result_type(function, at).and_then(|it| it.tensor()).expect("one").text,
        "256xf16"
    );
}

#[test]
fn values_know_where_they_come_from() {
    let dump = read(COPY).expect("readable");
    let function = &dump.modules[0].functions[0];
    let add = function.named("addf").next().expect("an addition");
    let [Some(carried), Some(loaded)] = function.operands(add) else { panic!("two operands") };
    assert!(matches!(function.values[*carried].source, Source::Block { index: 1, .. }));
    assert!(matches!(function.values[*loaded].source, Source::Result(..)));
    // The sum after the loop is the loop's second result.
    let store = function.named("store").next().expect("a store");
    let stored = function.operand(store, 1).expect("a value");
    assert!(matches!(function.values[stored].source, Source::Result(_, 1)), "{:?}", function.values[stored]);
}

#[test]
fn locations_lead_to_the_line_of_the_kernel() {
    let dump = read(COPY).expect("readable");
    let module = &dump.modules[0];
    let function = &module.functions[0];
    let load = function.named("load").next().expect("a load");
    let location = module.location(function, load);
    assert_eq!(location.name, Some("x"));
    let lines: Vec<(&str, u32)> = location.frames.iter().map(|it| (it.file, it.line)).collect();
    assert_eq!(lines, [("library.py", 7), ("copy.py", 4)]);
    assert_eq!(location.kernel_line().map(|it| it.line), Some(4));
    assert_eq!(module.function_location(function).kernel_line().map(|it| it.line), Some(1));
}

#[test]
fn a_kernel_summed_up() {
    let it = first(COPY);
    assert_eq!((it.name.as_str(), it.form), ("copy", Form::Ttgir));
    assert_eq!(it.processor.as_deref(), Some("gfx90a"));
    assert_eq!(it.loops.len(), 1);
    let main = &it.loops[0];
    assert_eq!(main.trips(), Some(8));
    assert_eq!((main.prefetch(), main.pipelined()), (Some(0), false));
    assert_eq!(it.accesses[0].width, Some(16));
    assert_eq!(it.accesses[0].base.as_deref(), Some("x"));
    assert!(!it.accesses[0].indirect);
    assert_eq!(it.lds.total, Ok(0));
}

#[test]
fn dumps_of_passes_are_modules_with_names() {
    let header = "// -----// IR Dump Before TritonGPUCoalesce (tritongpu-coalesce) ('builtin.module' operation) //----- //";
    let after =
        "// -----// IR Dump After Canonicalizer (canonicalize) ('builtin.module' operation) //----- //";
    let log = format!("warning: something\n{header}\n{COPY}\n\n\n{after}\n{COPY}noise (1 of 2)\n");
    let dump = read(&log).expect("readable");
    let passes: Vec<(bool, &str, Option<&str>)> = dump
        .modules
        .iter()
        .map(|it| it.pass.map(|it| (it.after, it.name, it.argument)).expect("a pass"))
        .collect();
    assert_eq!(
        passes,
        [
            (false, "TritonGPUCoalesce", Some("tritongpu-coalesce")),
            (true, "Canonicalizer", Some("canonicalize"))
        ]
    );
    // Each has its own aliases, those after it too.
    for module in &dump.modules {
        let function = &module.functions[0];
        let load = function.named("load").next().expect("a load");
        assert_eq!(module.location(function, load).kernel_line().map(|it| it.line), Some(4));
    }
    let twice = format!("{COPY}{COPY}");
    assert_eq!(read(&twice).expect("readable").modules.len(), 2);
}

#[test]
fn layouts_and_what_a_lane_holds() {
    let parse = |text: &str| {
        let module = format!(
            "#a = {text}\nmodule {{\n  tt.func public @f(%x: tensor<128x128xf16, #a>) {{\n    tt.return\n  }}\n}}\n"
        );
        let dump = read(&module).expect("readable");
        let value = dump.modules[0].functions[0].parameters[0].value;
        let ty = dump.modules[0].type_of(&dump.modules[0].functions[0], value).expect("a type").clone();
        ty.tensor().expect("a tensor").layout.as_deref().cloned().expect("a layout")
    };
    let mfma =
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>";
    for (text, per_lane, along_n, waves) in [
        (
            "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
            64,
            8,
            [4, 1],
        ),
        (mfma, 64, 4, [2, 2]),
        (
            "#triton_gpu.amd_mfma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 16], isTransposed = false}>",
            64,
            1,
            [4, 1],
        ),
    ] {
        let layout = parse(text);
        let bases = linear(&layout, &[128, 128]).expect(text);
        assert_eq!(bases.elements_per_lane(), per_lane, "{text}");
        assert_eq!(bases.contiguous(1), along_n, "{text}");
        assert_eq!([bases.waves_along(0), bases.waves_along(1)], waves, "{text}");
        // Registers, lanes and waves together cover the tensor once.
        let bits = bases.register.len() + bases.lane.len() + bases.warp.len();
        assert_eq!(bits, 14, "{text}");
    }
    let padded = parse("#ttg.padded_shared<[512:+8, 1024:+16] {order = [1, 0], shape = [128, 128]}>");
    assert_eq!(padded, Layout::Padded { padding: vec![(512, 8), (1024, 16)] });
    assert_eq!(parse("#ttg.nvmma_shared<{swizzlingByteWidth = 128}>").kind(), "nvmma_shared");
}

#[test]
fn conversions_by_what_they_move() {
    let mfma =
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>";
    let dot = |width: u32| format!("#ttg.dot_op<{{opIdx = 0, parent = {mfma}, kWidth = {width}}}>");
    let rows = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
    let narrow = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>";
    for (from, to, expected) in [
        (mfma, dot(4).as_str(), Exchange::Nothing),
        (mfma, dot(8).as_str(), Exchange::Lanes),
        (rows, narrow, Exchange::Lds(Some(64 * 64 * 2 / 2))),
        (mfma, rows, Exchange::Lds(Some(64 * 64 * 2))),
    ] {
        let module = format!(
            "module {{\n  tt.func public @f(%x: tensor<64x64xf16, {from}>) {{\n    %y = ttg.convert_layout %x : tensor<64x64xf16, {from}> -> tensor<64x64xf16, {to}>\n    tt.return\n  }}\n}}\n"
        );
        let it = first(&module);
        assert_eq!(it.conversions.len(), 1);
        match (&it.conversions[0].exchange, &expected) {
            (Exchange::Lds(_), Exchange::Lds(_)) => {}
            (found, expected) => assert_eq!(found, expected, "{from} -> {to}"),
        }
    }
}

#[test]
fn the_age_of_a_compiler_shows_in_its_spelling() {
    let of = |version: &str, to: &str| {
        let mma = format!("#ttg.amd_mfma<{{{version}, warpsPerCTA = [4, 1], isTransposed = true}}>");
        let text = format!(
            "#mma = {mma}\n#rows = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}}>\n\
             module {{\n  tt.func public @f(%arg0: tensor<64x64xf16, #mma>) {{\n    \
             %0 = ttg.convert_layout %arg0 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, {to}>\n    tt.return\n  }}\n}}\n"
        );
        first(&text).lds.total
    };
    // Old compilers pad rows.
    assert_eq!(of("versionMajor = 3, versionMinor = 0, instrShape = [32, 32]", "#rows"), Ok(9216));
    assert_eq!(of("version = 3, instrShape = [32, 32, 8]", "#rows"), Ok(8192));
}

#[test]
fn rows_without_gaps_are_one_row() {
    let of = |stride: &str| {
        let text = format!(
            "#b = #ttg.blocked<{{sizePerThread = [1, 8], threadsPerWarp = [16, 4], warpsPerCTA = [4, 1], order = [1, 0]}}>\n\
             module {{\n  tt.func public @f(%x: !tt.ptr<f16>, %rows: tensor<64x1xi32, #b>, %columns: tensor<64x32xi32, #b>, %n: tensor<64x1xi32, #b>) {{\n    \
             %c = arith.constant dense<32> : tensor<64x1xi32, #b>\n    %d = arith.constant dense<48> : tensor<64x1xi32, #b>\n    \
             %0 = arith.muli %rows, {stride} : tensor<64x1xi32, #b>\n    \
             %1 = tt.broadcast %0 : tensor<64x1xi32, #b> -> tensor<64x32xi32, #b>\n    \
             %2 = arith.addi %1, %columns : tensor<64x32xi32, #b>\n    \
             %3 = amdg.buffer_load %x[%2] : tensor<64x32xf16, #b>\n    tt.return\n  }}\n}}\n"
        );
        first(&text).accesses[0].row_bytes
    };
    assert_eq!([of("%c"), of("%d"), of("%n")], [Some(64 * 64), Some(64), Some(64)]);
}

#[test]
fn broken_texts_say_where() {
    for text in [
        "",
        "hello\nworld\n",
        "module {\n",
        "module {\n  tt.func public @f() {\n    tt.return\n",
        "module {\n  tt.func public @f(%x: tensor<4xf32) {\n",
        "module {\n  tt.func public @f() {\n    %a \n  }\n}\n",
        "module {\n  tt.func public @f() {\n    %a:x = tt.y\n  }\n}\n",
        "module {\n  tt.func public @f() {\n    \"open\n  }\n}\n",
        "\"builtin.module\"() ({\n}) : () -> ()\n",
    ] {
        testkit::golden(&format!("{text:?}"), &read(text).expect_err(text).to_string());
    }
    let deep = format!("module {{\n  tt.func public @f() {{\n{}", "x.y {\n".repeat(100));
    testkit::golden("100 regions", &read(&deep).expect_err("too deep").to_string());
}

#[test]
fn recognised_by_content() {
    assert!(recognise(COPY.as_bytes()));
    assert!(!recognise(b"\0\0 tt.func module"));
    assert!(!recognise(b"module load rocm\n"));
    let lowered = "module {\n  llvm.func @f(%p: !llvm.ptr) {\n    llvm.return\n  }\n}\n";
    assert!(recognise(lowered.as_bytes()));
    assert_eq!(first(lowered).form, Form::Llvm);
}

#[test]
fn every_truncation_and_thousands_of_mutations_are_read_or_refused() {
    for end in 0..COPY.len() {
        if COPY.is_char_boundary(end)
            && let Ok(dump) = read(&COPY[..end])
        {
            dump.modules.iter().for_each(|it| drop(kernels(it, None)));
        }
    }
    let mut random = testkit::Random(25);
    let pieces = [
        "{",
        "}",
        "(",
        ")",
        "<",
        ">",
        "\"",
        "%",
        ":",
        "->",
        "\n",
        "#",
        "loc(",
        "0",
        "99999999999",
        " = ",
        ",",
    ];
    for _ in 0..4000 {
        let mut bytes = COPY.as_bytes().to_vec();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            let piece = pieces[random.below(pieces.len())].as_bytes();
            match random.below(3) {
                0 => drop(bytes.splice(at..at, piece.iter().copied())),
                1 => drop(bytes.splice(at..(at + 1 + random.below(20)).min(bytes.len()), [])),
                _ => drop(bytes.splice(at..at + 1, piece.iter().copied())),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(dump) = read(&text) {
            dump.modules.iter().for_each(|it| drop(kernels(it, None)));
        }
    }
}

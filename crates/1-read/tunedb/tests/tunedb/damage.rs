//! Damaged files: cut at every byte, and changed at random.
//!
//! A reader may refuse, and it may report flaws, but it neither panics nor loses bytes.

use rockhound_tunedb::read;
use testkit::Random;

/// One small file of each format, made for this test.
const FILES: [(&str, &str); 30] = [
    (
        "tunableop_results0.csv",
        "Validator,PT_VERSION,2.9.1\nGemmTunableOp_Half_TN,tn_16_8_4_ld_4_4_16,Gemm_Rocblas_7,0.5\nScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_8_8_8_ld_8_8_8_rw_1_bias_None,Default,inf\n",
    ),
    ("tunableop_untuned0.csv", "GemmStridedBatchedTunableOp_float_NN,nn_64_128_128_B_96_ld_64_128_64\n"),
    ("verbose.log", "Validator PT_VERSION=2.9.1\nGemmTunableOp_Half_TN(tn_16_8_4) -> Default,0.04\n"),
    (
        "bench.log",
        "[0]:transA,transB,batch_count,m,n,k,a_type,b_type,compute_type,hipblaslt-Gflops,us\n    T,N,1,16,8,4,f16_r,f16_r,f32_r,403.2,10.4\n    --Solution index: 12\n    --Solution name:  Cijk\n",
    ),
    (
        "tuning.txt",
        "Git Version: 7d9f\n    transA,transB,batch_count,m,n,k,a_type,b_type,c_type,compute_type,us,solution_index,gcnArchName,CUs\n    T,N,1,5,6,7,f32_r,f32_r,f32_r,f32_r,29.3,532,gfx942:xnack-,304\n",
    ),
    (
        "problems.log",
        "hipblaslt-bench --api_method c -m 1024 -n 512 -k 1024 --lda 1024 --transA N --transB T --a_type f16_r --b_type f16_r --solution_index 5\n",
    ),
    (
        "find.yaml",
        "Bench:\n  ProblemType:\n    DataTypeA: s\n    TransposeA: 0\n  ProblemSizes:\n  - [128, 128, 1, 128]\nCreateLogic: {}\n",
    ),
    (
        "config.yaml",
        "BenchmarkProblems:\n  -\n    - DataType: h\n      TransposeA: True\n    - ForkParameters:\n        - DepthU: [8, 16]\n      BenchmarkFinalParameters:\n        - ProblemSizes:\n          - Exact: [1, 2, 3, 4]\n",
    ),
    (
        "set.yaml",
        "Tests:\n- name: a\n  matrix_size:\n    - { M: 16, N: 16, K: 1024 }\n  transA: N\n  transB: T\n",
    ),
    ("data.csv", "GFlops, SizeI, SizeJ, SizeK, SizeL, TotalFlops, KernelA\n0, 8, 8, 1, 8, 1024, 4.5\n"),
    (
        "client.log",
        "run,problem-progress,solution-progress,operation,problem-sizes,solution,validation,time-us,gflops\n0,0/0,0/1,Contraction,\"(512,128,1,256)\",Kernel0,PASSED,10.0,1000.0\n",
    ),
    (
        "logic.yaml",
        "- {MinimumRequiredVersion: 4.33.0}\n- aldebaran\n- {Architecture: gfx90a, CUCount: 104}\n- [Device 0050]\n- DataType: 4\n  TransposeA: 1\n- - DepthU: 16\n    MIBlock: [32, 32,\n      8]\n    SolutionIndex: 0\n  - DepthU: 32\n    SolutionIndex: 1\n- [2, 3, 0, 1]\n- - - [4096, 4096, 16, 40] # [of the model]\n    - [0, 39519.9]\n  # - [1, 2, 3, 4]\n  - - [77, 4096, 16, 40]\n    - [1, 0.0]\n- null\n- null\n- DeviceEfficiency\n- Equality\n",
    ),
    (
        "logic-map.yaml",
        "MinimumRequiredVersion: 5.0.0\nScheduleName: gfx1250\nArchitectureName: gfx1250\nCUCount: null\nDeviceNames: [Device 73f0]\nProblemType:\n  DataType: 15\nDefaultSolution:\n  DepthU: -1\nSolutions:\n- SolutionIndex: 0\n  KernelNameMin: C\nIndexOrder: [2, 3]\nExactLogic:\n- - [1, 2, 3, 4]\n  - [0, 36.2]\nRangeLogic: null\nTileSelectionIndices: null\nPerfMetric: DeviceEfficiency\nLibraryType: Equality\n",
    ),
    (
        "gfx942130.HIP.fdb.txt",
        "16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=SolverA:0.05,137,miopenConvolutionBwdDataAlgoGEMM;SolverB:0.06,0,miopenConvolutionBwdDataAlgoDirect\n",
    ),
    ("gfx942130.db.txt", "16-13-13-1x1-5-13-13-16-0x0-1x1-1x1-0-NCHW-FP16-B=SolverA:1,2,<3>;SolverB:\n"),
    (
        "driver.log",
        "./bin/MIOpenDriver convfp16 -n 1 -c 256\nGPU Kernel Time Forward Conv. Elapsed: 0.029036 ms (average)\nMIOpen(HIP): Warning [GenericSearch] Done: 390/0/390, best #92 0.0129 1,8\n",
    ),
    (
        "a8w8_tuned_gemm.csv",
        "gfx,cu_num,M,N,K,q_dtype_w,kernelId,splitK,us,kernelName,tflops,bw,errRatio\ngfx942,80,1,1280,8192,torch.int8,34,0,20.5611,kernel,1.02,510.5,0.0\n",
    ),
    (
        "gfx942-GEMM-A16W16.json",
        "{\"M_LEQ_64\": {\"BLOCK_SIZE_M\": 64, \"num_warps\": 4}, \"any\": {\"BLOCK_SIZE_M\": 128}}\n",
    ),
    (
        "E=8,N=14336,device_name=AMD_Instinct_MI300X.json",
        "{\"triton_version\": \"3.4.0\", \"1\": {\"BLOCK_SIZE_M\": 16, \"num_warps\": 2}, \"2\": {\"BLOCK_SIZE_M\": 16}}\n",
    ),
    (
        "N=576,K=7168,device_name=X,dtype=fp8_w8a8,block_shape=[128,128].json",
        "{\"1\": {\"BLOCK_SIZE_M\": 16, \"num_warps\": 2}, \"64\": {\"BLOCK_SIZE_M\": 64}}\n",
    ),
    (
        "k.autotune.json",
        "{\"key\": [\"4096\"], \"configs_timings\": [[{\"kwargs\": {\"BLOCK_M\": 256}, \"num_warps\": 8}, [0.28, 0.27, Infinity]], [{\"kwargs\": {}}, 0.5]]}",
    ),
    (
        "server.log",
        "(Worker_TP1 pid=7) [aiter] shape is M:8, N:32, K:64 dtype='torch.bfloat16' bias=False, not found tuned config in /tmp/bf16_tuned_gemm.csv, will use default config!\n[fused_moe] using 2stage default for (304, 64, 4096, 1536, 256, 6)\nConfig file not found at /a/E=72,N=768,device_name=X.json\n",
    ),
    (
        "profile.yaml",
        "- { function: matmul, M: 96, N: 8, K: 64, lda: 64, ldb: 64, ldc: 96, ldd: 96, transA: T, transB: N, a_type: f16_r, b_type: f16_r, call_count: 12 }\n",
    ),
    (
        "rocblas.log",
        "./rocblas-bench -f gemm_ex --transposeA N --transposeB T -m 96 -n 8 -k 64 --a_type f16_r --lda 96 --b_type f16_r --ldb 8\n",
    ),
    (
        "rb.csv",
        "transA,transB,M,N,K,alpha,lda,beta,ldb,ldc,ldd,batch_count,rocblas-Gflops,rocblas-GB/s,us,solution_index\nN,N,512,64,256,1,512,0,256,512,512,1,400.5,7.1,41.9,0\n",
    ),
    (
        "override.csv",
        "transA,transB,M,N,batch_count,K,alpha,beta,lda,ldb,ldc,input_type,output_type,compute_type,solution_index\nN,T,512,64,2,256,1,0,512,64,512,f16_r,f16_r,f32_r,18743\n",
    ),
    (
        "ck.txt",
        "a_m_k: dim 2, lengths {512, 64}, strides {64, 1}\nPerf:   0.0223 ms, 615.46 TFlops, 450.776 GB/s, DeviceA\nBest Perf for datatype = bf16 ALayout = RowMajor BLayout = ColumnMajor M = 512 N = 256 K = 64 : 0.0223 ms, 615.46 TFlops, 450.776 GB/s, DeviceA\n",
    ),
    ("shapes.txt", "# model\nM N K\n4096 16 7168\n8x16x32 TN bf16\n"),
    (
        "kernel_tuner.json",
        "{\n\"device_name\": \"AMD Instinct MI210\",\n\"kernel_name\": \"add\",\n\"problem_size\": [64, 1],\n\"tune_params_keys\": [\"x\", \"y\"],\n\"tune_params\": {\"x\": [1, 2], \"y\": [\"a\", \"b\", \"c\"]},\n\"cache\": {\n\"1,a\": {\"x\": 1, \"y\": \"a\", \"time\": 2.0, \"times\": [1.5, 2.5], \"compile_time\": 9, \"GFLOP/s\": 1500.0},\n\"2,a\": {\"x\": 2, \"y\": \"a\", \"time\": \"CompilationFailedConfig\", \"compile_time\": 7},\n\"1,b\": {\"x\": 1, \"y\": \"b\", \"time\": \"RuntimeFailedConfig\"},\n\"1,c\": {\"x\": 1, \"y\": \"c\", \"time\": 1.0, \"times\": [1.0]}}}\n",
    ),
    (
        "t4.json",
        "{\"metadata\": {\"timeunit\": \"milliseconds\"}, \"schema_version\": \"1.0.0\", \"results\": [\n{\"configuration\": {\"x\": 1, \"y\": \"a\"}, \"times\": {\"compilation\": 9, \"runtimes\": [1.5, 2.5]}, \"invalidity\": \"correct\", \"correctness\": 1, \"measurements\": [{\"name\": \"time\", \"value\": 2.0, \"unit\": \"\"}], \"objectives\": [\"time\"]},\n{\"configuration\": {\"x\": 2, \"y\": \"a\"}, \"times\": {\"compilation\": 7}, \"invalidity\": \"compile\", \"correctness\": 0, \"measurements\": [{\"name\": \"time\", \"value\": \"CompilationFailedConfig\"}], \"objectives\": [\"time\"]},\n{\"configuration\": {\"x\": 1, \"y\": \"b\"}, \"times\": {\"runtimes\": [3]}, \"invalidity\": \"correct\", \"correctness\": 0, \"measurements\": [{\"name\": \"time\", \"value\": 3.0}], \"objectives\": [\"time\"]},\n{\"configuration\": {\"x\": 1, \"y\": \"a\"}, \"times\": {\"runtimes\": [2]}, \"invalidity\": \"correct\", \"correctness\": 1, \"measurements\": [{\"name\": \"time\", \"value\": 2.1}], \"objectives\": [\"time\"]}]}",
    ),
];

fn check(name: &str, bytes: &[u8]) -> usize {
    match read(name, bytes) {
        Ok(tunings) => {
            assert_eq!(tunings.write(), bytes, "{name}");
            if tunings.format == rockhound_tunedb::Format::AiterJson {
                let base = b"{\"M_LEQ_16\": {\"BLOCK_SIZE_M\": 16}, \"any\": {\"BLOCK_SIZE_M\": 32}}";
                for merged in [(bytes, bytes), (&base[..], bytes), (bytes, &base[..])]
                    .map(|(a, b)| rockhound_tunedb::aiter_config::merged(a, b, &|path| path.len() % 2 == 0))
                {
                    let Ok(merged) = merged else { continue };
                    assert!(read(name, &merged).is_ok(), "{}", String::from_utf8_lossy(&merged));
                }
            }
            assert!(tunings.rows.iter().all(|row| row.span.end <= bytes.len()), "{name}");
            tunings.rows.len()
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            0
        }
    }
}

#[test]
fn small_files_of_every_format_have_rows() {
    for (name, text) in FILES {
        assert!(check(name, text.as_bytes()) > 0, "{name}");
    }
}

#[test]
fn files_cut_at_every_byte() {
    for (name, text) in FILES {
        for end in 0..text.len() {
            check(name, &text.as_bytes()[..end]);
        }
    }
}

#[test]
fn files_changed_at_random() {
    let mut random = Random(26);
    for (name, text) in FILES {
        for _ in 0..600 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len());
                match random.below(5) {
                    0 => bytes[at] = random.next() as u8,
                    1 => drop(bytes.remove(at)),
                    2 => bytes.insert(at, b"\n\r,;:=-[]{}\"' *&0\xff"[random.below(18)]),
                    3 => {
                        let from = random.below(bytes.len());
                        let (from, to) = (from.min(at), from.max(at));
                        let piece = bytes[from..to].to_vec();
                        bytes.splice(at..at, piece);
                    }
                    _ => bytes.truncate(at.max(1)),
                }
                if bytes.is_empty() {
                    bytes.push(b'\n');
                }
            }
            check(name, &bytes);
        }
    }
}

#[test]
fn bombs_are_refused() {
    let mut yaml = String::from("Bench:\n  b0: &b0 [x, x, x, x]\n");
    for level in 1..20 {
        let alias = format!("*b{}", level - 1);
        yaml.push_str(&format!("  b{level}: &b{level} [{alias}, {alias}, {alias}, {alias}]\n"));
    }
    let error = read("bomb.yaml", yaml.as_bytes()).unwrap_err();
    assert!(error.message.contains("alias"), "{error}");
    let deep = format!("Bench:\n  a: {}", "[".repeat(5_000));
    assert!(read("deep.yaml", deep.as_bytes()).is_err());
    let deep = format!("{{\"a\": {}", "[".repeat(100_000));
    assert!(read("deep.json", deep.as_bytes()).is_err());
    // Many small things: each is refused before it takes memory in proportion.
    let lines = |head: &str, line: &str, count: usize| format!("{head}{}", line.repeat(count));
    let results = "Validator,PT_VERSION,2.9.1\n";
    let aiter = "gfx,cu_num,M,N,K,q_dtype_w,kernelId,splitK,us,kernelName,tflops,bw,errRatio\n";
    let parts = FILES[11].1.lines().next().unwrap().to_owned() + "\n";
    let mut said = String::new();
    for (name, text) in [
        ("tunableop_results0.csv", lines(results, "\n", 3_100_000)),
        ("a8w8_tuned_gemm.csv", lines(aiter, "\n", 3_100_000)),
        ("tunableop_results0.csv", lines(results, "Validator,a,b\n", 100_001)),
        ("logic.yaml", lines(&parts, "- x\n", 1_000)),
        ("many.json", format!("{{\"any\": [{}0]}}", "0,".repeat(3_000_001))),
    ] {
        said += &format!("{name}: {}\n", read(name, text.as_bytes()).unwrap_err());
    }
    let record = FILES[14].1.trim_end().to_owned();
    let solvers: Vec<String> = (0..2_000).map(|at| format!("S{at}:1")).collect();
    let text = format!("{record}{}\n", solvers.join(";"));
    let file = read("gfx942130.db.txt", text.as_bytes()).unwrap();
    assert!(file.rows.len() == 1000 && file.spoiled(1).is_some(), "{}", file.rows.len());
    let logic = FILES[11].1.replace("DepthU: 16", "DepthU: *anchor");
    said += &format!("no anchor: {}\n", read("logic.yaml", logic.as_bytes()).unwrap_err());
    let long = format!("DepthU: &a [{}]", "1, ".repeat(200));
    let error = read("logic.yaml", FILES[11].1.replace("DepthU: 16", &long).as_bytes()).unwrap_err();
    said += &format!("a long value: {error}\n");
    let mut nested = String::from("Bench:\n  a0: &a0 [x]\n");
    for level in 1..60 {
        nested.push_str(&format!("  a{level}: &a{level} [*a{}]\n", level - 1));
    }
    said += &format!("nested anchors: {}\n", read("deep.yaml", nested.as_bytes()).unwrap_err());
    testkit::golden("too much", &said);
}

#[test]
fn times_that_are_no_measurements_have_a_reason() {
    use rockhound_tunedb::time::{INFINITE, NAN, NEGATIVE, NO_NUMBER, ZERO};
    // A file of every format with times, and the word in it that is the time.
    for (name, time) in [
        ("tunableop_results0.csv", ",0.5"),
        ("verbose.log", ",0.04"),
        ("bench.log", ",10.4"),
        ("tuning.txt", ",29.3"),
        ("client.log", ",10.0"),
        ("gfx942130.HIP.fdb.txt", ":0.05"),
        ("a8w8_tuned_gemm.csv", ",20.5611"),
        ("k.autotune.json", "[0.28"),
    ] {
        let text = FILES.iter().find(|it| it.0 == name).unwrap().1;
        for (written, reason) in [
            ("nan", Some(NAN)),
            ("NaN", Some(NAN)),
            ("inf", Some(INFINITE)),
            ("-Infinity", None),
            ("-1.5", Some(NEGATIVE)),
            ("0", Some(ZERO)),
            ("1e999", Some(INFINITE)),
            ("-0.0", Some(ZERO)),
            ("abc", Some(NO_NUMBER)),
        ] {
            let changed = text.replacen(time, &format!("{}{written}", &time[..1]), 1);
            let Ok(tunings) = read(name, changed.as_bytes()) else {
                // JSON that is none is refused whole.
                assert!(
                    name.ends_with(".json") && ["nan", "inf", "abc"].contains(&written),
                    "{name} {written}"
                );
                continue;
            };
            assert_eq!(tunings.write(), changed.as_bytes());
            let found = tunings.rows[0].time_us.unwrap_err();
            assert!(reason.is_none_or(|it| it == found), "{name} {written}: {found}");
            assert!(tunings.rows.iter().all(|row| row.time_us.is_ok_and(|us| us > 0.0 && us.is_finite()) || row.time_us.is_err()));
        }
    }
}

#[test]
fn broken_databases_are_refused() {
    let mut bytes = b"SQLite format 3\0".to_vec();
    bytes.extend(std::iter::repeat_n(0x41, 8192));
    testkit::golden("a broken database", &read("gfx942130.db", &bytes).unwrap_err().to_string());
}

/// Every page of a database is damaged in turn.
#[test]
fn databases_with_broken_pages() {
    let db = rusqlite::Connection::open_in_memory().unwrap();
    let sizes = "in_channels in_d in_h in_w fil_d fil_h fil_w out_channels batchsize pad_d pad_h pad_w conv_stride_d conv_stride_h conv_stride_w dilation_d dilation_h dilation_w bias group_count spatial_dim";
    let columns: Vec<String> = sizes.split(' ').map(|it| format!("{it} INT NOT NULL DEFAULT 1")).collect();
    db.execute_batch(&format!(
        "PRAGMA page_size = 512; CREATE TABLE config (id INTEGER PRIMARY KEY ASC, layout TEXT NOT NULL DEFAULT 'NCHW',
         data_type TEXT NOT NULL DEFAULT 'FP16', direction TEXT NOT NULL DEFAULT 'F', {});
         CREATE TABLE perf_db (id INTEGER PRIMARY KEY ASC, solver TEXT NOT NULL, config INTEGER NOT NULL, params TEXT NOT NULL);",
        columns.join(", ")
    ))
    .unwrap();
    for at in 0..60 {
        db.execute("INSERT INTO config (in_channels) VALUES (?1)", [at]).unwrap();
        db.execute("INSERT INTO perf_db (solver, config, params) VALUES ('S', ?1, '1,2,3')", [at + 1])
            .unwrap();
    }
    let bytes = db.serialize("main").unwrap().to_vec();
    assert_eq!(check("gfx942130.db", &bytes), 60);
    let mut random = Random(28);
    let (mut refused, mut whole) = (0, 0);
    for page in 0..bytes.len() / 512 {
        for round in 0..4 {
            let mut broken = bytes.clone();
            let place = &mut broken[page * 512..(page + 1) * 512];
            match round {
                0 => place.fill(0xff),
                1 => place.fill(0),
                // The head of a page says where its cells are.
                _ => place[..12].iter_mut().for_each(|byte| *byte = random.next() as u8),
            }
            match check("gfx942130.db", &broken) {
                60 => whole += 1,
                _ => refused += 1,
            }
        }
    }
    assert!(refused > 20, "{refused} refused or shortened, {whole} whole");
}

/// Sizes have 32 bits here; what a file says beyond that is not cut, and not taken for something else.
#[test]
fn sizes_of_2_to_the_32_are_named() {
    let files = [
        (
            "tunableop.csv",
            "Validator,PT_VERSION,2.8.0\nGemmTunableOp_Half_TN,tn_{}_16_1280_ld_1280_1280_{},Default,0.1\n",
        ),
        (
            "bench.txt",
            "[0]:transA,transB,grouped_gemm,batch_count,m,n,k,lda,ldb,ldc,ldd,a_type,b_type,compute_type,us\n    N,N,0,{},{},16,32,16,16,16,16,f16_r,f16_r,f32_r,9\n",
        ),
        ("list.txt", "{},16,32\n"),
        (
            "log.txt",
            "hipblaslt-bench --api_method c -m {} -n 16 -k 32 --lda 16 --ldb 16 --ldc 16 --ldd 16 --transA N --transB N --batch_count 1 --a_type f16_r --compute_type f32_r\n",
        ),
    ];
    for (name, text) in files {
        for (size, expected) in [("4294967295", Ok(())), ("4294967296", Err("a size is 2^32 or more"))] {
            let text = text.replace("{}", size);
            let read = rockhound_tunedb::read(name, text.as_bytes()).unwrap();
            let [row] = &read.rows[..] else { panic!("{name}: {:?}", read.rows) };
            assert_eq!(row.shape.as_ref().map(drop).map_err(|why| *why), expected, "{name} {size}");
        }
    }
}

//! Problems of every source in one list, and as the input of every tuner.

use super::*;
use tunedb::read;

/// One product, as five programs write it: PyTorch's 8 x 32 x 64 with the second matrix as its transpose.
const SOURCES: [(&str, &str); 5] = [
    (
        "server.log",
        "(Worker_TP0 pid=1) [aiter] shape is M:8, N:32, K:64 dtype='torch.bfloat16' otype='torch.bfloat16' bias=False, scaleAB=False, bpreshuffle=False, not found tuned config in /tmp/bf16_tuned_gemm.csv, will use default config!\n\
         (Worker_TP1 pid=2) [aiter] shape is M:8, N:32, K:64 dtype='torch.bfloat16' otype='torch.bfloat16' bias=False, scaleAB=False, bpreshuffle=False, not found tuned config in /tmp/bf16_tuned_gemm.csv, will use default config!\n",
    ),
    (
        "profile.yaml",
        "- { function: matmul, M: 32, N: 8, K: 64, lda: 64, ldb: 64, ldc: 32, ldd: 32, transA: T, transB: N, batch_count: 1, a_type: bf16_r, b_type: bf16_r, compute_type: c_f32_r, call_count: 5 }\n",
    ),
    (
        "bench.log",
        "hipblaslt-bench -m 32 -n 8 -k 64 --lda 64 --ldb 64 --ldc 32 --ldd 32 --transA T --transB N --a_type bf16_r --b_type bf16_r --batch_count 1\n",
    ),
    ("untuned.csv", "GemmTunableOp_BFloat16_TN,tn_32_8_64_ld_64_64_32\n"),
    ("list.txt", "8 32 64 NT bf16\n"),
];

fn text(files: &[Tunings<'_>], to: ShapesTo) -> String {
    let written = write(files, to).unwrap();
    let texts =
        written.files.iter().map(|(name, bytes)| format!("{name}\n{}", String::from_utf8_lossy(bytes)));
    texts.collect()
}

#[test]
fn every_source_gives_the_same_input_for_a_tuner() {
    let geko = |calls: u64| {
        format!(
            "problems.yaml\n- {{ function: matmul, M: 32, N: 8, K: 64, lda: 64, ldb: 64, ldc: 32, ldd: 32, transA: T, transB: N, \
             batch_count: 1, a_type: bf16_r, b_type: bf16_r, c_type: bf16_r, d_type: bf16_r, scale_type: f32_r, compute_type: c_f32_r, \
             call_count: {calls} }}\n"
        )
    };
    for ((name, source), calls) in SOURCES.into_iter().zip([2, 5, 1, 1, 1]) {
        let files = [read(name, source.as_bytes()).unwrap()];
        assert_eq!(text(&files, ShapesTo::Geko), geko(calls), "{name}");
        assert_eq!(
            text(&files, ShapesTo::TunableOp),
            "tunableop_untuned0.csv\nGemmTunableOp_BFloat16_TN,tn_32_8_64_ld_64_64_32\n",
            "{name}"
        );
        assert_eq!(
            text(&files, ShapesTo::Aiter),
            "bf16_untuned_gemm.csv\nM,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle\n8,32,64,False,torch.bfloat16,torch.bfloat16,False,False\n",
            "{name}"
        );
        assert!(
            text(&files, ShapesTo::HipblasltBench).starts_with(
                "problems.sh\nhipblaslt-bench -m 32 -n 8 -k 64 --transA T --transB N --batch_count 1 --lda 64 --ldb 64 --ldc 32 --ldd 32 --a_type bf16_r"
            ),
            "{name}"
        );
        // A tuner's input that we read is read as the same problem.
        let written = write(&files, ShapesTo::Geko).unwrap().files;
        let again = [read("problems.yaml", &written[0].1).unwrap()];
        assert_eq!(text(&again, ShapesTo::Geko), geko(calls), "{name}");
        assert!(write(&files, ShapesTo::Vllm).is_err(), "{name}");
    }
}

#[test]
fn calls_of_equal_problems_are_summed() {
    let files: Vec<_> =
        SOURCES[1..3].iter().map(|(name, text)| read(name, text.as_bytes()).unwrap()).collect();
    let report = shapes(&files, 0);
    let table = &report.tables[0];
    assert_eq!(table.rows.len(), 1);
    let cell = |key: &str| {
        let at = table.columns.iter().position(|it| it.key == key).unwrap();
        table.rows[0].cells[at].clone()
    };
    assert_eq!((cell("m"), cell("n"), cell("k")), (Cell::count(8), Cell::count(32), Cell::count(64)));
    assert_eq!((cell("calls"), cell("file")), (Cell::count(6), Cell::text("2 files")));
}

#[test]
fn operations_of_aiter_have_a_table_each() {
    let log = "[aiter] shape is M:8, N:32, K:64, not found tuned config in /t/a8w8_blockscale_tuned_gemm.csv, will use default config!\n\
        [aiter] shape is M:8, N:32, K:64, q_dtype_w:torch.int8, not found tuned config in /t/a8w8_tuned_gemm.csv, will use default config!\n\
        [fused_moe] using 2stage default for ('gfx950', 256, 64, 8192, 2048, 32, 9, 'ActivationType.Silu', 'torch.bfloat16', 'torch.f4', 'torch.f8', 'QuantType.per_1x32', True, False)\n\
        [fused_moe] using 2stage default for (304, 64, 4096, 1536, 256, 6)\n";
    let files = [read("server.log", log.as_bytes()).unwrap()];
    let written = write(&files, ShapesTo::Aiter).unwrap();
    let found: Vec<(&str, &str)> = written
        .files
        .iter()
        .map(|(name, bytes)| (name.as_str(), std::str::from_utf8(bytes).unwrap()))
        .collect();
    assert_eq!(
        found,
        [
            ("a8w8_blockscale_untuned_gemm.csv", "M,N,K\n8,32,64\n"),
            ("a8w8_untuned_gemm.csv", "M,N,K,q_dtype_w\n8,32,64,torch.int8\n"),
            (
                "untuned_fmoe.csv",
                "token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,q_type,use_g1u1,doweight_stage1\n64,8192,2048,32,9,ActivationType.Silu,torch.bfloat16,torch.f4,torch.f8,QuantType.per_1x32,True,False\n"
            ),
        ]
    );
    assert_eq!(written.notes.len(), 1, "{:?}", written.notes);
    for (name, text) in found {
        assert_eq!(read(name, text.as_bytes()).unwrap().format, Format::AiterUntuned, "{name}");
    }
}

#[test]
fn missing_configurations_are_commands_of_a_benchmark() {
    let log = "Config file not found at /v/E=72,N=768,device_name=X.json\n\
        Config file not found at /sglang/srt/E=2,N=7,device_name=X,dtype=fp8_w8a8.json\n\
        Config file not found at /sglang/srt/E=2,N=7,device_name=X,dtype=fp8_w8a8_down.json\n\
        Config file not found at /sglang/srt/N=576,K=7168,device_name=X,dtype=fp8_w8a8,block_shape=[128, 128].json\n";
    let files = [read("server.log", log.as_bytes()).unwrap()];
    // Without a product there is no table of products.
    assert_eq!(shapes(&files, 0).tables.len(), 1);
    let text = text(&files, ShapesTo::Vllm);
    for part in [
        "# E=72,N=768,device_name=X.json: asked for 1 time\npython3 benchmarks/kernels/benchmark_moe.py --model \"$MODEL\" --tp-size \"$TP\" --tune\n",
        "tuning_fused_moe_triton.py --model \"$MODEL\" --tp-size \"$TP\" --dtype fp8_w8a8 --tune\n",
        "tuning_block_wise_kernel.py --N 576 --K 7168 --input-type fp8\n",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(text.lines().count(), 7, "{text}");
}

//! Formats of tuning files, with their keys and names.

/// Rows of variant, key and name make the enum.
macro_rules! formats {
    ($($(#[$note:meta])* $Variant:ident $key:literal $name:literal)*) => {
        /// Tool that wrote a tuning file, and its format.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
        pub enum Format {
            $($(#[$note])* $Variant,)*
        }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Format] = &[$(Format::$Variant,)*];

            /// The word for it on the command line and in JSON: `tunableop`.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Format::$Variant => $key,)*
                }
            }

            /// Display name: `TunableOp results`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Format::$Variant => $name,)*
                }
            }
        }
    };
}

formats! {
    /// `tunableop_results*.csv` of PyTorch.
    TunableOp "tunableop" "TunableOp results"
    /// `tunableop_untuned*.csv` of PyTorch.
    TunableOpUntuned "tunableop-untuned" "TunableOp untuned GEMMs"
    /// Verbose log of PyTorch's TunableOp.
    TunableOpLog "tunableop-log" "TunableOp verbose log"
    /// Output of `hipblaslt-bench`.
    BenchOutput "hipblaslt-bench" "hipblaslt-bench output"
    /// Problems logged by hipBLASLt (`HIPBLASLT_LOG_MASK=32`).
    ProblemLog "hipblaslt-log" "hipBLASLt logged problems"
    /// Problems with their calls logged by hipBLASLt (`HIPBLASLT_LOG_MASK=64`).
    ProblemProfile "hipblaslt-profile" "hipBLASLt profile log"
    /// Problems logged by rocBLAS (`ROCBLAS_LAYER=2` or 4).
    RocblasLog "rocblas-log" "rocBLAS logged problems"
    /// Table of rocblas-bench or rocblas-gemm-tune.
    RocblasBench "rocblas-bench" "rocblas-bench output"
    /// rocBLAS's override file.
    RocblasOverride "rocblas-override" "rocBLAS override file"
    /// Output of ckProfiler and of examples of Composable Kernel.
    CkProfiler "ck-profiler" "ckProfiler output"
    /// Log of a server that names problems without a tuned entry.
    ServerLog "server-log" "server log of missing entries"
    /// hipBLASLt's tuning file.
    TuningFile "hipblaslt-tuning" "hipBLASLt tuning file"
    /// Configuration of `find_exact.py`.
    FindExact "find-exact" "find_exact configuration"
    /// Problem sets of hipblaslt-bench's clients (`matmul_*.yaml`).
    BenchProblems "hipblaslt-problems" "hipblaslt-bench problem set"
    /// TensileLite's benchmark configuration.
    TensileConfig "tensile-config" "TensileLite configuration"
    /// TensileLite's benchmark results as CSV.
    TensileData "tensile-data" "TensileLite benchmark data"
    /// Log of TensileLite's client.
    TensileLog "tensile-log" "TensileLite client log"
    /// TensileLite's logic YAML.
    Logic "logic" "TensileLite logic"
    /// MIOpen's FindDb as text.
    FindDb "find-db" "MIOpen FindDb"
    /// MIOpen's PerfDb as text.
    PerfDb "perf-db" "MIOpen PerfDb"
    /// MIOpen's PerfDb as SQLite.
    PerfDbSqlite "perf-db-sqlite" "MIOpen PerfDb (SQLite)"
    /// MIOpenDriver commands.
    DriverCommands "miopen-commands" "MIOpenDriver commands"
    /// AITER's tuned CSV tables.
    AiterTuned "aiter" "AITER tuned table"
    /// AITER's untuned CSV tables.
    AiterUntuned "aiter-untuned" "AITER untuned table"
    /// AITER's Triton configurations.
    AiterJson "aiter-json" "AITER Triton configuration"
    /// vLLM's and SGLang's fused-MoE configurations.
    MoeJson "moe-json" "fused-MoE configuration"
    /// vLLM's and SGLang's configurations of products with scales by block.
    BlockGemmJson "block-gemm-json" "block-scaled GEMM configuration"
    /// `*.autotune.json` of Triton's cache.
    Autotune "triton-autotune" "Triton autotune cache"
    /// Lines of `TRITON_PRINT_AUTOTUNING=1`.
    AutotuneLog "triton-log" "Triton autotuning log"
    /// Events of tritonparse.
    TritonParse "tritonparse" "tritonparse events"
    /// Cache of Kernel Tuner.
    KernelTuner "kernel-tuner" "Kernel Tuner cache"
    /// T4 results of a search space.
    SpaceResults "t4" "T4 results of a search space"
    /// T1 description of a search space.
    SpaceDescription "t1" "T1 description of a search space"
    /// Plain list of sizes.
    ShapeList "shapes" "list of sizes"
    /// Matrix products of a timeline.
    Timeline "timeline" "matrix products of a timeline"
}

impl Format {
    /// True if M and N follow the column-major order of BLAS. PyTorch is row-major and swaps them.
    pub const fn is_column_major(self) -> bool {
        matches!(
            self,
            Format::TunableOp
                | Format::TunableOpUntuned
                | Format::TunableOpLog
                | Format::BenchOutput
                | Format::ProblemLog
                | Format::ProblemProfile
                | Format::RocblasLog
                | Format::RocblasBench
                | Format::RocblasOverride
                | Format::TuningFile
                | Format::FindExact
                | Format::BenchProblems
                | Format::TensileConfig
                | Format::TensileData
                | Format::TensileLog
                | Format::Logic
                | Format::Timeline
        )
    }
}

//! Formats of tuning files, with their keys and names.

/// Tool that wrote a tuning file, and its format.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Format {
    /// `tunableop_results*.csv` of PyTorch.
    TunableOp,
    /// `tunableop_untuned*.csv` of PyTorch.
    TunableOpUntuned,
    /// Verbose log of PyTorch's TunableOp.
    TunableOpLog,
    /// Output of `hipblaslt-bench`.
    BenchOutput,
    /// Problems logged by hipBLASLt (`HIPBLASLT_LOG_MASK=32`).
    ProblemLog,
    /// Problems with their calls logged by hipBLASLt (`HIPBLASLT_LOG_MASK=64`).
    ProblemProfile,
    /// Problems logged by rocBLAS (`ROCBLAS_LAYER=2` or 4).
    RocblasLog,
    /// Table of rocblas-bench or rocblas-gemm-tune.
    RocblasBench,
    /// rocBLAS's override file.
    RocblasOverride,
    /// Output of ckProfiler and of examples of Composable Kernel.
    CkProfiler,
    /// Log of a server that names problems without a tuned entry.
    ServerLog,
    /// hipBLASLt's tuning file.
    TuningFile,
    /// Configuration of `find_exact.py`.
    FindExact,
    /// Problem sets of hipblaslt-bench's clients (`matmul_*.yaml`).
    BenchProblems,
    /// TensileLite's benchmark configuration.
    TensileConfig,
    /// TensileLite's benchmark results as CSV.
    TensileData,
    /// Log of TensileLite's client.
    TensileLog,
    /// TensileLite's logic YAML.
    Logic,
    /// MIOpen's FindDb as text.
    FindDb,
    /// MIOpen's PerfDb as text.
    PerfDb,
    /// MIOpen's PerfDb as SQLite.
    PerfDbSqlite,
    /// MIOpenDriver commands.
    DriverCommands,
    /// AITER's tuned CSV tables.
    AiterTuned,
    /// AITER's untuned CSV tables.
    AiterUntuned,
    /// AITER's Triton configurations.
    AiterJson,
    /// vLLM's and SGLang's fused-MoE configurations.
    MoeJson,
    /// vLLM's and SGLang's configurations of products with scales by block.
    BlockGemmJson,
    /// `*.autotune.json` of Triton's cache.
    Autotune,
    /// Lines of `TRITON_PRINT_AUTOTUNING=1`.
    AutotuneLog,
    /// Events of tritonparse.
    TritonParse,
    /// Cache of Kernel Tuner.
    KernelTuner,
    /// T4 results of a search space.
    SpaceResults,
    /// T1 description of a search space.
    SpaceDescription,
    /// Plain list of sizes.
    ShapeList,
    /// Matrix products of a timeline.
    Timeline,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 35] = [
        Format::TunableOp,
        Format::TunableOpUntuned,
        Format::TunableOpLog,
        Format::BenchOutput,
        Format::ProblemLog,
        Format::ProblemProfile,
        Format::RocblasLog,
        Format::RocblasBench,
        Format::RocblasOverride,
        Format::CkProfiler,
        Format::ServerLog,
        Format::TuningFile,
        Format::FindExact,
        Format::BenchProblems,
        Format::TensileConfig,
        Format::TensileData,
        Format::TensileLog,
        Format::Logic,
        Format::FindDb,
        Format::PerfDb,
        Format::PerfDbSqlite,
        Format::DriverCommands,
        Format::AiterTuned,
        Format::AiterUntuned,
        Format::AiterJson,
        Format::MoeJson,
        Format::BlockGemmJson,
        Format::Autotune,
        Format::AutotuneLog,
        Format::TritonParse,
        Format::KernelTuner,
        Format::SpaceResults,
        Format::SpaceDescription,
        Format::ShapeList,
        Format::Timeline,
    ];

    /// Key and name: `tunableop`, `TunableOp results`.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Format::TunableOp => ("tunableop", "TunableOp results"),
            Format::TunableOpUntuned => ("tunableop-untuned", "TunableOp untuned GEMMs"),
            Format::TunableOpLog => ("tunableop-log", "TunableOp verbose log"),
            Format::BenchOutput => ("hipblaslt-bench", "hipblaslt-bench output"),
            Format::ProblemLog => ("hipblaslt-log", "hipBLASLt logged problems"),
            Format::ProblemProfile => ("hipblaslt-profile", "hipBLASLt profile log"),
            Format::RocblasLog => ("rocblas-log", "rocBLAS logged problems"),
            Format::RocblasBench => ("rocblas-bench", "rocblas-bench output"),
            Format::RocblasOverride => ("rocblas-override", "rocBLAS override file"),
            Format::CkProfiler => ("ck-profiler", "ckProfiler output"),
            Format::ServerLog => ("server-log", "server log of missing entries"),
            Format::TuningFile => ("hipblaslt-tuning", "hipBLASLt tuning file"),
            Format::FindExact => ("find-exact", "find_exact configuration"),
            Format::BenchProblems => ("hipblaslt-problems", "hipblaslt-bench problem set"),
            Format::TensileConfig => ("tensile-config", "TensileLite configuration"),
            Format::TensileData => ("tensile-data", "TensileLite benchmark data"),
            Format::TensileLog => ("tensile-log", "TensileLite client log"),
            Format::Logic => ("logic", "TensileLite logic"),
            Format::FindDb => ("find-db", "MIOpen FindDb"),
            Format::PerfDb => ("perf-db", "MIOpen PerfDb"),
            Format::PerfDbSqlite => ("perf-db-sqlite", "MIOpen PerfDb (SQLite)"),
            Format::DriverCommands => ("miopen-commands", "MIOpenDriver commands"),
            Format::AiterTuned => ("aiter", "AITER tuned table"),
            Format::AiterUntuned => ("aiter-untuned", "AITER untuned table"),
            Format::AiterJson => ("aiter-json", "AITER Triton configuration"),
            Format::MoeJson => ("moe-json", "fused-MoE configuration"),
            Format::BlockGemmJson => ("block-gemm-json", "block-scaled GEMM configuration"),
            Format::Autotune => ("triton-autotune", "Triton autotune cache"),
            Format::AutotuneLog => ("triton-log", "Triton autotuning log"),
            Format::TritonParse => ("tritonparse", "tritonparse events"),
            Format::KernelTuner => ("kernel-tuner", "Kernel Tuner cache"),
            Format::SpaceResults => ("t4", "T4 results of a search space"),
            Format::SpaceDescription => ("t1", "T1 description of a search space"),
            Format::ShapeList => ("shapes", "list of sizes"),
            Format::Timeline => ("timeline", "matrix products of a timeline"),
        }
    }

    /// The word for it on the command line and in JSON: `tunableop`.
    pub const fn key(self) -> &'static str {
        self.words().0
    }

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

    /// Display name: `TunableOp results`.
    pub const fn name(self) -> &'static str {
        self.words().1
    }
}

//! Tools that write timelines.

use serde::{Deserialize, Serialize};

/// Tool that wrote the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Format {
    /// PyTorch profiler (Kineto).
    Kineto,
    /// Chrome trace events of another tool.
    Chrome,
    /// rocprofv3 JSON.
    Rocprofv3Json,
    /// rocprofv3 CSV.
    Rocprofv3Csv,
    /// rocpd database.
    Rocpd,
    /// rocprof version 1 Chrome JSON.
    Rocprofv1Json,
    /// rocprof version 1 CSV.
    Rocprofv1Csv,
    /// rocprof version 2 CSV.
    Rocprofv2Csv,
    /// rocprof version 1 database.
    Rocprofv1Database,
    /// Calls summed by name.
    Stats,
    /// Table that PyTorch's profiler prints.
    TorchTable,
    /// Sums of a call tree by timemory: rocprof-sys, Omnitrace.
    WallClock,
    /// Perfetto protobuf.
    Perfetto,
    /// Triton's Proton: a tree of scopes.
    Proton,
    /// Triton's Proton: Chrome trace events.
    ProtonTrace,
    /// ONNX Runtime's profile.
    OnnxRuntime,
    /// XLA's profile as TensorBoard shows it, of JAX and TensorFlow.
    Xla,
    /// A recording of Rockhound's emulator or of a profiler, dispatches only.
    Recording,
}

impl Format {
    /// Display name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Format::Kineto => "PyTorch profiler trace",
            Format::Chrome => "Chrome trace",
            Format::Rocprofv3Json => "rocprofv3 JSON",
            Format::Rocprofv3Csv => "rocprofv3 CSV",
            Format::Rocpd => "rocpd database",
            Format::Rocprofv1Json => "rocprof v1 JSON",
            Format::Rocprofv1Csv => "rocprof v1 CSV",
            Format::Rocprofv2Csv => "rocprof v2 CSV",
            Format::Rocprofv1Database => "rocprof v1 database",
            Format::Stats => "rocprof statistics",
            Format::TorchTable => "PyTorch profiler table",
            Format::WallClock => "rocprof-sys call tree",
            Format::Perfetto => "Perfetto trace",
            Format::Proton => "Proton profile",
            Format::ProtonTrace => "Proton trace",
            Format::OnnxRuntime => "ONNX Runtime profile",
            Format::Xla => "XLA profile",
            Format::Recording => "recording",
        }
    }
}

//! Why nothing is measured.

/// Why nothing is measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No kernels exist for the target.
    #[error("there are no kernels for `{target}`\nhint: there are some for GPUs of {known}")]
    NoKernels {
        /// Target of the GPU.
        target: &'static str,
        /// Generations that have kernels.
        known: String,
    },
    /// The model has no times for the GPU.
    #[error("no times are modelled for {0}: nobody has measured its memory")]
    NoTime(String),
    /// A kernel could not run.
    #[error("kernel `{kernel}`: {what}")]
    Kernel {
        /// Its name.
        kernel: String,
        /// The failure.
        what: String,
    },
    /// The time does not depend on the amount of work.
    #[error(
        "{what}: twice the work takes no more time; the GPU is in use by others, or its clock does not run"
    )]
    NoDifference {
        /// Subject of the measurement.
        what: String,
    },
}

//! A GPU of this machine that runs the kernels of peaks.

use super::RoofsOf;
use crate::hip_runtime::HipRuntime;
use crate::run::{GPU_DEVICE, Place, denied, model_of_machine};
use crate::usage;
use anyhow::Result;
use arch::Model;
use peaks::{Device, Error, Launch};

/// True if a GPU of this machine is measured.
pub(super) fn is_wanted(asked: &RoofsOf, say: &dyn Fn(&str)) -> bool {
    match asked.place {
        Place::Gpu => true,
        Place::Emulator => false,
        Place::Auto => match std::fs::File::open(GPU_DEVICE) {
            Ok(_) => asked.gpu.is_none(),
            Err(error) => {
                if error.kind() != std::io::ErrorKind::NotFound && asked.gpu.is_none() {
                    say(&format!("emulating: {}", denied(&error)));
                }
                false
            }
        },
    }
}

/// Runs kernels through the HIP runtime.
pub(super) struct Gpu {
    runtime: HipRuntime,
    least: f64,
    repeats: usize,
}

impl Gpu {
    /// Loads the runtime with the kernels for the GPU.
    pub(super) fn open(asked: &RoofsOf, say: &dyn Fn(&str)) -> Result<(Gpu, &'static Model)> {
        let model = model_of_machine(asked.gpu.as_deref())?.ok_or_else(|| {
            usage(
                "which GPU this is does not follow from its target and its compute units",
                "name it with `--gpu`, for example `--on gpu --gpu mi300x`",
            )
        })?;
        let code = peaks::kernels(model)?;
        let runtime = HipRuntime::open(asked.hip.as_deref(), code)?;
        say(&format!(
            "measuring {} ({}) through {}, each roof {} times",
            model.short(),
            model.target().name,
            runtime.path.display(),
            asked.repeat
        ));
        let (least, repeats) = (1e3 * f64::from(asked.least_time), usize::from(asked.repeat));
        Ok((Gpu { runtime, least, repeats }, model))
    }
}

impl Device for Gpu {
    fn run(&mut self, launch: &Launch<'_>) -> Result<f64, Error> {
        let failed = |what: String| Error::Kernel { kernel: launch.kernel.to_owned(), what };
        let size = |value: u64| u32::try_from(value).map_err(|_| failed("the grid is too large".to_owned()));
        let grid = [size(launch.groups)?, size(launch.threads)?];
        let arguments =
            |buffers: &[u64]| launch.given.iter().map(|given| given.bytes(buffers)).collect::<Vec<_>>();
        let time = self.runtime.time(launch.kernel, &launch.sizes, grid, &arguments);
        time.map_err(|error| failed(format!("{error:#}")))
    }

    fn least_nanoseconds(&self) -> f64 {
        self.least
    }

    fn repeats(&self) -> usize {
        self.repeats
    }

    fn keeps_caches(&self) -> bool {
        true
    }
}

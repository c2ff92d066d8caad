//! Times of products by the emulated GPU, for `tune gemm|moe --shapes --clock emulated`.

use crate::args::{Look, ShapeClock, Tune};
use crate::progress::Running;
use anyhow::{Context, Result};
use host::run::Reporter;
use host::tune::Products;
use std::sync::atomic::{AtomicUsize, Ordering};
use study::tunings::{ProductClock, ProductLaunch};

/// The GPU where none is named.
const USUAL_GPU: &str = "mi300x";

/// The emulated GPU as a clock of products.
#[derive(Debug)]
pub(super) struct EmulatedClock {
    products: Products,
    /// Launches that were timed.
    timed: AtomicUsize,
}

impl EmulatedClock {
    /// The clock that the arguments request; `None` for the tile model.
    pub(super) fn new(args: &Tune, look: &Look) -> Result<Option<EmulatedClock>> {
        if args.shapes.clock == ShapeClock::Tile {
            return Ok(None);
        }
        let stop = Running::new(look).interrupts()?;
        let command = std::env::current_exe().context("the command cannot be found")?;
        let gpu = args.gpu.as_deref().unwrap_or(USUAL_GPU);
        let products = Products::new(gpu, &args.shapes.python, command, stop)?;
        Ok(Some(EmulatedClock { products, timed: AtomicUsize::new(0) }))
    }
}

impl ProductClock for EmulatedClock {
    fn times_us(&self, launches: &[ProductLaunch]) -> Vec<Result<Vec<f64>, String>> {
        let times = self.products.times_us(launches);
        let timed = self.timed.fetch_add(times.len(), Ordering::Relaxed) + times.len();
        eprintln!("tune: {} timed on the emulated GPU", view::counted(timed, "launch"));
        times
    }
}

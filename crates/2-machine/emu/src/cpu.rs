//! The executor, compiled for the best instruction set of the host's CPU.
#![allow(unsafe_code, reason = "audited: choice of target features")]

use crate::engine::{self, Engine};
use crate::execute::{self, Executor};
use crate::fault::Stop;
use crate::observe::Observer;
#[cfg(target_arch = "x86_64")]
use crate::raw::{has_avx2, has_avx512};
use crate::wave::Wave;

/// Runs a wave with the executor compiled for the best instruction set of this CPU.
pub(crate) fn run_wave<O: Observer>(
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    observer: &mut O,
    until: u64,
) -> Result<(), Box<Stop>> {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the CPU has every feature the function is compiled for.
        unsafe { run_wave_avx2(executor, wave, observer, until) }
    } else {
        run_wave_any(executor, wave, observer, until)
    }
    #[cfg(not(target_arch = "x86_64"))]
    execute::run(executor, wave, observer, until)
}

/// The executor for the rare x86-64 CPU without AVX2: compiled once, not again for each observer.
#[cfg(target_arch = "x86_64")]
fn run_wave_any(
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    mut observer: &mut dyn Observer,
    until: u64,
) -> Result<(), Box<Stop>> {
    execute::run(executor, wave, &mut observer, until)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
fn run_wave_avx2<O: Observer>(
    executor: &mut Executor<'_>,
    wave: &mut Wave,
    observer: &mut O,
    until: u64,
) -> Result<(), Box<Stop>> {
    execute::run(executor, wave, observer, until)
}

/// Row-wise parts of the executor for this CPU.
pub(crate) fn engine() -> Engine {
    #[cfg(target_arch = "x86_64")]
    if has_avx512() {
        // SAFETY: the CPU has every feature the function is compiled for.
        return unsafe { engine::avx512() };
    } else if has_avx2() {
        // SAFETY: as above.
        return unsafe { engine::avx2() };
    }
    engine::portable()
}

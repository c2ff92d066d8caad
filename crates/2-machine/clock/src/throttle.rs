//! How the engine clock falls under matrix work and f64 work.

use crate::Outcome;
use arch::Model;

/// Time that a lower clock adds to a dispatch. Power depends on what the whole GPU does at a time, so the cycles of all
/// units count as if they were spread evenly over them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Throttle {
    /// Nanoseconds that a cycle of matrix work adds.
    matrix: f64,
    /// Nanoseconds that a cycle of f64 work of a vector ALU adds.
    f64: f64,
    /// SIMDs of the GPU.
    simds: f64,
}

impl Throttle {
    /// Clocks of a GPU. A clock that is not known lowers nothing.
    pub(crate) fn of(model: &Model) -> Throttle {
        let nanoseconds = |mhz: u32| 1e3 / f64::from(mhz);
        let more = |held: Option<u32>| {
            held.map_or(0.0, |held| (nanoseconds(held) - nanoseconds(model.running_mhz())).max(0.0))
        };
        Throttle {
            matrix: more(model.held_matrix_mhz()),
            f64: more(model.held_f64_mhz()),
            simds: f64::from(model.compute_units.value) * f64::from(model.target().simds_per_cu.value),
        }
    }

    /// The same GPU with a clock that stays.
    pub(crate) fn removed(self) -> Throttle {
        Throttle { matrix: 0.0, f64: 0.0, ..self }
    }

    /// Nanoseconds that a dispatch takes longer. f64 work beside matrix work adds nothing.
    pub(crate) fn delay(self, outcome: &Outcome) -> f64 {
        let [matrix, f64] = [outcome.matrix_cycles, outcome.f64_cycles].map(|it| it as f64 / self.simds);
        let alone = f64.min((outcome.cycles as f64 - matrix).max(0.0));
        matrix * self.matrix + alone * self.f64
    }
}

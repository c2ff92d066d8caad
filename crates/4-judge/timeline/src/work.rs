//! Operations and bytes of scopes and kernels, where a profile counts them, against the GPU's peaks.

use arch::{ElementType, Model, Unit};
use trace::{Timeline, WIDTHS};

/// Sums of a scope with all scopes within it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Work {
    /// Executions of kernels.
    pub calls: u64,
    /// Kernels, each by its place in the tree.
    pub kernels: u64,
    /// Time on the GPU, ns.
    pub time_ns: f64,
    /// Cycles.
    pub cycles: f64,
    /// Operations by the bits of their type, as [`WIDTHS`].
    pub operations: [f64; 5],
    /// Bytes moved.
    pub bytes: f64,
    /// How many times its operations and bytes were multiplied, since they were counted for one call only; else 1.
    pub times: u64,
}

impl Work {
    /// Operations of all types.
    pub fn all_operations(&self) -> f64 {
        self.operations.iter().sum()
    }

    /// The least time the peaks of a GPU allow, as a share of the time taken: that of arithmetic and that of memory.
    pub fn roof(&self, model: &Model) -> Option<[f64; 2]> {
        if self.time_ns <= 0.0 {
            return None;
        }
        let mut arithmetic = 0.0;
        for (operations, bits) in self.operations.iter().zip(WIDTHS) {
            if *operations > 0.0 {
                let element = match bits {
                    8 => ElementType::F8,
                    16 => ElementType::F16,
                    32 => ElementType::F32,
                    64 => ElementType::F64,
                    _ => return None,
                };
                let peak = |unit| model.peak_tera_ops(unit, element).unwrap_or(0.0);
                let peak = peak(Unit::Matrix).max(peak(Unit::Vector));
                if peak <= 0.0 {
                    return None;
                }
                // 10^12 a second are 10^3 a nanosecond.
                arithmetic += operations / (peak * 1e3);
            }
        }
        let memory = self.bytes / model.hbm.gb_per_s.value;
        Some([arithmetic / self.time_ns, memory / self.time_ns])
    }
}

/// The work of each scope of a timeline with all scopes within it, by row.
///
/// A kernel without numbers has those of the scope around it if no other kernel is in that scope: a launch's metrics are
/// those of a scope around the kernel.
pub fn work(timeline: &Timeline) -> Vec<Work> {
    let scopes = &timeline.scopes;
    let mut out: Vec<Work> = scopes
        .iter()
        .map(|it| Work {
            calls: if it.kernel { it.calls } else { 0 },
            kernels: u64::from(it.kernel),
            time_ns: it.time_ns.unwrap_or(0.0),
            cycles: it.cycles.unwrap_or(0.0),
            operations: it.operations,
            bytes: it.bytes.unwrap_or(0.0),
            times: 1,
        })
        .collect();
    // Scopes come before those within them.
    for row in (0..scopes.len()).rev() {
        let inner = out[row];
        out[row] = counted_once(timeline.names.get(scopes[row].name), inner);
        let inner = out[row];
        if let Some(outer) = scopes[row].parent.and_then(|parent| out.get_mut(parent as usize)) {
            outer.calls += inner.calls;
            outer.kernels += inner.kernels;
            outer.time_ns += inner.time_ns;
            outer.cycles += inner.cycles;
            outer.bytes += inner.bytes;
            outer.operations.iter_mut().zip(inner.operations).for_each(|(sum, it)| *sum += it);
        }
    }
    for row in 0..scopes.len() {
        let Some(parent) = scopes[row].parent.map(|parent| parent as usize).filter(|_| scopes[row].kernel)
        else {
            continue;
        };
        let without = out[row].all_operations() == 0.0 && out[row].bytes == 0.0;
        if without && out[parent].kernels == 1 {
            let Work { operations, bytes, times, .. } = out[parent];
            out[row] = Work { operations, bytes, times, ..out[row] };
        }
    }
    out
}

/// Multiplies the work of a product that was counted for one call though its only kernel ran more often: a scope named
/// `matmul [M=4096, N=4096, K=4096]` says what a call does. Replays of a captured graph record metrics once.
fn counted_once(name: &str, work: Work) -> Work {
    let Some(operations) = product_of(name) else { return work };
    let once = (work.all_operations() - operations).abs() <= operations * 1e-9;
    if !once || work.kernels != 1 || work.calls < 2 {
        return work;
    }
    let times = work.calls;
    Work {
        operations: work.operations.map(|it| it * times as f64),
        bytes: work.bytes * times as f64,
        times,
        ..work
    }
}

/// Operations of the product that a scope's name gives: `[M=…, N=…, K=…]`.
fn product_of(name: &str) -> Option<f64> {
    let (_, inner) = name.split_once('[')?;
    let inner = inner.split(']').next()?;
    let size = |key: &str| -> Option<f64> {
        inner.split([',', ' ']).find_map(|part| {
            let (name, value) = part.split_once(['=', ':'])?;
            name.trim().eq_ignore_ascii_case(key).then(|| value.trim().parse().ok())?
        })
    };
    Some(2.0 * size("M")? * size("N")? * size("K")? * size("B").unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Format, ScopeSum};

    /// A scope with operations of 16 bits around a kernel of some calls, which takes 1 ms.
    fn profile(name: &str, operations: f64, calls: u64) -> Work {
        let mut timeline = Timeline::new(Format::Proton);
        let [root, scope, kernel] = ["ROOT", name, "kernel"].map(|it| timeline.names.add(it));
        timeline.scopes.push(ScopeSum::new(root, None));
        let operations = [0.0, operations, 0.0, 0.0, 0.0];
        timeline.scopes.push(ScopeSum { operations, bytes: Some(1e6), ..ScopeSum::new(scope, Some(0)) });
        let run = ScopeSum { kernel: true, calls, time_ns: Some(1e6), ..ScopeSum::new(kernel, Some(1)) };
        timeline.scopes.push(run);
        let work = work(&timeline);
        assert_eq!(work[2].operations, work[1].operations, "the only kernel of a scope has its work");
        assert_eq!((work[0].calls, work[0].time_ns), (calls, 1e6), "the root has all");
        work[2]
    }

    #[test]
    fn work_of_kernels() {
        // A product of 1024 cubed is 2^31 operations; counted once for four calls it is multiplied.
        let once = f64::from(1u32 << 31);
        for (name, operations, calls, times) in [
            ("matmul [M=1024, N=1024, K=1024]", once, 4, 4),
            ("matmul [M=1024,N=1024,K=1024]", 4.0 * once, 4, 1),
            ("matmul [M=1024,N=1024,K=1024]", once, 1, 1),
            ("matmul", once, 4, 1),
        ] {
            let work = profile(name, operations, calls);
            let wanted = (times, operations * times as f64, 1e6 * times as f64);
            assert_eq!((work.times, work.all_operations(), work.bytes), wanted, "{name}, {calls}");
        }
    }

    #[test]
    fn shares_of_the_roof() {
        let model = Model::by_name("MI300X").expect("a model");
        let peak = model.peak_tera_ops(Unit::Matrix, ElementType::F16).expect("a peak");
        // Half of the peak for a millisecond: 10^9 of its operations.
        let [arithmetic, memory] = profile("a", peak * 0.5e9, 1).roof(model).expect("a roof");
        assert!((arithmetic - 0.5).abs() < 1e-9 && memory < 0.001, "{arithmetic}, {memory}");
        assert_eq!(Work::default().roof(model), None, "no time");
    }
}

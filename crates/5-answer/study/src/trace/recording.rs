//! A recording's dispatches as a timeline: of profilers, and of the emulator.

use ::trace::{Device, Format, GpuKind, GpuSpan, Queue, Timeline};
use workload::{Workload, plain_kernel_name};

/// Timeline of the dispatches that have times; `None` if none has.
pub fn of_recording(workload: &Workload) -> Option<Timeline> {
    of_dispatches(workload, 0..workload.dispatches.len())
}

/// The timeline of these dispatches.
pub fn of_dispatches(workload: &Workload, rows: impl IntoIterator<Item = usize>) -> Option<Timeline> {
    let mut timeline = Timeline::new(Format::Recording);
    let dispatches = &workload.dispatches;
    for row in rows {
        // Some recordings have invalid times: all the same.
        let (Some(start), Some(end), Some(_)) =
            (dispatches.start[row], dispatches.end[row], dispatches.duration(row))
        else {
            continue;
        };
        let queue = Queue { device: u64::from(dispatches.gpu[row]), stream: 0 };
        let size = |value: Option<f64>| value.map_or(0, |v| v as u32);
        let (items, block) = (size(dispatches.grid.get(row)), size(dispatches.workgroup.get(row)));
        let span = GpuSpan {
            start,
            end,
            name: timeline.names.add(plain_kernel_name(workload.kernel_of(row))),
            kind: GpuKind::Kernel,
            queue: timeline.queue(queue),
            correlation: 0,
            external: 0,
            // A recording has the sizes as products.
            grid: if block > 0 { [items.div_ceil(block), 1, 1] } else { [0; 3] },
            block: if block > 0 { [block, 1, 1] } else { [0; 3] },
            detail: 0,
        };
        timeline.gpu.push(span);
    }
    let text = |name: &str| workload.machine.text(name).unwrap_or_default().to_owned();
    let target = workload.machine.target().unwrap_or_default().to_owned();
    timeline.devices.push(Device { id: 0, name: text("gpu_model"), target, compute_units: 0 });
    if let Some(emulator) = workload.machine.emulator() {
        timeline.facts.push(("command".to_owned(), format!("emulated by {emulator}")));
    }
    (!timeline.gpu.is_empty()).then_some(timeline)
}

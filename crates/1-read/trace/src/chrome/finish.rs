//! Facts known only after all events have passed: kinds of rocprof v1 spans, grids in workgroups, missing
//! data.

use super::Reader;
use crate::error::{Error, note_at};
use crate::timeline::{Format, GpuKind, HostKind, HostSpan, Timeline};
use rocprof::json::Fault;
use std::collections::HashSet;
use view::NoteKind;

/// The launch call whose grid is in work-items.
const IN_WORK_ITEMS: &str = "hipExtModuleLaunchKernel";

impl Reader {
    pub(super) fn finish(mut self, result: Result<(), Fault>) -> Result<Timeline, Error> {
        if self.events == 0 {
            return Err(match result {
                Ok(()) => Error::Unknown("JSON without events of a trace (`traceEvents`)".to_owned()),
                Err(Fault::Cut(offset)) => broken(offset, "the file ends before its first whole event"),
                Err(Fault::Bad(offset, what)) => broken(offset, &what),
            });
        }
        match result {
            Ok(()) => {}
            Err(Fault::Cut(offset)) => {
                let message = format!(
                    "the file ends within a value that begins here; {} whole events before it are read",
                    self.events
                );
                self.timeline.problems.push(note_at(NoteKind::Error, &format!("byte {offset}"), &message));
            }
            Err(Fault::Bad(offset, what)) => {
                let message = format!("{what}; {} events before it are read", self.events);
                self.timeline.problems.push(note_at(NoteKind::Error, &format!("byte {offset}"), &message));
            }
        }
        self.close_open();
        self.place_exact();
        self.place_xla();
        self.timeline.format = match self.timeline.format {
            Format::Rocprofv1Json => Format::Rocprofv1Json,
            _ if self.tool.is_some() => self.tool.unwrap_or(Format::Chrome),
            _ if self.kineto => Format::Kineto,
            _ => Format::Chrome,
        };
        self.timeline.host.backwards += self.backwards;
        self.counts();
        if self.kineto {
            grids(&mut self.timeline);
        }
        for (count, text) in [
            (self.unopened, "`E` events end nothing that began on their thread; they are left out"),
            (self.untimed, "events have no time; they are left out"),
        ] {
            if count > 0 {
                self.timeline.problem(NoteKind::Warning, format!("{count} {text}"));
            }
        }
        Ok(self.timeline)
    }

    /// Spans that begin and never end last until the trace's end.
    fn close_open(&mut self) {
        let mut left = 0u64;
        let mut threads: Vec<_> = std::mem::take(&mut self.open).into_iter().collect();
        threads.sort_by_key(|(thread, _)| *thread);
        for (_, spans) in threads {
            for span in spans {
                left += 1;
                self.timeline.host.push(HostSpan { end: self.latest, ..span });
            }
        }
        if left > 0 {
            let text = format!("{left} `B` events never end; they are taken to last until the trace's end");
            self.timeline.problem(NoteKind::Warning, text);
        }
    }

    fn counts(&mut self) {
        let mut counts: Vec<(String, u64)> = std::mem::take(&mut self.counts)
            .into_iter()
            .map(|(phase, category, n)| {
                let phase = char::from(phase.max(b' '));
                let text = format!("{phase} {}", String::from_utf8_lossy(&category));
                (text.trim_end().to_owned(), n)
            })
            .collect();
        counts.sort();
        self.timeline.counts = counts;
    }
}

fn broken(offset: u64, what: &str) -> Error {
    Error::Broken { kind: "JSON", offset, what: what.to_owned() }
}

/// Grids of launches that count work-items become workgroups, rounded up.
fn grids(timeline: &mut Timeline) {
    let Some(call) = timeline.names.find(IN_WORK_ITEMS) else { return };
    let host = &timeline.host;
    let in_items: HashSet<u64> = (0..host.len())
        .filter(|at| host.name[*at] == call && host.kind[*at] == HostKind::Runtime)
        .map(|at| host.correlation[at])
        .collect();
    for at in 0..timeline.gpu.len() {
        if timeline.gpu.kind[at] == GpuKind::Kernel && in_items.contains(&timeline.gpu.correlation[at]) {
            timeline.gpu.grid[at] = workgroups(timeline.gpu.grid[at], timeline.gpu.block[at]);
        }
    }
}

/// Workgroups of a grid in work-items; the last one of an axis may be partial.
pub(crate) fn workgroups(grid: [u32; 3], block: [u32; 3]) -> [u32; 3] {
    [0, 1, 2].map(|axis| if block[axis] == 0 { 0 } else { grid[axis].div_ceil(block[axis]) })
}

#[cfg(test)]
mod tests {
    use super::workgroups;

    #[test]
    fn grids_in_work_items_round_up() {
        assert_eq!(workgroups([784, 1, 64], [256, 1, 1]), [4, 1, 64]);
        assert_eq!(workgroups([73728, 1, 1], [256, 1, 1]), [288, 1, 1]);
        assert_eq!(workgroups([10, 1, 1], [0, 1, 1]), [0, 1, 1]);
    }
}

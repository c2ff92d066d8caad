//! Files that are read and judged one by one on all cores, and handed on in order.
//!
//! A core takes the next file when it is done with one, so no core waits for the others; a core without a
//! file helps with the kernels of another's. No core is further ahead of the output than [`AHEAD`].

use super::batch::{ALONE, Code, Opened, Scanned, Waiting, groups};
use super::{Judged, Selection};
use anyhow::Result;
use codeobj::{Found, ReadError};
use rayon::prelude::*;
use sorting::Sort;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

/// Bytes of files that are read before the first of them is handed on, give or take a file per core.
const AHEAD: usize = 24 << 20;
/// Pause of a core that is too far ahead and has no work to help with.
const REST: Duration = Duration::from_micros(200);

/// Results of a file.
pub(super) struct Done<T> {
    /// Results in the order of the file.
    pub(super) results: Vec<T>,
    pub(super) objects: u64,
    /// Kernels before the selection.
    pub(super) kernels: u64,
    pub(super) errors: Vec<ReadError>,
    pub(super) passed_over: BTreeSet<String>,
}

impl<T: Send> Done<T> {
    fn of(file: &Waiting, selection: &Selection, work: &(impl Fn(Judged<'_, '_>) -> T + Sync)) -> Self {
        let bytes = file.contents.bytes();
        let Scanned { found, mut errors, passed_over } = Scanned::of(bytes, &selection.wanted);
        let mut opened = Vec::with_capacity(found.len());
        for (object, found) in found.iter().map(|found| (Found::read(found), found)) {
            match object {
                Ok(mut object) => {
                    let ir = file.companion.apply(&mut object);
                    opened.push(Opened {
                        file: &file.name,
                        object,
                        code: Code::Binary(&found.data),
                        ir,
                        built: None,
                    });
                }
                Err(error) => errors.push(error),
            }
        }
        let mut results: Vec<(usize, T)> = Vec::new();
        for group in groups(&opened, bytes.len(), |kernel| selection.accepts(kernel)) {
            match &group[..] {
                [task] => results.extend(task.run(work)),
                _ => results.par_extend(group.par_iter().flat_map_iter(|task| task.run(work))),
            }
        }
        results.in_order_by_key(|(position, _)| *position);
        let done = Done {
            results: results.into_iter().map(|(_, result)| result).collect(),
            objects: opened.len() as u64,
            kernels: opened.iter().map(|opened| opened.object.kernels.len() as u64).sum(),
            errors,
            passed_over,
        };
        drop(opened);
        drop(found);
        file.contents.release();
        done
    }
}

/// Reads and judges files; `take` gets their results in file order.
pub(super) fn each_file<T: Send>(
    files: &[Waiting],
    selection: &Selection,
    work: &(impl Fn(Judged<'_, '_>) -> T + Sync),
    mut take: impl FnMut(&Waiting, Done<T>) -> Result<()>,
) -> Result<()> {
    let size = |file: &Waiting| file.contents.bytes().len();
    if files.iter().map(size).sum::<usize>() < ALONE {
        return files.iter().try_for_each(|file| take(file, Done::of(file, selection, work)));
    }
    let handed_on = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let (send, receive) = mpsc::channel();
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| {
            let mut start = 0;
            let placed = files.iter().enumerate().map(|(at, file)| {
                let before = start;
                start += size(file);
                (at, before, file)
            });
            placed.par_bridge().for_each_with(send, |send, (at, before, file)| {
                while before > handed_on.load(Ordering::Relaxed).saturating_add(AHEAD) {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::thread::sleep(REST);
                    }
                }
                if !stopped.load(Ordering::Relaxed) {
                    // Nobody listens any more when the output has failed.
                    let _ = send.send((at, Done::of(file, selection, work)));
                }
            });
        });
        let mut early: BTreeMap<usize, Done<T>> = BTreeMap::new();
        let mut next = files.iter().enumerate();
        let mut wanted = next.next();
        let result = receive.iter().try_for_each(|(at, done)| {
            early.insert(at, done);
            while let Some((position, file)) = wanted
                && let Some(done) = early.remove(&position)
            {
                take(file, done)?;
                handed_on.fetch_add(size(file), Ordering::Relaxed);
                wanted = next.next();
            }
            Ok(())
        });
        if result.is_err() {
            stopped.store(true, Ordering::Relaxed);
            handed_on.store(usize::MAX - AHEAD, Ordering::Relaxed);
        }
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contents;
    use crate::kernels::companion::Companion;

    /// The code objects of the examples, repeated so that all cores are used.
    fn files() -> Vec<Waiting> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples");
        let paths = crate::inputs::expand(&[folder]).0;
        let objects = paths.iter().filter(|input| input.path.extension().is_some_and(|it| it == "hsaco"));
        let waiting: Vec<Waiting> = objects
            .cycle()
            .take(400)
            .enumerate()
            .map(|(at, input)| Waiting {
                name: at.to_string(),
                named: true,
                contents: Contents::open(&input.path).unwrap(),
                companion: Companion::default(),
            })
            .collect();
        assert!(waiting.iter().map(|it| it.contents.bytes().len()).sum::<usize>() > 2 * ALONE);
        waiting
    }

    fn selection() -> Selection {
        Selection::new(None, &[]).unwrap()
    }

    #[test]
    fn files_are_handed_on_in_order_with_all_their_kernels() {
        let files = files();
        let work = |judged: Judged<'_, '_>| format!("{} {}", judged.file, judged.evidence.kernel.name);
        let mut taken = Vec::new();
        each_file(&files, &selection(), &work, |file, done| {
            assert!(done.errors.is_empty() && done.objects == 1);
            assert_eq!(done.results.len() as u64, done.kernels);
            assert!(done.results.iter().all(|it| it.starts_with(&format!("{} ", file.name))));
            taken.push(file.name.clone());
            Ok(())
        })
        .unwrap();
        assert_eq!(taken, (0..files.len()).map(|at| at.to_string()).collect::<Vec<_>>());
    }

    #[test]
    fn an_output_that_fails_stops_the_reading() {
        let judged = AtomicUsize::new(0);
        let work = |_: Judged<'_, '_>| judged.fetch_add(1, Ordering::Relaxed);
        let files: Vec<Waiting> = std::iter::repeat_with(files).take(5).flatten().collect();
        let result = each_file(&files, &selection(), &work, |file, _| match file.name.as_str() {
            "2" => anyhow::bail!("closed"),
            _ => Ok(()),
        });
        assert_eq!(result.unwrap_err().to_string(), "closed");
        assert!(judged.into_inner() < files.len(), "everything was read all the same");
    }
}

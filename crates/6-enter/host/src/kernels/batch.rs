//! Code objects whose kernels are judged together.
//!
//! The tasks of a batch are shares of its kernels, about equal in work; kernels with the same code follow
//! each other in one task.

use super::Judged;
use super::companion::Companion;
use crate::Contents;
use analysis::{Built, KernelEvidence, Recent, Source, TextFile, TritonIr};
use codeobj::{Body, CodeObject, Found, LineTable, ReadError, Wanted};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Fewest kernels of a task.
const TASK_KERNELS: usize = 16;
/// More kernels than this are several tasks, unless debug information would be parsed once for each.
const LARGE_TASK: usize = 64;
/// Fewer bytes than this are read faster than threads start.
pub(super) const ALONE: usize = 256 << 10;
/// A file of more bytes than this is read alone, its kernels in groups.
const LARGE: usize = 24 << 20;
/// Kernels whose results are held at the same time, give or take a task.
pub(super) const HELD_KERNELS: usize = 4096;

/// A file that is one code object.
pub(super) struct Waiting {
    pub(super) name: String,
    /// The user named the file, so that it is an error when it gives nothing.
    pub(super) named: bool,
    pub(super) contents: Contents,
    pub(super) companion: Companion,
}

impl Waiting {
    /// Too large to be held beside others.
    pub(super) fn is_large(&self) -> bool {
        self.contents.bytes().len() >= LARGE
    }
}

/// Kernels of one code object that one core works on, each with its position in the batch.
pub(super) struct Task<'a> {
    opened: &'a Opened<'a>,
    kernels: Vec<(usize, &'a codeobj::Kernel)>,
}

impl Task<'_> {
    /// About how much work it is: the bytes or lines of its code.
    pub(super) fn weight(&self) -> usize {
        self.kernels.iter().map(|(_, kernel)| weight(kernel)).sum()
    }
}

/// Code objects of a file, before they are read.
pub(super) struct Scanned<'a> {
    pub(super) found: Vec<Found<'a>>,
    pub(super) errors: Vec<ReadError>,
    pub(super) passed_over: BTreeSet<String>,
}

impl<'a> Scanned<'a> {
    pub(super) fn of(bytes: &'a [u8], wanted: &Wanted) -> Self {
        let mut scanned = Scanned { found: Vec::new(), errors: Vec::new(), passed_over: BTreeSet::new() };
        match codeobj::scan(bytes, wanted) {
            Ok(mut scan) => {
                for found in scan.by_ref() {
                    match found {
                        Ok(found) => scanned.found.push(found),
                        Err(error) => scanned.errors.push(error),
                    }
                }
                scanned.passed_over = scan.passed_over().map(str::to_owned).collect();
            }
            Err(error) => scanned.errors.push(error),
        }
        scanned
    }
}

/// Maps on all cores if `size`, the bytes behind the items, makes it worthwhile.
pub(super) fn each<'t, T: Sync, U: Send>(
    items: &'t [T],
    size: usize,
    map: impl Fn(&'t T) -> U + Sync + Send,
) -> Vec<U> {
    if size < ALONE { items.iter().map(map).collect() } else { items.par_iter().map(map).collect() }
}

fn weight(kernel: &codeobj::Kernel) -> usize {
    match &kernel.body {
        Body::Code { bytes, .. } => bytes.len(),
        Body::Text { lines } => lines.len(),
        Body::Absent => 0,
    }
}

/// A code object with the bytes or lines its kernels refer to.
pub(super) struct Opened<'a> {
    pub(super) file: &'a str,
    pub(super) object: CodeObject,
    pub(super) code: Code<'a>,
    /// Triton's IR of its kernels.
    pub(super) ir: Vec<TritonIr>,
    /// Messages of the compiler, for the kernel of an object known from the log of a build.
    pub(super) built: Option<Built>,
}

pub(super) enum Code<'a> {
    Binary(&'a [u8]),
    Text(&'a TextFile<'a>),
}

impl Opened<'_> {
    fn has_lines(&self) -> bool {
        matches!(self.code, Code::Binary(data) if codeobj::has_lines(data))
    }

    /// The bytes of a kernel's code; empty for text.
    fn bytes(&self, kernel: &codeobj::Kernel) -> &[u8] {
        match (&self.code, &kernel.body) {
            (Code::Binary(data), Body::Code { bytes, .. }) => data.get(bytes.clone()).unwrap_or_default(),
            _ => &[],
        }
    }
}

impl Task<'_> {
    /// Judges its kernels; each result comes with its kernel's position.
    pub(super) fn run<T>(&self, work: &impl Fn(Judged<'_, '_>) -> T) -> Vec<(usize, T)> {
        let Opened { file, object, code, ir, built } = self.opened;
        // Without debug information there is nothing to look up.
        let lines = match code {
            Code::Binary(data) => LineTable::read(data).ok().filter(|lines| lines.absent().is_none()),
            Code::Text(_) => None,
        };
        let source = match code {
            Code::Binary(data) => Source::Binary { data, lines: lines.as_ref() },
            Code::Text(file) => Source::Text { file },
        };
        let mut recent = Recent::default();
        let kernels = self.kernels.iter();
        kernels
            .map(|(position, kernel)| {
                let mut evidence = KernelEvidence::gather_next(object, kernel, source, &mut recent);
                evidence.ir = ir.iter().find(|ir| ir.kernel.name == kernel.name);
                if evidence.ir.is_some() && kernel.body == Body::Absent {
                    // IR alone has no code, and nobody expects it.
                    evidence.warnings.clear();
                }
                if let Some(built) = built {
                    evidence.add_built(built);
                }
                let (findings, not_checked) = rules::check(&evidence);
                (*position, work(Judged { file, evidence: &evidence, findings, not_checked }))
            })
            .collect()
    }
}

/// Cuts the kernels that `accepts` takes into groups whose results are held together, and those into tasks;
/// the code objects have `size` bytes. Positions count through all groups.
pub(super) fn groups<'a>(
    objects: &'a [Opened<'a>],
    size: usize,
    accepts: impl Fn(&codeobj::Kernel) -> bool,
) -> Vec<Vec<Task<'a>>> {
    // Debug information is parsed once per task: with objects enough for all cores a task is a whole object.
    let parts =
        if size < ALONE { 1 } else { (4 * rayon::current_num_threads()).div_ceil(objects.len().max(1)) };
    let mut groups: Vec<Vec<Task<'_>>> = vec![Vec::new()];
    let mut position = 0;
    let mut held = 0;
    for opened in objects {
        let mut chosen = opened.object.kernels.iter().filter(|kernel| accepts(kernel)).peekable();
        let most = opened.object.kernels.len().div_ceil(parts);
        let most = match opened.has_lines() {
            true => most.clamp(TASK_KERNELS, HELD_KERNELS),
            false => most.clamp(TASK_KERNELS, LARGE_TASK),
        };
        while chosen.peek().is_some() {
            if held >= HELD_KERNELS {
                groups.push(Vec::new());
                held = 0;
            }
            let mut kernels: Vec<(usize, &codeobj::Kernel)> =
                (position..).zip(chosen.by_ref().take(HELD_KERNELS - held)).collect();
            position += kernels.len();
            held += kernels.len();
            // Kernels with the same code follow each other, so that it is read once.
            kernels.sort_by_cached_key(|(_, kernel)| opened.bytes(kernel));
            let same = |a: &codeobj::Kernel, b: &codeobj::Kernel| {
                let bytes = opened.bytes(a);
                !bytes.is_empty() && bytes == opened.bytes(b)
            };
            let mut rest = kernels.as_slice();
            while !rest.is_empty() {
                let mut end = most.min(rest.len());
                let last = rest[end - 1];
                while rest.get(end).is_some_and(|next| end < 2 * most && same(last.1, next.1)) {
                    end += 1;
                }
                let (task, after) = rest.split_at(end);
                if let Some(group) = groups.last_mut() {
                    group.push(Task { opened, kernels: task.to_vec() });
                }
                rest = after;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use codeobj::{Kernel, Metadata, Target};

    /// A code object with kernels of one instruction each, a move of the number given; no-ops alone are an
    /// empty kernel.
    fn object(codes: &[u8]) -> (CodeObject, Vec<u8>) {
        let data: Vec<u8> = codes.iter().flat_map(|code| [*code, 0, 0, 0xb0]).collect();
        let kernels = (0..codes.len()).map(|at| Kernel {
            name: format!("k{at}"),
            demangled: format!("k{at}"),
            body: Body::Code { address: 4 * at as u64, bytes: 4 * at..4 * at + 4 },
            descriptor: None,
            metadata: Metadata::default(),
        });
        let object = CodeObject {
            origin: String::new(),
            target: Target::parse("gfx942").unwrap(),
            version: 5,
            lines: 0..0,
            kernels: kernels.collect(),
            functions: Vec::new(),
            formats: Vec::new(),
            warnings: Vec::new(),
        };
        (object, data)
    }

    #[test]
    fn every_kernel_is_in_one_task_and_equal_code_is_together() {
        let codes: Vec<u8> = (0..HELD_KERNELS + 700).map(|at| (at * 7 % 200) as u8).collect();
        let made = [object(&codes), object(&codes[..300]), object(&[])];
        let opened: Vec<Opened<'_>> = made
            .iter()
            .map(|(object, data)| Opened {
                file: "f",
                object: object.clone(),
                code: Code::Binary(data),
                ir: Vec::new(),
                built: None,
            })
            .collect();
        let groups = groups(&opened, 1 << 20, |kernel| kernel.name != "k5");
        let mut next = 0;
        for group in &groups {
            let mut positions: Vec<usize> =
                group.iter().flat_map(|task| task.kernels.iter().map(|(position, _)| *position)).collect();
            assert!(positions.len() <= HELD_KERNELS);
            positions.sort_unstable();
            assert_eq!(positions, (next..next + positions.len()).collect::<Vec<_>>());
            next += positions.len();
            for task in group {
                assert!(task.kernels.len() <= 2 * LARGE_TASK);
                let codes: Vec<_> = task.kernels.iter().map(|(_, it)| task.opened.bytes(it)).collect();
                let mut distinct = codes.clone();
                distinct.dedup();
                let changes = distinct.len();
                distinct.sort_unstable();
                distinct.dedup();
                assert_eq!(changes, distinct.len(), "equal code stands apart");
            }
        }
        assert_eq!(next, codes.len() - 1 + 299);
        let shared = made[0].0.kernels.len() / 200 + 1;
        assert!(groups[0].iter().any(|task| task.kernels.len() >= shared));
    }

    #[test]
    fn results_come_with_the_position_of_their_kernel() {
        let (object, data) = object(&[9, 1, 9, 0, 9]);
        let opened = [Opened { file: "f", object, code: Code::Binary(&data), ir: Vec::new(), built: None }];
        let groups = groups(&opened, 1 << 20, |_| true);
        let mut results: Vec<(usize, (String, String))> = groups
            .iter()
            .flatten()
            .flat_map(|task| {
                task.run(&|judged: Judged<'_, '_>| {
                    (judged.evidence.kernel.name.clone(), judged.evidence.text(0))
                })
            })
            .collect();
        results.sort_unstable();
        let texts: Vec<_> =
            results.into_iter().map(|(at, (name, text))| format!("{at} {name} {text}")).collect();
        assert_eq!(
            texts,
            [9, 1, 9, 0, 9]
                .iter()
                .enumerate()
                .map(|(at, n)| format!("{at} k{at} s_movk_i32 s0, {n:#x}"))
                .collect::<Vec<_>>()
        );
    }
}

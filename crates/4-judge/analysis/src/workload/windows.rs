//! Counter windows that are longer than the dispatches: the warning, and the quantity to compare instead.
//!
//! The length of a window depends on the other recorded counters, so two windows show a change only if both
//! are as long as their dispatches, or longer by the same factor.

use super::subject::Subject;
use metrics::{Evaluation, Window};
use view::{Note, NoteKind};

/// Factor from which on a window is longer than the dispatch, and two of them differ.
const LONGER: f64 = 1.1;

/// The evaluations that a report is made from, and what to say of their windows.
pub(crate) fn comparable<'a>(
    subjects: &[Subject],
    evaluations: Vec<Evaluation<'a>>,
) -> (Vec<Evaluation<'a>>, Vec<Note>) {
    let counted = |e: &Evaluation<'_>| e.value("dispatch.cycles").is_ok();
    let excess: Vec<Option<f64>> = evaluations.iter().map(|e| e.window_excess().ok()).collect();
    let note = |text: String| vec![Note { kind: NoteKind::Info, text }];
    if let ([Some(times)], true) = (&excess[..], evaluations.len() == 1) {
        let text = format!(
            "GRBM_GUI_ACTIVE counts {times:.1} times the time of the dispatches: percentages of cycles in tables are of that window, \
             as the vendor's tool has them; verdict and findings take the time of the dispatches"
        );
        return (evaluations, if *times > LONGER { note(text) } else { Vec::new() });
    }
    if evaluations.len() < 2 || evaluations.iter().filter(|e| counted(e)).count() < 2 {
        return (evaluations, Vec::new());
    }
    let known = || excess.iter().flatten().copied();
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
    let unknown = evaluations.iter().zip(&excess).any(|(e, excess)| counted(e) && excess.is_none());
    if !unknown && most <= LONGER * least {
        return (evaluations, Vec::new());
    }
    let each: Vec<String> = subjects
        .iter()
        .zip(&excess)
        .map(|(subject, excess)| match excess {
            Some(times) => format!("{times:.1} times in `{}`", subject.name),
            None => format!("unknown in `{}`", subject.name),
        })
        .collect();
    let text = format!(
        "windows of GRBM_GUI_ACTIVE differ ({} the time of the dispatches), so cycles are the time of the dispatches at the clock of \
         the engine",
        each.join(", ")
    );
    (evaluations.iter().map(|e| e.with_window(Window::Dispatch)).collect(), note(text))
}

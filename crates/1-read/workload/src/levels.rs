//! Level counters in one wide file, and the passes it was joined from.
//!
//! The accumulator sums the counter before it, in hardware and in the header: after `SQ_LEVEL_WAVES`,
//! `SQ_ACCUM_PREV_HIRES_8` is the sum of the level of waves. The number 8 is the joined pass and does not
//! identify the level.

use crate::headers;
use std::cell::RefCell;

/// The column in which a level is summed over cycles.
pub const ACCUMULATOR: &str = "SQ_ACCUM_PREV_HIRES";

/// Whether a name is of the accumulator: plain, numbered by a join (`_8`), or by a reader of CSV that met it
/// twice (`.1`).
pub(crate) fn is_accumulator(name: &str) -> bool {
    let number = |rest: &str| {
        rest.is_empty()
            || rest
                .strip_prefix(['_', '.'])
                .is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
    };
    let rest = name.strip_prefix(ACCUMULATOR);
    rest.is_some_and(|rest| {
        let at = rest.rfind('_').unwrap_or(rest.len());
        number(rest) || (number(&rest[..at]) && number(&rest[at..]))
    })
}

/// Whether a counter is a level, of which an accumulator may follow.
fn is_level(name: &str) -> bool {
    memchr::memmem::find(name.as_bytes(), b"LEVEL").is_some() && headers::is_counter(name)
}

/// Names headers in their order: an accumulator after a level has the name of the level's sum.
pub(crate) fn names() -> impl Fn(&str) -> String {
    let before = RefCell::new(String::new());
    move |header| {
        let mut name = headers::plain(header);
        let level = before.take();
        if !level.is_empty() && is_accumulator(&name) {
            name = format!("{level}_ACCUM");
        }
        if is_level(&name) {
            before.replace(name.clone());
        }
        name
    }
}

/// The pass that each column of a joined file was read in; `None` if the file does not show passes.
///
/// Joining keeps a profiler column of every pass (`Kernel_ID_7`, `obj_7`), which precedes the pass's
/// counters.
pub(crate) fn passes(names: &[String]) -> Vec<Option<u16>> {
    let mut pass = 0;
    let of = |name: &String| {
        pass = headers::joined_pass(name).map_or(pass, |found| pass.max(found));
        pass
    };
    let passes: Vec<u16> = names.iter().map(of).collect();
    let shown = pass > 0;
    passes.into_iter().map(|pass| shown.then_some(pass)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_accumulator_sums_the_level_before_it() {
        for (header, want) in [
            ("SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES_8", "SQ_LEVEL_WAVES,SQ_LEVEL_WAVES_ACCUM"),
            ("SQ_IFETCH_LEVEL,SQ_ACCUM_PREV_HIRES", "SQ_IFETCH_LEVEL,SQ_IFETCH_LEVEL_ACCUM"),
            (
                "SQC_DCACHE_INFLIGHT_LEVEL,SQ_ACCUM_PREV_HIRES.1",
                "SQC_DCACHE_INFLIGHT_LEVEL,SQC_DCACHE_INFLIGHT_LEVEL_ACCUM",
            ),
            ("SQ_INST_LEVEL_LDS,SQ_ACCUM_PREV_HIRES.1_3", "SQ_INST_LEVEL_LDS,SQ_INST_LEVEL_LDS_ACCUM"),
            // After any other counter, the summed level is unknown.
            (
                "SQ_LEVEL_WAVES,SQ_WAVES,SQ_ACCUM_PREV_HIRES_8",
                "SQ_LEVEL_WAVES,SQ_WAVES,SQ_ACCUM_PREV_HIRES_8",
            ),
            ("SQ_ACCUM_PREV_HIRES", "SQ_ACCUM_PREV_HIRES"),
            ("SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES_x", "SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES_x"),
        ] {
            let names = names();
            let found: Vec<String> = header.split(',').map(names).collect();
            assert_eq!(found.join(","), want);
        }
    }

    #[test]
    fn passes_begin_at_the_columns_that_joining_repeats() {
        let of = |header: &str| passes(&header.split(',').map(str::to_string).collect::<Vec<_>>());
        for (header, want) in [
            ("Kernel_ID,SQ_WAVES,Kernel_ID_1,SQ_BUSY_CYCLES,Kernel_ID_10,TCC_HIT", vec![0, 0, 1, 1, 10, 10]),
            ("SQ_WAVES,wave_size_1,obj_1,TCC_HIT", vec![0, 1, 1, 1]),
        ] {
            assert_eq!(of(header), want.into_iter().map(Some).collect::<Vec<_>>(), "{header}");
        }
        // A number of another kind shows no pass.
        assert_eq!(of("Kernel_ID,SQ_WAVES,TCC_HIT_2"), [None; 3]);
    }
}

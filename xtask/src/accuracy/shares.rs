//! Error caused by simulating two representative XCDs.
//!
//! The truth here is the model itself with every XCD followed.

use super::{Page, kernels::Prepared};
use crate::run::root;
use anyhow::{Context, Result};
use record::{Detail, Dispatch, Settings, TIME_SHARED};

/// File below `xtask/src`, kernel, words, bytes of the buffers, integers, workgroups, work-items of one.
/// Where the words say that something is done again, it is the second of two dispatches.
type Case = (&'static str, &'static str, &'static str, &'static [usize], &'static [i32], u32, u32);

const AGAIN: &str = "again";

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

const CASES: &[Case] = &[
    (
        "bench/emulator/gemm.hip",
        "gemm",
        "product of 1024^3 f16",
        &[2 * MIB, 2 * MIB, 4 * MIB],
        &[1024],
        1024,
        64,
    ),
    (
        "bench/emulator/gemm_f32.hip",
        "gemm",
        "product of 1024^3 f32",
        &[4 * MIB, 4 * MIB, 4 * MIB],
        &[1024],
        256,
        256,
    ),
    (
        "bench/emulator/yax.hip",
        "yax",
        "y^T A x of 4096, 64 workgroups",
        &[32 * KIB, 128 * MIB, 32 * KIB, 8],
        &[4096, 4096, 4096],
        64,
        64,
    ),
    (
        "accuracy/kernels.hip",
        "columns",
        "columns, 32,768 by 2048",
        &[256 * KIB, 512 * MIB, 16 * KIB, 8],
        &[32_768, 2048, 131_072],
        2048,
        64,
    ),
    (
        "accuracy/kernels.hip",
        "daxpy",
        "daxpy, 20 passes",
        &[16 * MIB, 16 * MIB],
        &[2_097_152, 1, 1],
        8192,
        256,
    ),
    (
        "../../crates/3-measure/record/tests/sources/vector_copy.hip",
        "vecCopy(double*, double*, double*, int, int)",
        "copy of 64 MiB",
        &[64 * MIB, 8, 64 * MIB],
        &[8_388_608, 1],
        32_768,
        256,
    ),
    (
        "accuracy/kernels.hip",
        "total",
        "100 MiB read again",
        &[100 * MIB, 8],
        &[13_107_200, 622_592],
        2432,
        256,
    ),
    (
        "accuracy/kernels.hip",
        "uneven",
        "chains of reads of unequal length",
        &[64 * MIB, 4 * MIB],
        &[16_777_216, 40],
        4096,
        256,
    ),
];

/// Fills in dispatches followed both ways.
pub(super) fn write(page: &mut Page) -> Result<()> {
    let model = arch::Model::by_name("mi300x").context("a model of the data files")?;
    for &(file, kernel, words, buffers, integers, workgroups, items) in CASES {
        let source = root().join("xtask/src").join(file);
        let Some(prepared) = Prepared::new(&source, model.target().name, kernel)? else { return Ok(()) };
        let run = |detail: Detail| -> Result<Dispatch> {
            let settings = Settings { shares_xcds: detail == Detail::Share, ..Settings::default() };
            let mut recorder = settings.recorder(model, None)?;
            let grid = grid(kernel, workgroups);
            let mut loaded = match *buffers {
                [a, b] => prepared.launch([a, b], integers)?,
                [a, b, c] => prepared.launch([a, b, c], integers)?,
                [a, b, c, d] => prepared.launch([a, b, c, d], integers)?,
                _ => anyhow::bail!("`{words}` has a number of buffers that is not provided for"),
            };
            for _ in 0..1 + usize::from(words.ends_with(AGAIN)) {
                loaded.run(&mut recorder, grid, [items, 1, 1])?;
            }
            recorder.dispatches().last().cloned().context("a dispatch")
        };
        let (all, two) = (run(Detail::Full)?, run(Detail::Share)?);
        let time = |it: &Dispatch| it.time.as_ref().map_or(0.0, |time| time.nanoseconds / 1e3);
        let counter = |it: &Dispatch, name: &str| {
            it.counters.iter().find(|it| it.0 == name).and_then(|it| it.1.known()).unwrap_or(0) as f64
        };
        let differs = |name: &str| {
            let (all, two) = (counter(&all, name), counter(&two, name));
            if all == 0.0 { "-".to_string() } else { format!("{:+.2} %", 100.0 * (two - all) / all) }
        };
        let rate = |it: &Dispatch| {
            let (hits, misses) = (counter(it, "TCC_HIT"), counter(it, "TCC_MISS"));
            100.0 * hits / (hits + misses).max(1.0)
        };
        let error = (time(&two) - time(&all)) / time(&all);
        if two.shared.is_some() {
            let of = format!("{words}, two XCDs of {} beside all", model.short());
            page.errors.add(model.target().name, TIME_SHARED, of, error);
        }
        let difference = format!("{:+.1} %", 100.0 * error);
        let said = two.shared.map_or_else(
            || "all followed".to_string(),
            |it| format!("{:.1} %, counts {:.1} %", 100.0 * it.time_error, 100.0 * it.count_error),
        );
        println!("{words}: {:.1} us, two XCDs {:.1} us, {difference}, said {said}", time(&all), time(&two));
        page.row(
            "shares",
            &[
                words.into(),
                format!("{:.1}", time(&all)),
                format!("{:.1}", time(&two)),
                difference,
                said,
                differs("TCP_TCC_READ_REQ"),
                differs("TCC_REQ"),
                format!("{:+.2} points", rate(&two) - rate(&all)),
                differs("TCC_EA0_RDREQ"),
            ],
        );
    }
    Ok(())
}

/// The matrix products have workgroups in two dimensions.
fn grid(kernel: &str, workgroups: u32) -> [u32; 3] {
    let side = workgroups.isqrt();
    if kernel == "gemm" { [side, side, 1] } else { [workgroups, 1, 1] }
}

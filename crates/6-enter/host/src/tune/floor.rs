//! The least time that a GPU needs for the work of one run: a shorter time is a mistake of the measurement.

use super::shapes::Work;
use arch::{ElementType, Model, Unit};

/// Bytes below which data may stay in caches from run to run, where memory does not limit the time: this many
/// times the memory-side cache.
const BEYOND_CACHES: f64 = 4.0;
/// Bytes taken for the caches of a GPU whose memory-side cache is not known.
const CACHES: f64 = 256e6;
/// Clocks can be a little higher than the data sheet's.
const MARGIN: f64 = 0.95;

/// The least time, microseconds, and what needs it. `None` if the work says nothing.
pub(super) fn least_us(model: &Model, work: &Work) -> Option<(f64, String)> {
    let element = work.dtype.as_deref().and_then(ElementType::by_name);
    let rate = |element| {
        let of = |unit| model.peak_tera_ops(unit, element);
        of(Unit::Matrix).into_iter().chain(of(Unit::Vector)).max_by(f64::total_cmp)
    };
    let tera_ops = match element {
        Some(element) => rate(element),
        None => ElementType::ALL.iter().filter_map(|it| rate(*it)).max_by(f64::total_cmp),
    };
    let compute = work
        .flops
        .zip(tera_ops)
        .map(|(flops, peak)| (flops / peak / 1e6, format!("{flops:.3e} operations at {peak:.0} Top/s")));
    let caches = model.memory_side_cache.bytes.value().map_or(CACHES, f64::from);
    let bytes = work.bytes.filter(|it| *it > BEYOND_CACHES * caches);
    let memory = bytes.map(|bytes| {
        let peak = model.hbm.gb_per_s.value;
        (bytes / peak / 1e3, format!("{bytes:.3e} bytes at {peak:.0} GB/s"))
    });
    let most = compute.into_iter().chain(memory).max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((most.0 * MARGIN, most.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_has_a_least_time() {
        let model = Model::by_name("mi300x").unwrap();
        let work = |flops, bytes, dtype: Option<&str>| Work { flops, bytes, dtype: dtype.map(str::to_owned) };
        // 1,307 Tflop/s and 5.3 TB/s by the data sheet.
        for (work, us) in [
            (work(Some(1.307e12), None, Some("f16")), Some(1000.0)),
            (work(None, Some(5.3e9), None), Some(1000.0)),
            (work(Some(1.307e12), Some(53e9), Some("f16")), Some(10_000.0)),
            (work(None, Some(1e6), None), None),
            (work(None, None, None), None),
        ] {
            let found = least_us(model, &work).map(|it| it.0);
            match (found, us) {
                (Some(found), Some(us)) => {
                    assert!((found / (us * MARGIN) - 1.0).abs() < 0.01, "{work:?}: {found}")
                }
                (found, us) => assert_eq!(found, us, "{work:?}"),
            }
        }
    }
}

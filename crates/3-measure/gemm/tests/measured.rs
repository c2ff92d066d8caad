//! Expected times against 3,000 measured products, and the arithmetic of filling a GPU.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    clippy::type_complexity,
    reason = "tests read files and say what they measured"
)]

use arch::{ElementType, Model};
use rockhound_gemm::{Bound, Estimate, Operands, Problem, Rounds, Scales, Tile, alternatives};

fn mi300x() -> &'static Model {
    Model::by_name("mi300x").expect("known")
}

fn problem(m: u64, n: u64, k: u64, element: ElementType) -> Problem {
    let scales = Scales::of_type("", element);
    Problem { m, n, k, element, scales, operands: Operands::Tn, left_stride: None, right_stride: None }
}

fn tile(m: u64, n: u64, k: u64, split_k: u64) -> Tile {
    Tile { m, n, k, split_k, waves: 4, stages: 2 }
}

#[test]
fn utilisation_of_the_guides_example() {
    // 4096 x 4096 on 304 compute units: tile, workgroups, percent. The guide prints 94 and 99 for the last
    // two.
    for (m, n, workgroups, percent) in [
        (256, 256, 256, 84.2),
        (128, 128, 1024, 84.2),
        (128, 256, 512, 84.2),
        (64, 64, 4096, 96.2),
        (128, 64, 2048, 96.2),
    ] {
        let it = Estimate::of(mi300x(), problem(4096, 4096, 4096, ElementType::F16), tile(m, n, 64, 1));
        assert_eq!(it.workgroups, workgroups);
        assert!((it.rounds.utilisation * 100.0 - percent).abs() < 0.05, "{m}x{n}: {:?}", it.rounds);
    }
}

#[test]
fn rounds() {
    for (workgroups, units, expected, last) in [
        (0, 304, 0, 0.0),
        (1, 304, 1, 1.0 / 304.0),
        (304, 304, 1, 1.0),
        (305, 304, 2, 1.0 / 304.0),
        (608, 304, 2, 1.0),
    ] {
        let it = Rounds::of(workgroups, units);
        assert_eq!((it.rounds, it.last_round), (expected, last), "{workgroups}");
    }
}

#[test]
fn needs_follow_tritons_allocation() {
    // As the JSON of compiled kernels has it.
    for (m, n, k, stages, bytes) in [
        (128, 128, 64, 1, 16384),
        (128, 128, 64, 2, 32768),
        (128, 128, 32, 3, 32768),
        (256, 256, 64, 2, 65536),
    ] {
        let of = Tile { stages, ..tile(m, n, k, 1) };
        assert_eq!(of.lds_bytes(ElementType::F16), bytes);
    }
    let large = Estimate::of(mi300x(), problem(4096, 4096, 4096, ElementType::F16), tile(256, 256, 128, 1));
    assert_eq!((large.need.workgroups_per_cu, large.need.limiter, large.time), (0, "LDS", None));
}

#[test]
fn narrow_factors() {
    let of = tile(256, 256, 256, 1);
    let lds = [ElementType::F8, ElementType::F6, ElementType::F4].map(|it| of.lds_bytes(it));
    assert_eq!(lds, [131_072, 98_304, 65_536]);
    // An MI300X has no instructions for it.
    assert_eq!(Estimate::of(mi300x(), problem(4096, 4096, 4096, ElementType::F4), of).time, None);
}

#[test]
fn products_of_known_tiles() {
    // GPU, type, extent, tile and scales with the rate that was measured in 10^12 operations per second: CK's
    // pull request 1727, HipKittens' issue 55 and its tables, Triton's issue 11763.
    use ElementType::{Bf16, F4, F8};
    for (gpu, element, scales, extent, depth, measured, most) in [
        ("mi300x", Bf16, Scales::End, 4096, 64, 616.0, 0.10),
        ("mi355x", F8, Scales::Mx, 4096, 128, 2150.0, 0.25),
        ("mi350x", F4, Scales::Mx, 4096, 256, 2516.0, 0.35),
        ("mi325x", Bf16, Scales::End, 4096, 64, 713.7, 0.25),
        ("mi355x", Bf16, Scales::End, 4096, 64, 1412.9, 0.25),
        ("mi355x", F8, Scales::End, 4096, 128, 2741.4, 0.25),
        ("mi355x", F8, Scales::End, 16384, 128, 3377.8, 0.30),
    ] {
        let model = Model::by_name(gpu).expect("known");
        let product = Problem { scales, ..problem(extent, extent, extent, element) };
        let of = Tile { waves: 8, ..tile(256, 256, depth, 1) };
        let time = Estimate::of(model, product, of).time.expect("fits");
        let ratio = time.tera_ops / measured;
        println!("{gpu} {} {}: {:.0} for {measured}", element.name(), scales.name(), time.tera_ops);
        assert!((ratio - 1.0).abs() <= most, "{gpu} {}: {time:?}", element.name());
        let best = alternatives(model, product, 2, false);
        let place = best.iter().position(|it| (it.tile.m, it.tile.n, it.tile.k) == (256, 256, depth));
        assert!(place.is_some_and(|it| it < 6), "{gpu} {}: {place:?}", element.name());
    }
}

#[test]
fn scales_cost_what_instructions_do_not_take() {
    let model = Model::by_name("mi355x").expect("known");
    let of = |model: &'static Model, scales| {
        let product = Problem { scales, ..problem(8192, 8192, 8192, ElementType::F8) };
        let tile = Tile { waves: 8, ..tile(256, 256, 64, 1) };
        Estimate::of(model, product, tile).time.expect("fits").total_us
    };
    let [end, mx, blocks] = [Scales::End, Scales::Mx, Scales::Blocks].map(|it| of(model, it));
    assert!(end < mx && mx < blocks, "{end} {mx} {blocks}");
    assert_eq!(of(mi300x(), Scales::Mx), of(mi300x(), Scales::Blocks));
    for (name, scales) in [("mxfp8", Scales::Mx), ("fp8", Scales::End), ("MXFP8", Scales::Mx)] {
        assert_eq!(Scales::of_type(name, ElementType::F8), scales, "{name}");
    }
    assert_eq!(Scales::of_type("fp4", ElementType::F4), Scales::Mx);
    for it in [Scales::End, Scales::Mx, Scales::Blocks] {
        assert_eq!(Scales::by_name(it.name()), Some(it));
    }
}

#[test]
fn times_that_nothing_measured_confirms_are_ranges() {
    for (gpu, element, is_range) in [
        ("mi300x", ElementType::Bf16, false),
        ("mi325x", ElementType::F16, false),
        ("mi300x", ElementType::I8, true),
        ("mi355x", ElementType::F4, false),
        ("mi355x", ElementType::F6, true),
        ("mi210", ElementType::Bf16, true),
    ] {
        let model = Model::by_name(gpu).expect("known");
        let it = Estimate::of(model, problem(4096, 4096, 4096, element), tile(128, 128, 128, 1));
        let time = it.time.expect("fits");
        assert_eq!(time.range_us.is_some(), is_range, "{gpu} {}", element.name());
        if let Some([least, most]) = time.range_us {
            assert!(least <= time.total_us && time.total_us <= most && least < most, "{gpu} {time:?}");
        }
    }
}

#[test]
fn the_model_says_what_binds() {
    let large = problem(8192, 8192, 8192, ElementType::F8);
    let it = Estimate::of(mi300x(), large, tile(128, 128, 128, 1)).time.expect("fits");
    assert!(matches!(it.bound, Bound::Matrix | Bound::UnitLoads), "{it:?}");
    let thin = problem(1, 8192, 64, ElementType::F16);
    assert_eq!(Estimate::of(mi300x(), thin, tile(16, 64, 64, 1)).time.expect("fits").bound, Bound::Launch);
    let few = problem(128, 256, 16384, ElementType::F8);
    assert_eq!(Estimate::of(mi300x(), few, tile(128, 128, 128, 1)).time.expect("fits").bound, Bound::Latency);
    // Few tiles of much depth are better shared.
    let best = alternatives(mi300x(), few, 2, true);
    assert!(best[0].tile.split_k > 1 || best[0].workgroups > 8, "{:?}", best[0].tile);
}

/// Row of the measured table: problem, tile, microseconds.
fn measured() -> Option<Vec<(Problem, Tile, f64)>> {
    let path = testkit::shared("tuning/gemm-measured/aiter-mi300x-a8w8-blockscale.csv")?;
    let mut reader = csv::Reader::from_path(path).expect("the table");
    let header = reader.headers().expect("a header").clone();
    let at = |name: &str| header.iter().position(|it| it == name).expect("a column");
    let [m, n, k, split, us, name] = ["M", "N", "K", "splitK", "us", "kernelName"].map(at);
    let mut rows = Vec::new();
    for row in reader.records() {
        let row = row.expect("a row");
        let number = |at: usize| row[at].parse::<u64>().expect("a number");
        // a8w8_blockscale_1x128x128_<threads>x<M>x<N>x<K>_…
        let cut = row[name].split('_').nth(3).expect("a tile");
        let cut: Vec<u64> = cut.split('x').map(|it| it.parse().expect("a number")).collect();
        rows.push((
            Problem { scales: Scales::Blocks, ..problem(number(m), number(n), number(k), ElementType::F8) },
            Tile { waves: (cut[0] / 64) as u32, ..tile(cut[1], cut[2], cut[3], 1 << number(split)) },
            row[us].parse().expect("a time"),
        ));
    }
    Some(rows)
}

/// Mean of the relative errors.
fn error(rows: &[(f64, f64)], scale: f64) -> f64 {
    rows.iter().map(|(expected, measured)| (scale * expected - measured).abs() / measured).sum::<f64>()
        / rows.len() as f64
}

#[test]
fn expected_times_are_near_measured_ones() {
    let Some(rows) = measured() else { return };
    assert_eq!(rows.len(), 3000);
    let times = |keep: &dyn Fn(usize, &Problem) -> bool| -> Vec<(f64, f64)> {
        let kept = rows.iter().enumerate().filter(|(at, (problem, ..))| keep(*at, problem));
        kept.map(|(_, (problem, tile, us))| {
            let it = Estimate::of(mi300x(), *problem, *tile);
            (
                it.time
                    .unwrap_or_else(|| panic!("{problem:?} {tile:?} does not fit: {:?}", it.need))
                    .total_us,
                *us,
            )
        })
        .collect()
    };
    let all = times(&|_, _| true);
    // One scale for all, the best of a fine grid.
    let scales = (50..200).map(|it| f64::from(it) / 100.0);
    let scale = scales.min_by(|a, b| error(&all, *a).total_cmp(&error(&all, *b))).expect("some");
    let groups: [(&str, &dyn Fn(usize, &Problem) -> bool, f64); 6] = [
        ("all", &|_, _| true, 0.08),
        ("M to 1,024", &|_, it| it.m <= 1024, 0.20),
        ("M 1,025 to 8,192", &|_, it| it.m > 1024 && it.m <= 8192, 0.12),
        ("M above 8,192", &|_, it| it.m > 8192, 0.06),
        ("all, rows the constants were not chosen by", &|at, _| at % 2 == 1, 0.08),
        ("M to 1,024, rows the constants were not chosen by", &|at, it| at % 2 == 1 && it.m <= 1024, 0.20),
    ];
    println!("scale {scale}");
    for (name, keep, most) in groups {
        let some = times(keep);
        let mean = error(&some, scale);
        println!("{name}: {} rows, mean error {:.1} %", some.len(), 100.0 * mean);
        assert!(mean <= most, "{name}: {mean}");
    }
}

/// Tile and waves of a kernel by its name in AITER's tables: CK's `_256x128x64x128_` (threads first), CK Tile's
/// `cktile_192x256x128_4x2x1`, assembly's `…_128x256E`.
fn tile_of(name: &str, depth: u64) -> Option<Tile> {
    let numbers = |part: &str| -> Option<Vec<u64>> { part.split('x').map(|it| it.parse().ok()).collect() };
    let parts: Vec<&str> = name.trim_end_matches('E').split('_').collect();
    let tiled = |m, n, k, waves: u64| Some(Tile { waves: waves as u32, ..tile(m, n, k, 1) });
    if let Some(at) = parts.iter().position(|it| *it == "cktile") {
        let found = numbers(parts.get(at + 1)?)?;
        let waves = parts.get(at + 2).and_then(|it| numbers(it)).map_or(4, |it| it.iter().product());
        return (found.len() == 3).then(|| tiled(found[0], found[1], found[2], waves))?;
    }
    let four =
        parts.iter().filter_map(|it| numbers(it)).find(|it| it.len() == 4 && it[0] > 0 && it[0] % 64 == 0);
    match (four, numbers(parts.last()?)) {
        (Some(it), _) => tiled(it[1], it[2], it[3], it[0] / 64),
        (None, Some(it)) if it.len() == 2 => tiled(it[0], it[1], depth, 4),
        _ => None,
    }
}

#[test]
fn expected_times_of_mi350_are_near_measured_ones() {
    let model = Model::by_name("mi355x").expect("known");
    // File, type, scales, depth of assembly kernels, largest mean error.
    for (file, element, scales, depth, most) in [
        ("bf16_tuned_gemm.csv", ElementType::Bf16, Scales::End, 64, 0.18),
        ("a8w8_tuned_gemm.csv", ElementType::F8, Scales::End, 128, 0.24),
        ("a8w8_bpreshuffle_tuned_gemm.csv", ElementType::F8, Scales::End, 128, 0.20),
        ("dsv3_a4w4_blockscale_tuned_gemm.csv", ElementType::F4, Scales::Mx, 256, 0.20),
        ("dsv4_a8w8_blockscale_bpreshuffle_tuned_gemm.csv", ElementType::F8, Scales::Blocks, 128, 0.30),
    ] {
        let Some(path) = testkit::shared(&format!("tuning/aiter/tuned/{file}")) else { return };
        let mut reader = csv::Reader::from_path(path).expect("the table");
        let header = reader.headers().expect("a header").clone();
        let at = |name: &str| header.iter().position(|it| it == name).expect("a column");
        let [target, units, m, n, k, split, us, name] =
            ["gfx", "cu_num", "M", "N", "K", "splitK", "us", "kernelName"].map(at);
        let mut errors = Vec::new();
        for row in reader.records() {
            let row = row.expect("a row");
            let number = |at: usize| row[at].parse::<u64>().expect("a number");
            let (Some(found), us) = (tile_of(&row[name], depth), row[us].parse::<f64>().expect("a time"))
            else {
                continue;
            };
            // Below that the times are those of the timer.
            if &row[target] != "gfx950" || number(units) != 256 || us < 2.5 {
                continue;
            }
            let product = Problem { scales, ..problem(number(m), number(n), number(k), element) };
            // Assembly kernels have the number of parts, CK's its logarithm.
            let parts = number(split);
            let split_k = if row[name].starts_with("_ZN") { parts.max(1) } else { 1 << parts };
            if let Some(time) = Estimate::of(model, product, Tile { split_k, ..found }).time {
                errors.push((time.total_us - us).abs() / us);
            }
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        println!("{file}: {} rows, mean error {:.1} %", errors.len(), 100.0 * mean);
        assert!(errors.len() >= 30 && mean <= most, "{file}: {mean}");
    }
}

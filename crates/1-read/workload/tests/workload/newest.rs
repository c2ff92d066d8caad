//! Layouts of the newest profilers, made from one recording in `../shared`, hold its counters; skipped loudly
//! without it.

use rockhound_workload::{Folder, Generation, Options, Workload, merge, read};
use std::borrow::Cow;
use std::collections::BTreeMap;
use view::NoteKind;

type Files = BTreeMap<String, Vec<u8>>;

fn files(what: &str) -> Option<Files> {
    testkit::shared(&format!("workloads/{what}")).map(|folder| testkit::files(&folder))
}

fn load(files: &Files) -> Workload {
    read(files, &Options::default()).unwrap()
}

fn said(w: &Workload) -> Vec<String> {
    w.problems.iter().map(ToString::to_string).collect()
}

/// The mean of a counter over the dispatches.
fn mean(values: &rockhound_workload::Values) -> f64 {
    let all: Vec<f64> = values.iter().map(|value| value.unwrap()).collect();
    all.iter().sum::<f64>() / all.len() as f64
}

/// Every counter of the base is in the other, with the same values, or with the same mean where dispatches
/// differ in number.
fn same_counters(what: &str, base: &Workload, other: &Workload) {
    assert_eq!(other.counters.len(), base.counters.len(), "{what}");
    let passes = |w: &Workload| {
        let passes: std::collections::BTreeSet<_> = w.counters.iter().map(|counter| counter.pass).collect();
        passes.len()
    };
    // Files in which dispatches have the same times are of one run of the application.
    assert!(passes(other) <= passes(base), "{what}: {} of {}", passes(other), passes(base));
    for counter in base.counters.iter() {
        let found = match counter.instance {
            Some(instance) => other.counters.instance(&counter.name, instance),
            None => other.counters.get(&counter.name),
        };
        let found = found.unwrap_or_else(|| panic!("{what}: {} is absent", counter.name));
        if other.dispatches.len() == base.dispatches.len() {
            assert!(found.values.iter().eq(counter.values.iter()), "{what}: {}", counter.name);
        } else {
            let (mean, want) = (mean(&found.values), mean(&counter.values));
            assert!((mean - want).abs() <= 1e-9 * want.abs(), "{what}: {} {mean} {want}", counter.name);
        }
    }
}

const BASE: &str = "vcopy/MI300X_A1_rocpd";

#[test]
fn every_layout_holds_the_counters_of_the_recording() {
    let Some(base) = files(BASE) else { return };
    let base = load(&base);
    let times = |w: &Workload| (0..3).map(|row| w.dispatches.duration(row)).collect::<Vec<_>>();
    // The native layout has the times of one pass, the other layouts have the times of all.
    let one_pass = [8052.0, 6650.0, 6730.0].map(Some).to_vec();
    for (what, generation, durations) in [
        ("f0_ch64", Generation::Long, times(&base)),
        ("f1_results_gz", Generation::Long, times(&base)),
        ("f3_native", Generation::Native, one_pass),
        ("f4_out_db_only", Generation::Rocpd, times(&base)),
        ("f4_out_with_pmc", Generation::Rocpd, times(&base)),
        ("f5_ps_and_pmc", Generation::Long, times(&base)),
        ("f5_ps_csv", Generation::Long, times(&base)),
        ("f6_ranks/0", Generation::Long, times(&base)),
    ] {
        let Some(files) = files(&format!("newest/{what}")) else { return };
        let w = load(&files);
        assert_eq!((w.generation, said(&w)), (generation, Vec::new()), "{what}");
        assert_eq!(w.dispatches.id, base.dispatches.id, "{what}");
        assert_eq!(times(&w), durations, "{what}");
        assert_eq!(w.kernels, base.kernels, "{what}");
        assert_eq!(w.dispatches.grid, base.dispatches.grid, "{what}");
        assert_eq!(w.dispatches.sgpr, base.dispatches.sgpr, "{what}");
        let channels = if what == "f0_ch64" { 64.0 } else { 128.0 };
        assert_eq!(w.machine.number("num_hbm_channels"), Some(channels), "{what}");
        assert_eq!(w.machine.number("cu_per_gpu"), Some(304.0), "{what}");
        same_counters(what, &base, &w);
    }
}

#[test]
fn multiplexed_iterations_have_the_means_of_the_recording() {
    let (Some(base), Some(files)) = (files(BASE), files("newest/f7_iter_mux")) else { return };
    let w = load(&files);
    assert_eq!(w.dispatches.len(), 12);
    testkit::golden("multiplexed iterations", &said(&w).join("\n"));
    same_counters("f7_iter_mux", &load(&base), &w);
}

#[test]
fn ranks_are_merged() {
    let (Some(base), Some(files)) = (files(BASE), files("newest/f6_ranks")) else { return };
    let rank = |rank: &str| {
        let own = files.iter().filter_map(|(name, bytes)| {
            Some((name.strip_prefix(&format!("{rank}/"))?.to_string(), bytes.clone()))
        });
        (rank.to_string(), load(&own.collect()))
    };
    let w = merge(vec![rank("0"), rank("1")]).unwrap();
    assert_eq!((w.dispatches.len(), w.ranks.len()), (6, 2));
    // The second rank is made to be slower by 1000 ns.
    assert_eq!(w.dispatches.duration(3), w.dispatches.duration(0).map(|time| time + 1000.0));
    same_counters("f6_ranks", &load(&base), &w);
}

/// A folder that lists its files in another order.
struct Backwards<'a>(&'a Files);

impl Folder for Backwards<'_> {
    fn names(&self) -> Vec<String> {
        self.0.keys().rev().cloned().collect()
    }
    fn bytes(&self, name: &str) -> Result<Cow<'_, [u8]>, String> {
        self.0
            .get(name)
            .map(|bytes| Cow::Borrowed(bytes.as_slice()))
            .ok_or_else(|| "no such file".to_string())
    }
}

#[test]
fn neither_the_order_of_files_nor_their_numbers_matter() {
    for what in ["f1_results_gz", "f3_native", "f4_out_db_only", "f4_out_with_pmc"] {
        let Some(files) = files(&format!("newest/{what}")) else { return };
        let w = load(&files);
        assert!(read(&Backwards(&files), &Options::default()).unwrap() == w, "{what}");
        // The passes in another order.
        let swapped: Files = files
            .iter()
            .map(|(name, bytes)| {
                let name = name.replace("pmc_perf_0", "pmc_perf_x").replace("pmc_perf_3", "pmc_perf_0");
                (name.replace("pmc_perf_x", "pmc_perf_3"), bytes.clone())
            })
            .collect();
        let other = load(&swapped);
        assert_eq!(said(&other), Vec::<String>::new(), "{what}");
        same_counters(what, &w, &other);
        let times = |w: &Workload| (0..3).map(|row| w.dispatches.duration(row)).collect::<Vec<_>>();
        assert_eq!(times(&other), times(&w), "{what}");
    }
}

#[test]
fn what_is_cut_off_is_said() {
    use std::io::{Read as _, Write as _};
    let unpack = |bytes: &[u8]| {
        let mut out = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut out).unwrap();
        out
    };
    let pack = |bytes: &[u8]| {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(bytes).unwrap();
        z.finish().unwrap()
    };
    for (what, file) in [
        ("f1_results_gz", "results_pmc_perf_2.csv.gz"),
        ("f3_native", "counters_pmc_perf_2_1002.csv.gz"),
        ("f3_native", "dispatch_pmc_perf_2_1002.csv.gz"),
        ("f3_native", "kernel_symbols_pmc_perf_2_1002.csv.gz"),
        ("f4_out_with_pmc", "out/pmc_perf_2/2002_native_counter_collection.csv.gz"),
        ("f4_out_db_only", "out/pmc_perf_2/2002/2002.db"),
    ] {
        let Some(files) = files(&format!("newest/{what}")) else { return };
        let good = load(&files);
        let whole = &files[file];
        let mut damaged: Vec<(String, Option<Vec<u8>>)> = vec![
            ("packed bytes end early".to_string(), Some(whole[..whole.len() / 2].to_vec())),
            ("empty".to_string(), Some(Vec::new())),
        ];
        if file.ends_with(".gz") {
            let text = unpack(whole);
            let half = text[..text.len() / 2].to_vec();
            damaged.push(("text ends in a row".to_string(), Some(pack(&half))));
        }
        if what == "f3_native" {
            damaged.push(("absent".to_string(), None));
        }
        for (how, bytes) in damaged {
            let mut files = files.clone();
            match bytes {
                Some(bytes) => files.insert(file.to_string(), bytes),
                None => files.remove(file),
            };
            let w = load(&files);
            let said = said(&w).join("\n");
            let stem = file.rsplit('/').next().unwrap().trim_end_matches(".gz");
            let pass = if how == "absent" { "_pmc_perf_2_1002.csv" } else { stem };
            assert!(said.contains(pass), "{what} {file} {how}: {said}");
            // In the database's folder the database has the same counters.
            let kept =
                if what == "f4_out_with_pmc" { good.counters.len() } else { good.counters.len() * 3 / 4 };
            assert!(w.counters.len() >= kept - 2, "{what} {file} {how}: {} counters", w.counters.len());
            assert!(w.problems.iter().any(|it| it.kind == NoteKind::Error), "{what} {file} {how}: {said}");
            assert_eq!(w.dispatches.len(), 3, "{what} {file} {how}");
        }
    }
}

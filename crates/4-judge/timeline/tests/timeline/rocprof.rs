//! Real and made traces of rocprofv3: time in which anything runs, kernels, queues, calls, as computed
//! without this code.

use rockhound_timeline::{Links, kernels, overviews, together};
use trace::{HostKind, Timeline};

fn read(name: &str) -> Option<Timeline> {
    let path = testkit::shared(&format!("traces/{name}"))?;
    let mut file = std::fs::File::open(path).expect("a shared file");
    Some(trace::read(name, &mut file).expect(name))
}

#[test]
fn time_in_which_anything_runs() {
    for (file, dispatches, span, busy, sum) in [
        ("rocprofv3/mi350x-training_results.json.gz", 43_915, 15_122_023_494, 4_233_112_334, 4_441_741_378),
        ("rocprofv3/mi350x-training-cut_results.json", 500, 5_022_246_315, 889_928_429, 890_312_791),
        ("rocpd/made-mi350x_results.db", 500, 5_022_246_315, 889_928_429, 890_312_791),
        ("rocpd/made-rank1_results.db", 80, 109_385_053, 461_361, 461_361),
    ] {
        let Some(t) = read(file) else { return };
        let kernel = |at: usize| t.gpu.kind[at] == trace::GpuKind::Kernel;
        let all = together(&overviews(&t, &kernel));
        assert_eq!((all.kernels, all.span, all.busy, all.sum), (dispatches, span, busy, sum), "{file}");
    }
}

#[test]
fn kernels_and_queues_of_the_training() {
    let Some(t) = read("rocprofv3/mi350x-training_results.json.gz") else { return };
    let links = Links::of(&t);
    let sums = kernels(&t, &links);
    let named = |part: &str| -> Vec<_> {
        sums.iter().filter(|it| t.names.get(it.name).contains(part)).map(|it| it.durations).collect()
    };
    let [nccl] = named("ncclDevKernel_Generic_1")[..] else { panic!("one kernel") };
    assert_eq!((nccl.count, nccl.total, nccl.max), (1_310, 4_158_756_678, 733_003_332));
    let share = 100.0 * nccl.total as f64 / 4_441_741_378.0;
    assert!((share - 93.6).abs() < 0.05, "{share}");
    let element_wise = named("vectorized_elementwise_kernel");
    let count: u64 = element_wise.iter().map(|it| it.count).sum();
    let time: i64 = element_wise.iter().map(|it| it.total).sum();
    assert_eq!((count, time), (16_971, 74_340_648));
    let mut queues: Vec<u64> = t.queues.iter().map(|it| it.stream).collect();
    queues.sort_unstable();
    assert_eq!(queues, [16, 17, 18, 19, 20]);
}

#[test]
fn calls_and_ranges_of_databases() {
    for (file, calls) in [
        ("rocpd/made-mi350x_results.db", [("hipLaunchKernel", 333), ("hipExtModuleLaunchKernel", 167)]),
        ("rocpd/made-rank1_results.db", [("hipLaunchKernel", 53), ("hipExtModuleLaunchKernel", 27)]),
    ] {
        let Some(t) = read(file) else { return };
        let of = |name: &str| t.host.name.iter().filter(|it| t.names.get(**it) == name).count();
        for (name, count) in calls {
            assert_eq!(of(name), count, "{file}: {name}");
        }
        // Two ranges and a marker without length.
        let ranges = (0..t.host.len()).filter(|at| t.host.kind[*at] == HostKind::Annotation);
        assert_eq!(ranges.filter(|at| t.host.duration(*at) > 0).count(), 2, "{file}");
    }
}

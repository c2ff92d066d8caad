//! A matrix product on gfx950 whose counters and instruction trace are recorded: ours compiles to the same
//! instructions.

use crate::compile::compile;
use probe::Value;
use rockhound_record::{Job, Recorder};

/// Lines of a recorded table, or `None` (and a word about it) where it is not there.
fn recorded(name: &str) -> Option<String> {
    let path = testkit::shared("facts/measured/sqtt-gfx950")?.join(name);
    Some(std::fs::read_to_string(path).unwrap())
}

/// Mnemonic without the suffix of its encoding.
fn plain(mnemonic: &str) -> &str {
    mnemonic.trim_end_matches("_e32").trim_end_matches("_e64")
}

#[test]
fn counters_of_the_traced_product_are_the_recorded_ones() {
    let (Some(trace), Some(counters)) = (recorded("issue.csv"), recorded("counters.csv")) else { return };
    let Some(bytes) = compile("clang++-22", "trace.hip", "gfx950", &[]) else { return };
    let mut job = Job::find(&bytes, None).unwrap();
    let numbers = |step: u32| -> Vec<f32> { (0..1024).map(|i| (i * step % 17) as f32).collect() };
    let (a, b) = (numbers(3), numbers(5));
    let bytes_of = |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|it| it.to_le_bytes()).collect() };
    let c = job.memory.allocate("c", 4096);
    let [at_a, at_b] = [&a, &b].map(|it| job.memory.allocate_with("matrix", &bytes_of(it)));
    job.give([c, at_a, at_b].map(u64::to_le_bytes));
    let mut recorder = Recorder::new(arch::Model::by_name("mi355x").unwrap());
    job.run(&mut recorder, [32, 32, 1], [16, 1, 1]).unwrap();
    let dispatch = &recorder.dispatches()[0];

    let product = |i: usize| (0..32).map(|k| a[i / 32 * 32 + k] * b[k * 32 + i % 32]).sum::<f32>();
    let expected: Vec<f32> = (0..1024).map(product).collect();
    assert_eq!(job.memory.read(c, 4096).unwrap(), bytes_of(&expected));

    // What the four traced waves issued, and what each wave issues here.
    let named = trace.lines().skip(1).filter_map(|line| line.split_once(','));
    let mut traced: Vec<&str> =
        named.map(|(_, text)| plain(text.trim_start_matches('"').split('(').next().unwrap())).collect();
    let issued = dispatch.instructions.iter().filter(|row| row.executions > 0);
    let mut issued: Vec<&str> = issued.map(|row| plain(row.text.split(' ').next().unwrap())).collect();
    traced.sort_unstable();
    issued.sort_unstable();
    assert_eq!(issued, traced);

    // Not those that depend on time, and on what other workgroups do.
    for counter in ["SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_LDS_IDX_ACTIVE", "SQ_LDS_BANK_CONFLICT"] {
        let start = format!("gfx950,gemm_run_0,r_32_32_16_2,{counter},");
        let line = counters.lines().find(|line| line.starts_with(&start)).unwrap();
        let found = dispatch.counters.iter().find(|(name, _)| *name == counter);
        let Some((_, Value::Known(found))) = found else { panic!("no {counter}") };
        assert_eq!(line.split(',').nth(5), Some(found.to_string().as_str()), "{counter}");
    }
}

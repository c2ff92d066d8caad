//! Any bytes as kept events, and as a batch of them that a clock then follows.
#![no_main]

use clock::{Gpu, Grid, Op, Unit};
use libfuzzer_sys::fuzz_target;
use mem::{BatchReader, SpillStore, InMemory};
use std::cell::RefCell;
use std::sync::Arc;

/// A program with an instruction of each kind.
const UNITS: [Unit; 8] = [
    Unit::Vector,
    Unit::Scalar,
    Unit::ScalarMemory,
    Unit::Memory,
    Unit::Lds,
    Unit::Wait { vector: 0, other: 0 },
    Unit::Barrier,
    Unit::End,
];

thread_local! {
    static STORE: Arc<SpillStore> = Arc::new(SpillStore::with_budget(Box::new(InMemory::new(1 << 26)), 1 << 26, 0));
    static GPU: RefCell<Gpu> = RefCell::new(Gpu::new(arch::Model::by_name("mi210").expect("a known GPU")));
}

fuzz_target!(|data: &[u8]| {
    let _ = record::Events::read(data);
    let ops: Arc<[Op]> = UNITS.iter().map(|&unit| Op { slot: 0, ..Op::new(unit, 4) }).collect();
    let spill_store = STORE.with(Arc::clone);
    // What follows zeros in a row stands for a piece.
    let parts =
        data.windows(4).position(|it| it == [0; 4]).map_or((data, &data[..0]), |at| data.split_at(at));
    let (first, later) = parts;
    let mut later = later.chunks(64).map(<[u8]>::to_vec);
    if let Ok(batch) = BatchReader::new(ops.len(), Some(&spill_store)).read(first, || later.next()) {
        GPU.with_borrow_mut(|gpu| {
            gpu.begin(Grid { groups: batch.groups.len() as u64, groups_per_unit: 2, ..Grid::default() }, ops);
            gpu.push(batch);
            gpu.finish(&[]);
        });
    }
});

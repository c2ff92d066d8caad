//! Tests of the L2.

use super::*;
use arch::Model;

impl L2 {
    fn ask(&mut self, request: L2Request) -> L2Answer {
        let at = self.locate(request.line);
        self.request(request, &at)
    }
}

fn l2(model: &str) -> L2 {
    L2::new(&Shape::of(Model::by_name(model).unwrap()))
}

fn request(request_type: RequestType, line: u64, touched: u8, full: u8) -> L2Request {
    let memory = MemoryType::Rw;
    L2Request { request_type, line, touched, full, memory, local: true, stream: false, repeats: 0 }
}

fn sum(l2: &mut L2, counts: &[Count]) -> Vec<u64> {
    let tally = crate::count::Tally::new(Default::default(), l2.take_counts());
    counts.iter().map(|&count| tally.get(count)).collect()
}

#[test]
fn a_line_is_read_once_and_written_back_as_it_was_written() {
    use Count::*;
    let shown = [L2Hit, L2Miss, FabricRead64, FabricRead128, FabricWrite32, FabricWrite64, WritebackFlush];
    for model in ["mi210", "mi300x"] {
        let mut l2 = l2(model);
        // The first half is written whole, one dword of the second, then all is read, then read again.
        assert!(!l2.ask(request(RequestType::Write, 9, 0b0011, 0b0011)).hit);
        assert!(l2.ask(request(RequestType::Write, 9, 0b0100, 0)).hit);
        let held = l2.ask(request(RequestType::Read, 9, 0b0011, 0b0011));
        assert!(held.hit && held.read == 0);
        let lacks = l2.ask(request(RequestType::Read, 9, 0b1111, 0b1111));
        assert!(lacks.hit && lacks.read > 0);
        assert_eq!(l2.ask(request(RequestType::Atomic, 9, 0b1000, 0)).read, 0);
        l2.flush(|_, _| {});
        l2.flush(|_, _| {});
        assert_eq!(sum(&mut l2, &shown), [4, 1, 1, 0, 0, 2, 1], "{model}");
    }
}

#[test]
fn half_a_line_is_read_where_no_more_is_wanted() {
    use Count::*;
    let shown = [L2Hit, L2Miss, FabricRead64, FabricRead128];
    for (model, whole) in [("mi210", [2, 0]), ("mi300x", [0, 1])] {
        let mut l2 = l2(model);
        let read = |l2: &mut L2, line, touched| l2.ask(request(RequestType::Read, line, touched, 0)).read;
        assert_eq!([0b0001, 0b0011, 0b0100, 0b1111].map(|touched| read(&mut l2, 9, touched)), [64, 0, 64, 0]);
        assert_eq!(sum(&mut l2, &shown), [3, 1, 2, 0], "{model}");
        assert_eq!([read(&mut l2, 8, 0b1111), read(&mut l2, 8, 0b0001)], [128, 0]);
        assert_eq!(sum(&mut l2, &shown), [1, 1, whole[0], whole[1]], "{model}");
    }
}

#[test]
fn half_of_the_lines_may_be_dirty() {
    use Count::*;
    let shown = [FabricWrite64, Evict, WritebackEvict, WritebackFlush];
    // Lines filled in halves, twice as many as there are places, then lines read over and over, some the
    // short way.
    let even = Shape { scattered: false, ..Shape::of(Model::by_name("mi210").unwrap()) };
    let mut l2 = L2::new(&even);
    let places = l2.cache.places() as u64;
    for (line, half) in (0..2 * places).flat_map(|line| [(line, 0b0011), (line, 0b1100)]) {
        let answer = l2.ask(request(RequestType::Write, line, half, half));
        assert!(answer.written.iter().all(|written| written.1 == 0 || written.0 < line));
    }
    assert_eq!(sum(&mut l2, &shown), [3 * places, places, 3 * places / 2, 0]);
    for line in 3 * places / 2..2 * places {
        let at = l2.locate(line);
        let place = at.place.unwrap();
        if l2.fast_read().read_hit(line, place, 0b1111).is_none() {
            l2.request(request(RequestType::Read, line, 0b1111, 0b1111), &at);
        }
    }
    assert_eq!(sum(&mut l2, &shown), [0; 4], "the young change places only");
    for line in places..3 * places / 2 {
        let at = l2.locate(line);
        let place = at.place.unwrap();
        assert!(l2.fast_read().read_hit(line, place, 0b1111).is_none(), "another has to be written");
        let (old, bytes) = l2.request(request(RequestType::Read, line, 0b1111, 0b1111), &at).written[1];
        assert!(old >= 3 * places / 2 && bytes == 128);
    }
    l2.flush(|_, _| panic!("nothing is dirty"));
    assert_eq!(sum(&mut l2, &shown), [places, 0, places / 2, 0]);
}

#[test]
fn strides_spread_over_channels_and_sets() {
    // Rows of a matrix, each a power of two long: as many lines as half the cache holds all stay.
    for stride in (0..20).map(|power| 1 << power) {
        let mut l2 = l2("mi300x");
        let lines = (l2.cache.places() / 2) as u64;
        for _ in 0..2 {
            for number in 0..lines {
                l2.ask(request(RequestType::Read, number * stride, 0b11, 0b11));
            }
        }
        let counts = sum(&mut l2, &[Count::L2Hit, Count::L2Miss, Count::Evict]);
        assert_eq!(counts, [lines, lines, 0], "{stride}");
    }
}

#[test]
fn uncached_requests_go_to_memory_each_time() {
    let mut l2 = l2("mi300x");
    for request_type in [RequestType::Read, RequestType::Read, RequestType::Write, RequestType::Atomic] {
        let memory = MemoryType::Uc;
        let request = L2Request { memory, local: false, ..request(request_type, 1, 0b0011, 0b0011) };
        assert!(!l2.ask(request).hit);
    }
    use Count::*;
    let shown = [FabricRead64, FabricReadUncached, FabricReadLocal, FabricWrite64, FabricAtomic, L2Uc];
    assert_eq!(sum(&mut l2, &shown), [2, 4, 0, 1, 1, 4]);
}

#[test]
fn folding_takes_all_bits_into_account() {
    for bits in 0..20 {
        for value in [0, 1, 0x1234_5678_9abc_def0, u64::MAX, 1 << 63, 0xdead_beef] {
            let parts = (0..64).step_by(bits.max(1) as usize).map(|shift| value >> shift);
            let folded = parts.fold(0, |all, part| all ^ part) & ((1 << bits) - 1);
            assert_eq!(fold(value, bits), folded, "{value:#x} to {bits}");
        }
    }
}

#[test]
fn streaming_stores_take_one_place_of_a_set() {
    // Lines of one set fill it; others are then stored in halves and leave all but one.
    let mut l2 = l2("mi300x");
    let set = l2.locate(0).set;
    let lines: Vec<u64> = (0..1 << 20).filter(|&line| l2.locate(line).set == set).take(32).collect();
    for &line in &lines[..16] {
        l2.ask(request(RequestType::Read, line, 0b1111, 0));
    }
    for (&line, half) in lines[16..].iter().flat_map(|line| [(line, 0b0011), (line, 0b1100)]) {
        l2.ask(L2Request { stream: true, ..request(RequestType::Write, line, half, half) });
    }
    let kept = |lines: &[u64]| lines.iter().filter(|&&line| l2.locate(line).place.is_some()).count();
    assert_eq!([kept(&lines[..16]), kept(&lines[16..])], [15, 1]);
}

//! Symbolic arithmetic against plain evaluation.
//!
//! For any numbers substituted for the unknowns, a symbolic result and the operation on numbers agree in
//! every lane.

use super::value::{Derived, Id, LANES, Marks, Pool, Symbol};
use std::collections::HashMap;

/// A small generator of test cases, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn symbol(max: Option<u32>) -> Symbol {
    Symbol { varying: false, max, changes_in: None, marks: Marks::default() }
}

/// The value of an id in one lane when the unknowns are as `given`.
fn evaluate(pool: &Pool, id: Id, lane: usize, given: &HashMap<u32, u32>) -> u32 {
    let terms = pool.get(id).terms().iter();
    terms.fold(pool.lane_values(id)[lane], |sum, term| {
        let value = match given.get(&term.symbol) {
            Some(value) => *value,
            None => {
                let (kind, [a, b, _]) = pool.origin(term.symbol).expect("made by an operation");
                let (a, b) = (evaluate(pool, a, lane, given), evaluate(pool, b, lane, given));
                match kind {
                    Derived::Shr => a >> b,
                    Derived::And => a & b,
                    other => panic!("{other:?}"),
                }
            }
        };
        sum.wrapping_add(value.wrapping_mul(term.coeff))
    })
}

#[test]
fn symbolic_results_agree_with_numbers() {
    let mut numbers = Numbers(1);
    let mut known = 0;
    for _ in 0..400 {
        let mut pool = Pool::default();
        let zero = pool.constant(0);
        assert_eq!(zero, 0);
        let mut given = HashMap::new();
        let mut values = vec![pool.linear(0, 1)];
        for max in [Some(15), Some(3), None] {
            let id = pool.unknown(symbol(max));
            let term = pool.get(id).terms()[0];
            let bound = max.map_or(u64::from(u32::MAX), |max| u64::from(max) + 1);
            given.insert(term.symbol, numbers.next(bound) as u32);
            values.push(id);
        }
        for _ in 0..24 {
            let a = values[numbers.next(values.len() as u64) as usize];
            let number = match numbers.next(4) {
                0 => numbers.next(64) as u32,
                1 => (1 << numbers.next(12)) - 1,
                2 => !((1 << numbers.next(8)) - 1),
                _ => 1 << numbers.next(12),
            };
            let b = if numbers.next(2) == 0 {
                pool.constant(number)
            } else {
                values[numbers.next(values.len() as u64) as usize]
            };
            let shift = numbers.next(12) as u32;
            type Operation = fn(u32, u32, u32) -> u32;
            let (result, operation): (Option<Id>, Operation) = match numbers.next(8) {
                0 => (pool.add(a, b), |a, b, _| a.wrapping_add(b)),
                1 => (pool.sub(a, b), |a, b, _| a.wrapping_sub(b)),
                2 => (pool.mul(a, b), |a, b, _| a.wrapping_mul(b)),
                3 => (pool.bitwise(Derived::And, a, b), |a, b, _| a & b),
                4 => (pool.bitwise(Derived::Or, a, b), |a, b, _| a | b),
                5 => (pool.bitwise(Derived::Xor, a, b), |a, b, _| a ^ b),
                6 => (pool.scale(a, 1 << shift), |a, _, shift| a << shift),
                _ => (pool.shr(a, shift), |a, _, shift| a >> shift),
            };
            let Some(result) = result else { continue };
            known += 1;
            for lane in 0..LANES {
                let numbers = [a, b, result].map(|id| evaluate(&pool, id, lane, &given));
                let expected = operation(numbers[0], numbers[1], shift);
                assert_eq!(numbers[2], expected, "lane {lane}: {:?} {:?}", pool.get(a), pool.get(b));
            }
            values.push(result);
        }
    }
    // Most operations stay known, or the check above says little.
    assert!(known > 400 * 24 / 2, "{known}");
}

#[test]
fn common_shapes_stay_known() {
    let mut pool = Pool::default();
    pool.constant(0);
    let wave = pool.unknown(symbol(Some(3)));
    let lane = pool.linear(0, 1);
    let base = pool.scale(wave, 64).unwrap();
    let item = pool.add(lane, base).unwrap();
    let group = pool.unknown(symbol(None));

    // Column and row of a 16-wide tile: (item & 15), (item >> 4).
    let fifteen = pool.constant(15);
    let column = pool.bitwise(Derived::And, item, fifteen).unwrap();
    assert_eq!(pool.lane_values(column)[17], 1);
    assert!(pool.get(column).terms().is_empty());
    let row = pool.shr(item, 4).unwrap();
    assert_eq!(pool.lane_values(row)[17], 1);
    assert_eq!(pool.get(row).terms()[0].coeff, 4);

    // group * 256 | item is a sum, since item stays below 256.
    let start = pool.scale(group, 256).unwrap();
    let index = pool.bitwise(Derived::Or, start, item).unwrap();
    assert_eq!(Some(index), pool.add(start, item));

    // A swizzle: column ^ (row & 7), row known up to the wave.
    let seven = pool.constant(7);
    let low_row = pool.shr(lane, 3).and_then(|row| pool.bitwise(Derived::And, row, seven)).unwrap();
    let swizzled = pool.bitwise(Derived::Xor, column, low_row).unwrap();
    assert_eq!(pool.lane_values(swizzled)[25], 9 ^ 3);
}

#[test]
fn equal_values_have_equal_ids() {
    let mut pool = Pool::default();
    let (a, b) = (pool.unknown(symbol(None)), pool.unknown(symbol(None)));
    let ab = pool.add(a, b).unwrap();
    let ba = pool.add(b, a).unwrap();
    assert_eq!(ab, ba);
    let back = pool.sub(ab, b).unwrap();
    assert_eq!(back, a);
    let table = pool.table(std::array::from_fn(|lane| 3 + 5 * lane as u32)).unwrap();
    assert_eq!(table, pool.linear(3, 5));
}

//! Values of address arithmetic: one number per lane plus a sum of unknowns.
//!
//! A value is `f(lane) + c1*s1 + c2*s2 + …` modulo 2^32 with `f` known for each of the 64 lanes. Arithmetic
//! that keeps this form is exact; everything else becomes a new unknown. Equal values have equal ids, so
//! comparing addresses is comparing numbers.

use foldhash::HashMap;
use std::hash::{Hash, Hasher};

/// Lanes of a wave.
pub const LANES: usize = 64;
/// Maximum number of unknowns in one value; a longer sum becomes one unknown.
const TERMS: usize = 4;
/// Maximum number of tables per kernel; beyond it results are unknown.
const TABLES: usize = 4096;

/// A value, as an index into its [`Pool`].
pub type Id = u32;

/// The part of a value that differs between lanes and is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lane {
    /// `base + step * lane`
    Linear { base: u32, step: u32 },
    /// One number per lane, as an index into the pool's tables.
    Table(u32),
}

/// `coeff * symbol`
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Term {
    pub(super) symbol: u32,
    pub(super) coeff: u32,
}

/// A value: see the module. Terms beyond `count` are zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    lane: Lane,
    count: u8,
    terms: [Term; TERMS],
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.lane {
            Lane::Linear { base, step } => state.write_u64(u64::from(base) << 32 | u64::from(step)),
            Lane::Table(index) => state.write_u64(u64::from(index) | 1 << 63),
        }
        for term in self.terms() {
            state.write_u64(u64::from(term.symbol) << 32 | u64::from(term.coeff));
        }
    }
}

impl Value {
    /// A number.
    const fn constant(base: u32) -> Value {
        Value { lane: Lane::Linear { base, step: 0 }, count: 0, terms: [Term { symbol: 0, coeff: 0 }; TERMS] }
    }

    /// The unknowns.
    pub(super) fn terms(&self) -> &[Term] {
        &self.terms[..usize::from(self.count)]
    }

    /// The number, if it is one.
    fn as_constant(&self) -> Option<u32> {
        match self.lane {
            Lane::Linear { base, step: 0 } if self.count == 0 => Some(base),
            _ => None,
        }
    }
}

/// Origins of an unknown; the union over its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks {
    /// The workgroup's position in the grid.
    pub workgroup: bool,
    /// A size of the grid or the workgroup.
    pub grid: bool,
    /// A kernel argument.
    pub argument: bool,
    /// Loaded from memory, other than a kernel argument.
    pub loaded: bool,
}

impl Marks {
    pub(super) fn union(self, other: Marks) -> Marks {
        Marks {
            workgroup: self.workgroup || other.workgroup,
            grid: self.grid || other.grid,
            argument: self.argument || other.argument,
            loaded: self.loaded || other.loaded,
        }
    }
}

/// An unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Symbol {
    /// Lanes may have different values.
    pub(super) varying: bool,
    /// Largest value, when known.
    pub(super) max: Option<u32>,
    /// Innermost loop whose iterations may change it.
    pub(super) changes_in: Option<u32>,
    /// Its origins.
    pub(super) marks: Marks,
}

/// Operations whose result is unknown but the same for the same operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Derived {
    Sum,
    Product,
    Shl,
    Shr,
    Sign,
    And,
    Or,
    Xor,
    High,
    HighShift,
    Load(i32),
    FirstLane,
    Other(u16),
}

/// All values of one kernel.
#[derive(Debug, Default)]
pub(super) struct Pool {
    values: Vec<Value>,
    ids: HashMap<Value, Id>,
    tables: Vec<[u32; LANES]>,
    table_ids: HashMap<[u32; LANES], u32>,
    symbols: Vec<Symbol>,
    /// The value that is a symbol and nothing else, by symbol: most values are, and need no look-up.
    alone: Vec<Id>,
    derived: HashMap<(Derived, Id, Id, Id), Id>,
    /// Unknowns that are the product of a known number per lane and one unknown for all lanes, by symbol; and
    /// the number.
    strides: HashMap<u32, Id>,
}

impl Pool {
    /// An empty pool with room for the values of `insts` instructions.
    pub(super) fn for_instructions(insts: usize) -> Self {
        let mut pool = Pool::default();
        pool.values.reserve(insts);
        pool.symbols.reserve(insts / 2);
        pool.alone.reserve(insts / 2);
        pool.ids.reserve(insts / 2);
        pool.derived.reserve(insts / 2);
        pool
    }

    pub(super) fn get(&self, id: Id) -> &Value {
        &self.values[id as usize]
    }

    pub(super) fn symbol(&self, term: Term) -> &Symbol {
        &self.symbols[term.symbol as usize]
    }

    fn intern(&mut self, value: Value) -> Id {
        if let (Lane::Linear { base: 0, step: 0 }, [Term { symbol, coeff: 1 }]) = (value.lane, value.terms())
        {
            return self.alone[*symbol as usize];
        }
        let values = &mut self.values;
        *self.ids.entry(value).or_insert_with(|| {
            values.push(value);
            values.len() as Id - 1
        })
    }

    pub(super) fn constant(&mut self, value: u32) -> Id {
        self.intern(Value::constant(value))
    }

    pub(super) fn as_constant(&self, id: Id) -> Option<u32> {
        self.get(id).as_constant()
    }

    /// `base + step * lane`
    pub(super) fn linear(&mut self, base: u32, step: u32) -> Id {
        self.intern(Value { lane: Lane::Linear { base, step }, ..Value::constant(0) })
    }

    /// A new unknown.
    pub(super) fn unknown(&mut self, symbol: Symbol) -> Id {
        let index = self.symbols.len() as u32;
        self.symbols.push(symbol);
        let mut value = Value::constant(0);
        value.terms[0] = Term { symbol: index, coeff: 1 };
        value.count = 1;
        self.values.push(value);
        let id = self.values.len() as Id - 1;
        self.alone.push(id);
        id
    }

    /// One number per lane.
    pub(super) fn table(&mut self, table: [u32; LANES]) -> Option<Id> {
        let lane = self.lane_of(table)?;
        Some(self.intern(Value { lane, ..Value::constant(0) }))
    }

    fn lane_of(&mut self, table: [u32; LANES]) -> Option<Lane> {
        let (base, step) = (table[0], table[1].wrapping_sub(table[0]));
        if (0..LANES).all(|i| table[i] == base.wrapping_add(step.wrapping_mul(i as u32))) {
            return Some(Lane::Linear { base, step });
        }
        if let Some(&known) = self.table_ids.get(&table) {
            return Some(Lane::Table(known));
        }
        if self.tables.len() >= TABLES {
            return None;
        }
        self.tables.push(table);
        let index = self.tables.len() as u32 - 1;
        self.table_ids.insert(table, index);
        Some(Lane::Table(index))
    }

    fn lanes(&self, lane: Lane) -> [u32; LANES] {
        match lane {
            Lane::Linear { base, step } => {
                std::array::from_fn(|i| base.wrapping_add(step.wrapping_mul(i as u32)))
            }
            Lane::Table(index) => self.tables[index as usize],
        }
    }

    /// The known part, lane by lane.
    pub(super) fn lane_values(&self, id: Id) -> [u32; LANES] {
        self.lanes(self.get(id).lane)
    }

    fn map_lanes(&mut self, a: Lane, f: impl Fn(u32) -> u32) -> Option<Lane> {
        if let Lane::Linear { base, step: 0 } = a {
            return Some(Lane::Linear { base: f(base), step: 0 });
        }
        let table = self.lanes(a);
        self.lane_of(table.map(f))
    }

    fn zip_lanes(&mut self, a: Lane, b: Lane, f: impl Fn(u32, u32) -> u32) -> Option<Lane> {
        if let (Lane::Linear { base, step: 0 }, Lane::Linear { base: other, step: 0 }) = (a, b) {
            return Some(Lane::Linear { base: f(base, other), step: 0 });
        }
        let (a, b) = (self.lanes(a), self.lanes(b));
        self.lane_of(std::array::from_fn(|i| f(a[i], b[i])))
    }

    /// All lanes have the same value.
    pub(super) fn is_uniform(&self, id: Id) -> bool {
        let value = self.get(id);
        matches!(value.lane, Lane::Linear { step: 0, .. }) && self.has_uniform_terms(id)
    }

    /// True if the unknowns are the same for all lanes.
    pub(super) fn has_uniform_terms(&self, id: Id) -> bool {
        self.get(id).terms().iter().all(|term| !self.symbols[term.symbol as usize].varying)
    }

    /// Union of what the unknowns derive from.
    pub(super) fn marks(&self, id: Id) -> Marks {
        let terms = self.get(id).terms().iter();
        terms.fold(Marks::default(), |all, term| all.union(self.symbol(*term).marks))
    }

    /// Power of two that divides every unknown term, as its exponent; 32 without unknowns.
    pub(super) fn term_alignment(&self, id: Id) -> u32 {
        self.get(id).terms().iter().map(|term| term.coeff.trailing_zeros()).min().unwrap_or(32)
    }

    fn lane_max(&self, lane: Lane) -> u64 {
        match lane {
            Lane::Linear { base, step } => {
                let last = u64::from(base) + u64::from(step) * (LANES as u64 - 1);
                if last > u64::from(u32::MAX) { u64::from(u32::MAX) } else { last }
            }
            Lane::Table(index) => u64::from(self.tables[index as usize].into_iter().max().unwrap_or(0)),
        }
    }

    /// Largest value over all lanes, when the unknowns are bounded and nothing wraps.
    fn max(&self, value: &Value) -> Option<u64> {
        if let Lane::Linear { base, step } = value.lane
            && u64::from(base) + u64::from(step) * (LANES as u64 - 1) > u64::from(u32::MAX)
        {
            return None;
        }
        let mut total = self.lane_max(value.lane);
        for term in value.terms() {
            total += u64::from(term.coeff) * u64::from(self.symbol(*term).max?);
        }
        (total <= u64::from(u32::MAX)).then_some(total)
    }

    /// The value without its constant, so that adjacent addresses share derived values.
    pub(super) fn without_constant(&mut self, id: Id) -> Id {
        let mut value = *self.get(id);
        if let Lane::Linear { base, .. } = &mut value.lane {
            *base = 0;
        }
        self.intern(value)
    }

    /// The constant that [`without_constant`](Self::without_constant) removes.
    pub(super) fn constant_of(&self, id: Id) -> u32 {
        match self.get(id).lane {
            Lane::Linear { base, .. } => base,
            Lane::Table(_) => 0,
        }
    }

    /// The unknowns alone.
    fn only_terms(&mut self, value: &Value) -> Id {
        self.intern(Value { lane: Lane::Linear { base: 0, step: 0 }, ..*value })
    }

    pub(super) fn add(&mut self, a: Id, b: Id) -> Option<Id> {
        let (a, b) = (*self.get(a), *self.get(b));
        let lane = match (a.lane, b.lane) {
            (Lane::Linear { base, step }, Lane::Linear { base: base_b, step: step_b }) => {
                Lane::Linear { base: base.wrapping_add(base_b), step: step.wrapping_add(step_b) }
            }
            _ => self.zip_lanes(a.lane, b.lane, u32::wrapping_add)?,
        };
        let mut sum = Value { lane, ..Value::constant(0) };
        let (mut left, mut right) = (a.terms().iter().peekable(), b.terms().iter().peekable());
        loop {
            let term = match (left.peek(), right.peek()) {
                (Some(x), Some(y)) if x.symbol == y.symbol => {
                    let term = Term { symbol: x.symbol, coeff: x.coeff.wrapping_add(y.coeff) };
                    left.next();
                    right.next();
                    term
                }
                (Some(x), Some(y)) if x.symbol > y.symbol => *right.next()?,
                (Some(_), _) => *left.next()?,
                (None, Some(_)) => *right.next()?,
                (None, None) => break,
            };
            if term.coeff == 0 {
                continue;
            }
            *sum.terms.get_mut(usize::from(sum.count))? = term;
            sum.count += 1;
        }
        Some(self.intern(sum))
    }

    /// `a * factor`
    pub(super) fn scale(&mut self, a: Id, factor: u32) -> Option<Id> {
        let mut value = *self.get(a);
        value.lane = match value.lane {
            Lane::Linear { base, step } => {
                Lane::Linear { base: base.wrapping_mul(factor), step: step.wrapping_mul(factor) }
            }
            table => self.map_lanes(table, |x| x.wrapping_mul(factor))?,
        };
        let mut scaled = Value { lane: value.lane, ..Value::constant(0) };
        for term in value.terms() {
            let coeff = term.coeff.wrapping_mul(factor);
            if coeff != 0 {
                scaled.terms[usize::from(scaled.count)] = Term { coeff, ..*term };
                scaled.count += 1;
            }
        }
        Some(self.intern(scaled))
    }

    /// `a - b`
    pub(super) fn sub(&mut self, a: Id, b: Id) -> Option<Id> {
        let negated = self.scale(b, u32::MAX)?;
        self.add(a, negated)
    }

    pub(super) fn mul(&mut self, a: Id, b: Id) -> Option<Id> {
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(factor), _) => self.scale(b, factor),
            (_, Some(factor)) => self.scale(a, factor),
            _ if self.get(a).count == 0 && self.get(b).count == 0 => {
                let (a, b) = (self.get(a).lane, self.get(b).lane);
                let lane = self.zip_lanes(a, b, u32::wrapping_mul)?;
                Some(self.intern(Value { lane, ..Value::constant(0) }))
            }
            _ => None,
        }
    }

    /// Logical shift right by a constant.
    pub(super) fn shr(&mut self, a: Id, shift: u32) -> Option<Id> {
        let value = *self.get(a);
        let aligned = self.term_alignment(a);
        if value.count > 0 && self.lane_max(value.lane) >> aligned.min(63) != 0 && self.max(&value).is_none()
        {
            return None;
        }
        if value.count > 0 && aligned < shift && self.lane_max(value.lane) >> aligned != 0 {
            return None;
        }
        let lane = self.map_lanes(value.lane, |x| x >> shift)?;
        if value.count > 0 && (aligned < shift || self.max(&value).is_none()) {
            // Lanes and unknowns share no bits, so each shifts by itself.
            let terms = self.only_terms(&value);
            let amount = self.constant(shift);
            let high = self.derive(Derived::Shr, [terms, amount, 0], 2, Some(u32::MAX >> shift), false);
            let low = self.intern(Value { lane, ..Value::constant(0) });
            return self.add(low, high);
        }
        let mut shifted = Value { lane, ..value };
        for term in &mut shifted.terms[..usize::from(value.count)] {
            term.coeff >>= shift;
        }
        Some(self.intern(shifted))
    }

    /// Sign bit in all bits: the upper word of a sign extension.
    pub(super) fn sign(&mut self, a: Id) -> Id {
        let value = *self.get(a);
        if self.max(&value).is_some_and(|max| max <= i32::MAX as u64) {
            return self.constant(0);
        }
        if value.count == 0
            && let Some(lane) = self.map_lanes(value.lane, |x| ((x as i32) >> 31) as u32)
        {
            return self.intern(Value { lane, ..Value::constant(0) });
        }
        let a = self.without_constant(a);
        self.derive(Derived::Sign, [a, 0, 0], 1, None, false)
    }

    /// `and`, `or`, `xor`; with unknowns only if known bits and unknown bits do not overlap.
    pub(super) fn bitwise(&mut self, kind: Derived, a: Id, b: Id) -> Option<Id> {
        let op: fn(u32, u32) -> u32 = match kind {
            Derived::And => |x, y| x & y,
            Derived::Or => |x, y| x | y,
            Derived::Xor => |x, y| x ^ y,
            _ => return None,
        };
        let (x, y) = (*self.get(a), *self.get(b));
        if x.count == 0 && y.count == 0 {
            let lane = self.zip_lanes(x.lane, y.lane, op)?;
            return Some(self.intern(Value { lane, ..Value::constant(0) }));
        }
        let (a, b, x, y) = if x.count == 0 { (b, a, y, x) } else { (a, b, x, y) };
        if kind != Derived::And {
            // No bit in common: the same as an addition.
            let apart = |low: &Value, high: Id, high_value: &Value, pool: &Pool| {
                let zeros = pool.alignment(high, high_value);
                pool.max(low).is_some_and(|max| zeros >= 32 || max >> zeros == 0)
            };
            if apart(&x, b, &y, self) || apart(&y, a, &x, self) {
                return self.add(a, b);
            }
        }
        if y.count > 0 {
            return None;
        }
        if kind == Derived::Xor
            && let Some(mask) = y.as_constant()
            && mask & mask.wrapping_add(1) == 0
            && self.max(&x).is_some_and(|max| max <= u64::from(mask))
        {
            // Turning over all bits that can be set is a subtraction.
            return self.sub(b, a);
        }
        let aligned = self.term_alignment(a);
        let low = low_bits(aligned);
        let mask = y.as_constant();
        if kind == Derived::And {
            if self.lane_max(y.lane) <= u64::from(low) {
                // The mask drops the unknowns.
                let lane = self.zip_lanes(x.lane, y.lane, op)?;
                return Some(self.intern(Value { lane, ..Value::constant(0) }));
            }
            let mask = mask?;
            if !mask & low == !mask {
                // The mask clears low bits only: take away what it clears.
                let lane = self.map_lanes(x.lane, |v| v & !mask)?;
                let cleared = self.intern(Value { lane, ..Value::constant(0) });
                return self.sub(a, cleared);
            }
            if self.lane_max(x.lane) <= u64::from(low) {
                let lane = self.map_lanes(x.lane, |v| v & mask)?;
                let known = self.intern(Value { lane, ..Value::constant(0) });
                let terms = self.only_terms(&x);
                let high_mask = self.constant(mask & !low);
                let high = self.derive(Derived::And, [terms, high_mask, 0], 2, Some(mask), false);
                return self.add(known, high);
            }
            return None;
        }
        if self.lane_max(x.lane) <= u64::from(low) && self.lane_max(y.lane) <= u64::from(low) {
            let lane = self.zip_lanes(x.lane, y.lane, op)?;
            let known = self.intern(Value { lane, ..Value::constant(0) });
            let terms = self.only_terms(&x);
            return self.add(known, terms);
        }
        None
    }

    /// Power of two that divides the value in every lane, as its exponent.
    fn alignment(&self, id: Id, value: &Value) -> u32 {
        let lanes = match value.lane {
            Lane::Linear { base, step } => base.trailing_zeros().min(step.trailing_zeros()),
            table => self.lanes(table).iter().map(|x| x.trailing_zeros()).min().unwrap_or(32),
        };
        lanes.min(self.term_alignment(id))
    }

    /// The unknown result of an operation, the same for the same operands.
    pub(super) fn derive(
        &mut self,
        kind: Derived,
        operands: [Id; 3],
        count: usize,
        max: Option<u32>,
        loaded: bool,
    ) -> Id {
        let key = (kind, operands[0], operands[1], operands[2]);
        if let Some(&known) = self.derived.get(&key) {
            return known;
        }
        let mut symbol =
            Symbol { varying: false, max, changes_in: None, marks: Marks { loaded, ..Marks::default() } };
        for &operand in &operands[..count] {
            symbol.varying |= kind != Derived::FirstLane && !self.is_uniform(operand);
            symbol.marks = symbol.marks.union(self.marks(operand));
            // Loops are numbered outer before inner: the larger number is the inner one of a nest.
            symbol.changes_in = symbol.changes_in.max(self.changes_in(operand));
        }
        let id = self.unknown(symbol);
        self.derived.insert(key, id);
        id
    }

    /// Remembers which numbers per lane `product` multiplies by an unknown stride, if it does.
    pub(super) fn note_stride(&mut self, product: Id, a: Id, b: Id) {
        let steps = match (self.is_uniform(a), self.is_uniform(b)) {
            (false, true) if self.has_uniform_terms(a) => a,
            (true, false) if self.has_uniform_terms(b) => b,
            _ => return,
        };
        let lane = self.get(steps).lane;
        let steps = self.intern(Value { lane, ..Value::constant(0) });
        if let Some(term) = self.get(product).terms().first() {
            self.strides.insert(term.symbol, steps);
        }
    }

    /// The one stride of a value: the numbers per lane it is multiplied by, and its coefficient.
    pub(super) fn stride(&self, id: Id) -> Option<(Id, u32)> {
        let mut varying = self.get(id).terms().iter().filter(|term| self.symbol(**term).varying);
        let term = varying.next()?;
        match varying.next() {
            None => Some((*self.strides.get(&term.symbol)?, term.coeff)),
            Some(_) => None,
        }
    }

    /// The operation that made an unknown.
    #[cfg(test)]
    pub(super) fn origin(&self, symbol: u32) -> Option<(Derived, [Id; 3])> {
        self.derived.iter().find_map(|(key, id)| {
            let made = self.get(*id).terms().first()?.symbol == symbol;
            made.then_some((key.0, [key.1, key.2, key.3]))
        })
    }

    /// Innermost loop whose iterations may change the value.
    pub(super) fn changes_in(&self, id: Id) -> Option<u32> {
        self.get(id).terms().iter().filter_map(|term| self.symbol(*term).changes_in).max()
    }

    /// Adds marks to the unknowns of a value.
    pub(super) fn mark(&mut self, id: Id, marks: Marks) {
        for term in self.values[id as usize].terms() {
            let symbol = &mut self.symbols[term.symbol as usize];
            symbol.marks = symbol.marks.union(marks);
        }
    }
}

/// The lowest `count` bits.
pub(super) fn low_bits(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

//! Propagates values from instruction to instruction.
//!
//! An operation the [`Pool`](super::value::Pool) cannot express becomes an unknown that is the same wherever
//! the same operands meet the same operation.

use super::Access;
use super::entry::PACKET_WORKGROUP_SIZES;
use super::semantics::{Mask, Sem};
use super::state::{NONE, State, VECTOR_SLOTS, insert, slots};
use super::value::{Derived, Id, LANES, Marks, Symbol, low_bits};
use super::walk::Walker;
use isa::{Access as Kind, Bits, Field, Inst, Mem, Operand, RegFile, RegRange, Space};

/// The operand in a field of the encoding; `off` if the encoding has no such field.
fn operand(inst: &Inst, field: Field) -> Operand {
    let found = inst.operands_with_fields().find(|(_, its)| *its == field);
    found.map_or(Operand::Off, |(operand, _)| *operand)
}

/// Whether an operation has three operands.
fn takes_three(sem: Sem) -> bool {
    use Sem::{Add3, AddShl, AndOr, Bfe, Mad, Or3, ShlAdd, ShlOr, XorAdd};
    matches!(sem, Mad | ShlAdd | AddShl | ShlOr | AndOr | Or3 | Add3 | XorAdd | Bfe)
}

impl Walker<'_> {
    fn fresh(&mut self, varying: bool) -> Id {
        self.fresh_in(self.innermost, varying)
    }

    fn fresh_in(&mut self, changes_in: Option<u32>, varying: bool) -> Id {
        self.pool.unknown(Symbol { varying, max: None, changes_in, marks: Marks::default() })
    }

    /// The innermost loop around the instruction at hand that writes a register.
    fn written_in(&self, slot: usize) -> Option<u32> {
        let mut at = self.innermost;
        while let Some(id) = at
            && self.effects.loops[id as usize].slots[slot / 64] >> (slot % 64) & 1 == 0
        {
            at = self.parent_of(id);
        }
        at
    }

    fn read_slot(&mut self, slot: usize, state: &mut State) -> Id {
        if state.registers[slot] == NONE {
            // What a loop does not write is the same in all its iterations.
            state.registers[slot] = self.fresh_in(self.written_in(slot), slot < VECTOR_SLOTS);
        }
        state.registers[slot]
    }

    fn read_register(&mut self, range: RegRange, index: u16, state: &mut State) -> Id {
        let range = RegRange::new(range.file, range.first.saturating_add(index), 1);
        match slots(range).next() {
            Some(slot) => self.read_slot(usize::from(slot), state),
            None => self.fresh(matches!(range.file, RegFile::Vgpr | RegFile::Agpr)),
        }
    }

    /// Lower or upper word of an operand.
    fn read(&mut self, operand: Operand, word: u16, state: &mut State) -> Id {
        let number = |number: i32| if word == 0 { number as u32 } else { (number >> 31) as u32 };
        match operand {
            Operand::Reg(range) => self.read_register(range, word, state),
            Operand::Int(value) => self.pool.constant(number(i32::from(value))),
            Operand::Imm(value) => self.pool.constant(number(value)),
            Operand::Literal(value) => self.pool.constant(if word == 0 { value } else { 0 }),
            _ => self.fresh(false),
        }
    }

    /// Carries the state over one instruction.
    pub(super) fn step(&mut self, at: u32, state: &mut State) {
        let inst = &self.insts[at as usize];
        let (effect, runs) = self.effects.at(at);
        if let Some(mem) = inst.mem()
            && let Some(access) = self.access(at, inst, &mem, state)
        {
            self.accesses.push(access);
        }
        let sem = effect.sem;
        let result = if sem == Sem::Unknown { [NONE; 2] } else { self.evaluate(sem, inst, state) };
        let load = (sem == Sem::Load).then(|| self.load_base(inst, state)).flatten();
        for run in runs {
            state.registers[usize::from(run.start)..usize::from(run.end)].fill(NONE);
            if let Some(level) = state.levels.last_mut() {
                run.clone().for_each(|slot| insert(level, slot));
            }
        }
        match effect.exec {
            None => {}
            Some(Mask::Narrow) => state.narrow(),
            Some(Mask::Widen) => state.widen(),
            Some(Mask::Swap) => {
                state.widen();
                state.narrow();
            }
            Some(Mask::Reset) => {
                while !state.levels.is_empty() {
                    state.widen();
                }
                state.narrow();
            }
        }
        let Some((base, offset)) = load else {
            for (slot, id) in effect.result.clone().zip(result) {
                state.registers[usize::from(slot)] = id;
            }
            return;
        };
        let (is_argument, is_dispatch) = (base[0] == self.kernarg, base[0] == self.dispatch);
        for (slot, word) in effect.result.clone().zip(0u32..) {
            let offset = offset.wrapping_add(word * 4);
            let is_size = (is_argument && self.entry.workgroup_sizes == Some(offset))
                || (is_dispatch && offset == PACKET_WORKGROUP_SIZES);
            if let Some(sizes) = self.entry.workgroup_word().filter(|_| is_size) {
                state.registers[usize::from(slot)] = self.pool.constant(sizes);
                continue;
            }
            let kind = Derived::Load(offset as i32);
            let id = self.pool.derive(kind, base, 3, None, !is_argument && !is_dispatch);
            if is_argument {
                self.pool.mark(id, self.entry.marks_of_argument(offset));
            } else if is_dispatch {
                self.pool.mark(id, Marks { grid: true, ..Marks::default() });
            }
            state.registers[usize::from(slot)] = id;
        }
    }

    /// Base without its constant, and the byte offset from it.
    fn load_base(&mut self, inst: &Inst, state: &mut State) -> Option<([Id; 3], u32)> {
        let Operand::Reg(base) = operand(inst, Field::Sbase) else { return None };
        let low = self.read_register(base, 0, state);
        let high = self.read_register(base, 1, state);
        let mut offset = self.pool.constant_of(low).wrapping_add(inst.mods.offset as u32);
        let mut index = self.pool.constant(0);
        match operand(inst, Field::Offset) {
            Operand::Imm(value) => offset = offset.wrapping_add(value as u32),
            Operand::Int(value) => offset = offset.wrapping_add(value as u32),
            Operand::Literal(value) => offset = offset.wrapping_add(value),
            Operand::Reg(range) => index = self.read_register(range, 0, state),
            _ => {}
        }
        let low = self.pool.without_constant(low);
        Some(([low, high, index], offset))
    }

    /// The sources of an instruction, in printed order.
    fn sources(inst: &Inst) -> [Operand; 3] {
        let mut sources = [Operand::Off; 3];
        sources.iter_mut().zip(inst.read_operands()).for_each(|(place, operand)| *place = *operand);
        sources
    }

    fn evaluate(&mut self, sem: Sem, inst: &Inst, state: &mut State) -> [Id; 2] {
        let sources = Self::sources(inst);
        if sem == Sem::Load {
            return [NONE; 2];
        }
        if let Sem::Move64 | Sem::Mad64 | Sem::Shl64 | Sem::Shl64Rev | Sem::ShlAdd64 = sem {
            return self.evaluate_wide(sem, sources, state);
        }
        let used = match sem {
            Sem::Move | Sem::FirstLane => 1,
            _ if takes_three(sem) => 3,
            _ => 2,
        };
        let mut ids = [0; 3];
        for (id, source) in ids.iter_mut().zip(sources).take(used) {
            *id = self.read(source, 0, state);
        }
        let [a, b, c] = ids;
        let low = if takes_three(sem) { self.of_three(sem, a, b, c) } else { self.of_two(sem, a, b) };
        [low.unwrap_or(NONE), NONE]
    }

    /// The result of an operation on one or two words.
    fn of_two(&mut self, sem: Sem, a: Id, b: Id) -> Option<Id> {
        match sem {
            Sem::Move => Some(a),
            Sem::FirstLane if self.pool.is_uniform(a) => Some(a),
            Sem::FirstLane => Some(self.pool.derive(Derived::FirstLane, [a, 0, 0], 1, None, false)),
            Sem::Add => Some(self.add(a, b)),
            Sem::Sub => self.pool.sub(a, b),
            Sem::SubRev => self.pool.sub(b, a),
            Sem::AddCarry => Some(self.high(a, b)),
            Sem::Mul => Some(self.mul(a, b)),
            Sem::Shl => Some(self.shl(a, b)),
            Sem::ShlRev => Some(self.shl(b, a)),
            Sem::Shr => Some(self.shr(a, b)),
            Sem::ShrRev => Some(self.shr(b, a)),
            Sem::Ashr => self.ashr(a, b),
            Sem::AshrRev => self.ashr(b, a),
            Sem::And => Some(self.bitwise(Derived::And, a, b)),
            Sem::Or => Some(self.bitwise(Derived::Or, a, b)),
            Sem::Xor => Some(self.bitwise(Derived::Xor, a, b)),
            Sem::ShlNAdd(n) => {
                let n = self.pool.constant(u32::from(n));
                let shifted = self.shl(a, n);
                Some(self.add(shifted, b))
            }
            Sem::BfeScalar => {
                self.pool.as_constant(b).map(|field| self.bits(a, field & 31, (field >> 16) & 127))
            }
            Sem::CountLow | Sem::CountHigh => self.count(sem, a, b),
            _ => None,
        }
    }

    /// The result of an operation on three words: two steps, the second on `c`.
    fn of_three(&mut self, sem: Sem, a: Id, b: Id, c: Id) -> Option<Id> {
        let first = match sem {
            Sem::Mad => self.mul(a, b),
            Sem::ShlAdd | Sem::ShlOr => self.shl(a, b),
            Sem::AddShl | Sem::Add3 => self.add(a, b),
            Sem::AndOr => self.bitwise(Derived::And, a, b),
            Sem::Or3 => self.bitwise(Derived::Or, a, b),
            Sem::XorAdd => self.bitwise(Derived::Xor, a, b),
            _ => {
                let (offset, width) = (self.pool.as_constant(b)?, self.pool.as_constant(c)?);
                return Some(self.bits(a, offset & 31, width & 31));
            }
        };
        Some(match sem {
            Sem::AddShl => self.shl(first, c),
            Sem::ShlOr | Sem::AndOr | Sem::Or3 => self.bitwise(Derived::Or, first, c),
            _ => self.add(first, c),
        })
    }

    fn evaluate_wide(&mut self, sem: Sem, sources: [Operand; 3], state: &mut State) -> [Id; 2] {
        let [a, b, c] = sources;
        let (value, amount, addend) = match sem {
            Sem::Move64 => return [self.read(a, 0, state), self.read(a, 1, state)],
            Sem::Mad64 => {
                let (x, y) = (self.read(a, 0, state), self.read(b, 0, state));
                let (low, high) = (self.read(c, 0, state), self.read(c, 1, state));
                let product = self.mul(x, y);
                let (x, y) = (self.pool.without_constant(x), self.pool.without_constant(y));
                let upper = self.pool.derive(Derived::HighShift, [x, y, 0], 2, None, false);
                return [self.add(product, low), self.high(upper, high)];
            }
            Sem::Shl64 => (a, b, None),
            Sem::Shl64Rev => (b, a, None),
            _ => (a, b, Some(c)),
        };
        let (low, high) = (self.read(value, 0, state), self.read(value, 1, state));
        let shift = self.read(amount, 0, state);
        let shifted = match self.pool.as_constant(shift) {
            Some(0) => [low, high],
            Some(by) if by < 32 => {
                let part = self.pool.without_constant(low);
                let upper = self.pool.derive(Derived::HighShift, [part, high, shift], 3, None, false);
                [self.shl(low, shift), upper]
            }
            _ => [NONE; 2],
        };
        let Some(addend) = addend else { return shifted };
        if shifted[0] == NONE {
            return shifted;
        }
        let (low, high) = (self.read(addend, 0, state), self.read(addend, 1, state));
        [self.add(shifted[0], low), self.high(shifted[1], high)]
    }

    fn add(&mut self, a: Id, b: Id) -> Id {
        let (x, y) = (a.min(b), a.max(b));
        self.pool.add(a, b).unwrap_or_else(|| self.pool.derive(Derived::Sum, [x, y, 0], 2, None, false))
    }

    /// Upper word of a sum. The carry is left out: neighbours in memory then have equal upper words.
    fn high(&mut self, a: Id, b: Id) -> Id {
        match (self.pool.as_constant(a), self.pool.as_constant(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => self.pool.derive(Derived::High, [a.min(b), a.max(b), 0], 2, None, false),
        }
    }

    fn mul(&mut self, a: Id, b: Id) -> Id {
        if let Some(product) = self.pool.mul(a, b) {
            return product;
        }
        let (x, y) = (a.min(b), a.max(b));
        let product = self.pool.derive(Derived::Product, [x, y, 0], 2, None, false);
        self.pool.note_stride(product, a, b);
        product
    }

    fn shl(&mut self, a: Id, by: Id) -> Id {
        let shifted = self.pool.as_constant(by).and_then(|by| self.pool.scale(a, 1 << (by & 31)));
        shifted.unwrap_or_else(|| self.pool.derive(Derived::Shl, [a, by, 0], 2, None, false))
    }

    fn shr(&mut self, a: Id, by: Id) -> Id {
        let shifted = self.pool.as_constant(by).and_then(|by| self.pool.shr(a, by & 31));
        shifted.unwrap_or_else(|| self.pool.derive(Derived::Shr, [a, by, 0], 2, None, false))
    }

    fn ashr(&mut self, a: Id, by: Id) -> Option<Id> {
        let by_31 = self.pool.as_constant(by)? & 31 == 31;
        let sign = self.pool.sign(a);
        if by_31 {
            return Some(sign);
        }
        (self.pool.as_constant(sign) == Some(0)).then(|| self.shr(a, by))
    }

    fn bitwise(&mut self, kind: Derived, a: Id, b: Id) -> Id {
        let (x, y) = (a.min(b), a.max(b));
        let max = match kind {
            Derived::And => self.pool.as_constant(x).or(self.pool.as_constant(y)),
            _ => None,
        };
        let result = self.pool.bitwise(kind, a, b);
        result.unwrap_or_else(|| self.pool.derive(kind, [x, y, 0], 2, max, false))
    }

    fn bits(&mut self, a: Id, offset: u32, width: u32) -> Id {
        let offset = self.pool.constant(offset);
        let shifted = self.shr(a, offset);
        let mask = self.pool.constant(low_bits(width));
        self.bitwise(Derived::And, shifted, mask)
    }

    /// Set bits of a constant mask below each lane.
    fn count(&mut self, sem: Sem, a: Id, b: Id) -> Option<Id> {
        let bits = self.pool.as_constant(a)?;
        let first = if sem == Sem::CountLow { 0 } else { 32 };
        let below = |lane: usize| low_bits((lane as u32).saturating_sub(first).min(32)) & bits;
        let table: [u32; LANES] = std::array::from_fn(|lane| below(lane).count_ones());
        let counted = self.pool.table(table)?;
        Some(self.add(counted, b))
    }

    /// The address a memory instruction forms, without its immediate offset.
    fn access(&mut self, at: u32, inst: &Inst, mem: &Mem, state: &mut State) -> Option<Access> {
        if mem.access == Kind::Exchange {
            return None;
        }
        let zero = self.pool.constant(0);
        let (base, key) = match mem.space {
            Space::Lds => {
                let Operand::Reg(address) = operand(inst, Field::Addr) else { return None };
                (self.read_register(address, 0, state), zero)
            }
            Space::Global | Space::Flat => {
                let Operand::Reg(address) = operand(inst, Field::Addr) else { return None };
                let low = self.read_register(address, 0, state);
                match operand(inst, Field::Saddr) {
                    Operand::Reg(scalar) => {
                        let base = self.read_register(scalar, 0, state);
                        (self.add(low, base), self.read_register(scalar, 1, state))
                    }
                    _ => (low, self.read_register(address, 1, state)),
                }
            }
            Space::Buffer => {
                let Operand::Reg(resource) = operand(inst, Field::Srsrc) else { return None };
                let words: [Id; 4] = std::array::from_fn(|i| self.read_register(resource, i as u16, state));
                let key = self.pool.derive(Derived::Other(0), [words[0], words[1], words[2]], 3, None, false);
                let key = self.pool.derive(Derived::Other(1), [key, words[3], 0], 2, None, false);
                let mut base = self.read(operand(inst, Field::Soffset), 0, state);
                if inst.mods.bits.contains(Bits::IDXEN) {
                    return None;
                }
                if inst.mods.bits.contains(Bits::OFFEN) {
                    let vector = self.read(operand(inst, Field::Vaddr), 0, state);
                    base = self.add(base, vector);
                }
                (base, key)
            }
            _ => return None,
        };
        let stem = self.pool.without_constant(base);
        let constant = self.pool.constant_of(base);
        Some(Access { inst: at, base, stem, constant, key, all_lanes: state.levels.is_empty() })
    }
}

//! Events of a running kernel that counters use.
//!
//! An event is a plain sum over the dispatch; a counter is a sum of events, which the registry lists by the
//! names given here.

use mem::{Count, Tally};

mem::named! {
    /// One kind of event.
    pub enum Event {
        Workgroup "workgroup" "Workgroup begun"
        Wave "wave" "Wave begun"
        WaveFull "wave_64" "Wave begun with 64 lanes"
        WaveBelow64 "wave_below_64" "Wave begun with fewer than 64 lanes"
        WaveBelow48 "wave_below_48" "Wave begun with fewer than 48 lanes"
        WaveBelow32 "wave_below_32" "Wave begun with fewer than 32 lanes"
        WaveBelow16 "wave_below_16" "Wave begun with fewer than 16 lanes"
        SgprQuads "sgpr_quads" "Four scalar registers written at the start of a wave"
        SgprQuadsWithScratch "sgpr_quads_with_scratch" "The same, the two of the scratch base counted in"
        ComputeUnit "compute_unit" "Compute unit of the GPU, once per dispatch"
        Instruction "instruction" "Instruction issued"
        Fetch "fetch" "Block of 32 bytes of code entered: in sequence, by a jump or at the start of a wave"
        Valu "valu" "Vector ALU instruction, matrix instructions left out"
        ValuLanes "valu_lanes" "Active lane of a vector ALU instruction"
        AddF16 "add_f16" "Addition or subtraction of 16-bit floats"
        AddF32 "add_f32" "Addition or subtraction of 32-bit floats"
        AddF64 "add_f64" "Addition of 64-bit floats"
        MulF16 "mul_f16" "Multiplication of 16-bit floats"
        MulF32 "mul_f32" "Multiplication of 32-bit floats"
        MulF64 "mul_f64" "Multiplication of 64-bit floats"
        FmaF16 "fma_f16" "Multiply-add of 16-bit floats"
        FmaF32 "fma_f32" "Multiply-add of 32-bit floats"
        FmaF64 "fma_f64" "Multiply-add of 64-bit floats"
        TransF16 "trans_f16" "Transcendental function of 16-bit floats"
        TransF32 "trans_f32" "Transcendental function of 32-bit floats"
        TransF64 "trans_f64" "Transcendental function of 64-bit floats"
        Convert "convert" "Conversion between types"
        Int32 "int32" "Vector instruction on 32-bit integers, signed or unsigned by its name"
        Int64 "int64" "Vector instruction on 64-bit integers, signed or unsigned by its name"
        Matrix "matrix" "Matrix instruction"
        MatrixF64 "matrix_f64" "Matrix instruction on 64-bit floats"
        MatrixF32 "matrix_f32" "Matrix instruction on 32-bit floats, xf32 counted in"
        MatrixF16 "matrix_f16" "Matrix instruction on 16-bit floats"
        MatrixBf16 "matrix_bf16" "Matrix instruction on bf16"
        MatrixI8 "matrix_i8" "Matrix instruction on 8-bit integers"
        MatrixF8 "matrix_f8" "Matrix instruction on 8-bit floats"
        MatrixF6F4 "matrix_f6f4" "Matrix instruction with an operand of 6- or 4-bit floats"
        MopsF64 "mops_f64" "512 operations of a matrix instruction on 64-bit floats"
        MopsF32 "mops_f32" "512 operations of a matrix instruction on 32-bit floats, xf32 counted in"
        MopsF16 "mops_f16" "512 operations of a matrix instruction on 16-bit floats"
        MopsBf16 "mops_bf16" "512 operations of a matrix instruction on bf16"
        MopsI8 "mops_i8" "512 operations of a matrix instruction on 8-bit integers"
        MopsF8 "mops_f8" "512 operations of a matrix instruction on 8-bit floats"
        MopsF6F4 "mops_f6f4" "512 operations of a matrix instruction with 6- or 4-bit floats"
        MatrixCycles "matrix_cycles" "Cycle a matrix instruction occupies the matrix unit"
        MatrixUnknown "matrix_unknown" "Matrix instruction whose cycles are not known"
        Salu "salu" "Scalar ALU instruction"
        Smem "smem" "Scalar memory instruction"
        ScalarRead1 "scalar_read_1" "Scalar load of one dword"
        ScalarRead2 "scalar_read_2" "Scalar load of two dwords"
        ScalarRead4 "scalar_read_4" "Scalar load of four dwords"
        ScalarRead8 "scalar_read_8" "Scalar load of eight dwords"
        ScalarRead16 "scalar_read_16" "Scalar load of sixteen dwords"
        ScalarStore "scalar_store" "Scalar store"
        ScalarAtomic "scalar_atomic" "Scalar atomic"
        Branch "branch" "Branch, call or return"
        End "end" "End of a program"
        Message "message" "Message"
        Wait "wait" "Wait for counters"
        Barrier "barrier" "Barrier instruction"
        Control "control" "Instruction without unit: no-operation, sleep, priority, cache control"
        Invalidate "invalidate" "Vector L1 invalidated by an instruction"
        Flat "flat" "Flat, global or scratch instruction"
        FlatLoad "flat_load" "Flat, global or scratch load"
        FlatStore "flat_store" "Flat, global or scratch store"
        FlatAtomic "flat_atomic" "Flat or global atomic"
        FlatToLds "flat_to_lds" "Flat, global or scratch load straight to the LDS"
        FlatAny "flat_any" "Flat instruction: where it goes depends on the address"
        Buffer "buffer" "Buffer instruction"
        BufferLoad "buffer_load" "Buffer load"
        BufferStore "buffer_store" "Buffer store"
        BufferAtomic "buffer_atomic" "Buffer atomic"
        BufferToLds "buffer_to_lds" "Buffer load straight to the LDS"
        Lds "lds" "LDS instruction, lane exchanges counted in"
        LdsLoad "lds_load" "LDS load"
        LdsStore "lds_store" "LDS store"
        LdsAtomic "lds_atomic" "LDS atomic"
        LdsLoad64 "lds_load_64" "64 bytes of LDS loads, all lanes counted"
        LdsStore64 "lds_store_64" "64 bytes of LDS stores, all lanes counted"
        LdsAtomic64 "lds_atomic_64" "64 bytes of LDS atomics, all lanes counted"
        Gds "gds" "Global data share instruction"
        TcpRead "tcp_read" "Load access that reaches the vector L1: a quad of lanes in a row, or a lane"
        TcpWrite "tcp_write" "Store access that reaches the vector L1"
        TcpAtomicReturn "tcp_atomic_return" "Access of an atomic that returns the old value"
        TcpAtomic "tcp_atomic" "Access of an atomic that returns nothing"
        TcpLookup "tcp_lookup" "Tag looked up in the vector L1"
        Coalesced "coalesced" "Vector memory access of at most 4 bytes whose lanes stand in a row in every quad"
        LdsCycles "lds_cycles" "Cycle of an LDS access, conflicts counted in"
        LdsBankConflict "lds_bank_conflict" "Cycle lost to lanes that want different dwords of one bank"
        LdsAddressConflict "lds_address_conflict" "Cycle lost to atomics of several lanes on one dword"
        LdsAtomicReturn "lds_atomic_return" "Cycle of an LDS atomic that returns the old value"
        LdsUnaligned "lds_unaligned" "LDS access with a lane that is not aligned to its size"
    }
}

/// Term of a rule: an event of execution, a count of the caches, or a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// Execution.
    Event(Event),
    /// The caches.
    Cache(Count),
    /// The clock.
    Time(Time),
}

macro_rules! times {
    ($($name:ident $field:ident $text:literal $meaning:literal)*) => {
        mem::named! {
            /// A time of the dispatch as some part of the GPU counts it.
            pub enum Time {
                $($name $text $meaning)*
            }
        }

        /// Times of a dispatch, in the unit of each [`Time`].
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct Times {
            $(#[doc = $meaning] pub $field: u64,)*
        }

        impl Times {
            /// One of them.
            pub const fn get(&self, time: Time) -> u64 {
                match time {
                    $(Time::$name => self.$field,)*
                }
            }
        }
    };
}

times! {
    Xcds xcds "xcd_cycle" "Cycle of the dispatch, over the XCDs"
    Engines engines "engine_cycle" "Cycle in which a shader engine has waves"
    Units units "unit_cycle" "Cycle in which a compute unit has waves"
    Waves waves "wave_quad_cycle" "Four cycles of the life of a wave"
    Waits waits "wait_quad_cycle" "Four cycles in which a wave waits for memory, LDS, scalar memory or a barrier"
    Issues issues "issue_wait_quad_cycle" "Four cycles in which a wave waits for its unit or for code"
    Full full "full_quad_cycle" "Four cycles in which a workgroup waits for a compute unit, over the shader engines"
    Slots slots "no_slot_quad_cycle" "Four cycles of a SIMD without a wave slot for a workgroup that waits"
    Vgprs vgprs "no_vgprs_quad_cycle" "Four cycles of a SIMD without vector registers for a workgroup that waits"
    Sgprs sgprs "no_sgprs_quad_cycle" "Four cycles of a SIMD without scalar registers for a workgroup that waits"
    Lds lds "no_lds_quad_cycle" "Four cycles of a compute unit without LDS for a workgroup that waits"
    Barriers barriers "no_barrier_quad_cycle" "Four cycles of a compute unit without a barrier for a workgroup that waits"
    Vector vector "vector_access_cycle" "Cycle in which an instruction of vector memory is under way, over all of them"
    Local local "lds_access_cycle" "Cycle in which an instruction of the LDS is under way, over all of them"
    L2Reads l2_reads "l2_read_cycle" "Cycle in which a read of a vector L1 is under way to the L2 or back, over all of them"
    L2Writes l2_writes "l2_write_cycle" "Cycle in which a write of a vector L1 is under way to the L2 or back, over all of them"
    Reads reads "fabric_read_cycle" "Cycle in which a read is under way from the L2 to memory and back, over all of them"
    Writes writes "fabric_write_cycle" "Cycle in which a write is under way from the L2 to memory, over all of them"
}

impl Source {
    /// One by its name in the registry.
    pub fn by_name(name: &str) -> Option<Source> {
        let time = || Time::by_name(name).map(Source::Time);
        let cache = || Count::by_name(name).map(Source::Cache);
        Event::by_name(name).map(Source::Event).or_else(cache).or_else(time)
    }
}

/// How often each event happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Totals {
    events: [u64; Event::COUNT],
    /// Counts of the caches, if they were simulated.
    pub caches: Option<Tally>,
    /// Its times, if they are modelled.
    pub time: Option<Times>,
}

impl Default for Totals {
    fn default() -> Self {
        Totals { events: [0; Event::COUNT], caches: None, time: None }
    }
}

impl Totals {
    /// How often an event happened.
    pub fn get(&self, event: Event) -> u64 {
        self.events[event as usize]
    }

    /// Counts an event several times.
    pub fn add(&mut self, event: Event, times: u64) {
        self.events[event as usize] += times;
    }

    /// Count of a source; unknown for caches that were not simulated.
    pub fn source(&self, source: Source) -> Option<u64> {
        match source {
            Source::Event(event) => Some(self.get(event)),
            Source::Cache(count) => self.caches.as_ref().map(|tally| tally.get(count)),
            Source::Time(time) => self.time.map(|times| times.get(time)),
        }
    }
}

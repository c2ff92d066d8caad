//! Tests of what the crate gives to others, in one program: each more would be linked with all crates below.

mod copy;
mod device_memory;
mod ideal_limits;
mod issue;
mod l1_queue;
mod lds_dma;
mod occupancy;
mod pathological;
mod share;
mod spill;
mod steady_state;
mod throttle;

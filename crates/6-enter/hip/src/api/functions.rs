//! Attributes of kernels, and how many of their workgroups a compute unit holds.
//!
//! The descriptor gives a kernel's resources; the fact files give the resulting occupancy.

use super::{Out, entries};
use crate::codes::Code;
use crate::device::MOST_THREADS;
use crate::runtime::{Runtime, lock};
use emu::Program;
use std::sync::Arc;

/// Output of `hipFuncGetAttributes`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    binary_version: i32,
    cache_mode: i32,
    constant_bytes: usize,
    local_bytes: usize,
    most_dynamic_lds: i32,
    most_threads: i32,
    registers: i32,
    carveout: i32,
    ptx_version: i32,
    lds_bytes: usize,
}

fn program(runtime: &mut Runtime, function: usize) -> Result<Arc<Program>, Code> {
    let function = runtime.functions.get(&function).cloned().ok_or(Code::hipErrorInvalidDeviceFunction)?;
    runtime.module(function.module)?.program(&function.name)
}

/// Bytes of LDS that a kernel leaves for dynamic use.
fn most_dynamic_lds(function: usize) -> Result<i32, Code> {
    let mut runtime = lock();
    let program = program(&mut runtime, function)?;
    let most = runtime.device.model.target().lds.bytes_per_workgroup.value;
    Ok(most.saturating_sub(program.descriptor.lds_bytes) as i32)
}

fn attributes(function: usize) -> Result<Attributes, Code> {
    let most_dynamic_lds = most_dynamic_lds(function)?;
    let mut runtime = lock();
    let program = program(&mut runtime, function)?;
    let device = runtime.device;
    let descriptor = &program.descriptor;
    let (major, minor) = device.version();
    let version = major * 10 + minor;
    Ok(Attributes {
        binary_version: version,
        cache_mode: 0,
        constant_bytes: 0,
        local_bytes: descriptor.scratch_bytes as usize,
        most_dynamic_lds: runtime.set_dynamic_lds.get(&function).copied().unwrap_or(most_dynamic_lds),
        most_threads: program.metadata.max_workgroup.unwrap_or(MOST_THREADS) as i32,
        registers: program.metadata.vgprs.unwrap_or(descriptor.vgprs_allocated) as i32,
        carveout: 0,
        ptx_version: version,
        lds_bytes: descriptor.lds_bytes as usize,
    })
}

fn active_blocks(count: Out<i32>, function: usize, threads: i32, dynamic_lds: usize) -> Result<(), Code> {
    let threads = u32::try_from(threads).ok().filter(|it| *it > 0).ok_or(Code::hipErrorInvalidValue)?;
    let mut runtime = lock();
    let program = program(&mut runtime, function)?;
    let blocks = match threads {
        0..=MOST_THREADS => runtime.device.workgroups_per_cu(&program, threads, dynamic_lds),
        _ => 0,
    };
    count.put(blocks as i32)
}

/// Flags of questions about occupancy: none, or that caching is not as usual.
fn check_flags(flags: u32) -> Result<(), Code> {
    if flags > 1 { Err(Code::hipErrorInvalidValue) } else { Ok(()) }
}

/// The size of workgroup that fills a compute unit best, the largest of equals.
fn best_block(
    grid: Out<i32>,
    block: Out<i32>,
    function: usize,
    dynamic_lds: usize,
    limit: i32,
) -> Result<(), Code> {
    let mut runtime = lock();
    let program = program(&mut runtime, function)?;
    let device = runtime.device;
    let lanes = device.model.target().lanes_per_wave.value;
    let most = program.metadata.max_workgroup.unwrap_or(MOST_THREADS);
    let most =
        u32::try_from(limit).ok().filter(|it| *it > 0).map_or(most, |limit| most.min(limit)).max(lanes);
    let fitting = |threads: u32| device.workgroups_per_cu(&program, threads, dynamic_lds);
    let best = (1..=most / lanes).map(|waves| waves * lanes).max_by_key(|it| (it * fitting(*it), *it));
    let best = best.unwrap_or(lanes);
    grid.put((fitting(best) * device.model.compute_units.value) as i32)?;
    block.put(best as i32)
}

entries! {
    /// Everything about a kernel.
    fn hipFuncGetAttributes(place: Out<Attributes>, function: usize) {
        place.put(attributes(function)?)
    }

    /// One attribute.
    fn hipFuncGetAttribute(value: Out<i32>, attribute: u32, function: usize) {
        let all = attributes(function)?;
        let found = match attribute {
            0 => all.most_threads,
            1 => all.lds_bytes as i32,
            2 => all.constant_bytes as i32,
            3 => all.local_bytes as i32,
            4 => all.registers,
            5 => all.ptx_version,
            6 => all.binary_version,
            7 => all.cache_mode,
            8 => all.most_dynamic_lds,
            9 => all.carveout,
            _ => return Err(Code::hipErrorInvalidValue),
        };
        value.put(found)
    }

    /// Sets an attribute: most dynamic LDS, which is told and limits nothing, or how much of it is preferred.
    fn hipFuncSetAttribute(function: usize, attribute: i32, value: i32) {
        const LDS: i32 = 8;
        const CARVEOUT: i32 = 9;
        if !lock().functions.contains_key(&function) {
            return Err(Code::hipErrorInvalidDeviceFunction);
        }
        match attribute {
            LDS if (0..=most_dynamic_lds(function)?).contains(&value) => {
                lock().set_dynamic_lds.insert(function, value);
                Ok(())
            }
            CARVEOUT if (-1..=100).contains(&value) => Ok(()),
            0..LDS => Ok(()),
            _ => Err(Code::hipErrorInvalidValue),
        }
    }

    /// Cache preferences change nothing on these GPUs.
    fn hipFuncSetCacheConfig = hipFuncSetSharedMemConfig(_function: usize, _configuration: u32) {
        Ok(())
    }

    /// The handle of a stub: stubs are handles.
    fn hipGetFuncBySymbol(function: Out<usize>, symbol: usize) {
        if !lock().functions.contains_key(&symbol) {
            return Err(Code::hipErrorInvalidDeviceFunction);
        }
        function.put(symbol)
    }

    /// Workgroups that fit on a compute unit.
    fn hipOccupancyMaxActiveBlocksPerMultiprocessor = hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
        count: Out<i32>, function: usize, threads: i32, dynamic_lds: usize,
    ) {
        active_blocks(count, function, threads, dynamic_lds)
    }

    /// The same with flags that change nothing.
    fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags = hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        count: Out<i32>, function: usize, threads: i32, dynamic_lds: usize, flags: u32,
    ) {
        check_flags(flags)?;
        active_blocks(count, function, threads, dynamic_lds)
    }

    /// The size of workgroup that fills a compute unit best.
    fn hipOccupancyMaxPotentialBlockSize = hipModuleOccupancyMaxPotentialBlockSize(
        grid: Out<i32>, block: Out<i32>, function: usize, dynamic_lds: usize, limit: i32,
    ) {
        best_block(grid, block, function, dynamic_lds, limit)
    }

    /// The same with flags that change nothing.
    fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>, block: Out<i32>, function: usize, dynamic_lds: usize, limit: i32, flags: u32,
    ) {
        check_flags(flags)?;
        best_block(grid, block, function, dynamic_lds, limit)
    }
}

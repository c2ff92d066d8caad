//! Memory that graphs allocate: addresses are reserved when a node is made, and have memory between the launch of that
//! node and of the one that frees it.

use crate::codes::Code;
use crate::graph::Action;
use crate::graph::Step;
use crate::memory::{Kind, Pages};
use crate::runtime::Runtime;

/// Flag of graphs whose memory is freed when they are launched again.
pub(crate) const FREES_ON_LAUNCH: u64 = 1;

impl Runtime {
    /// Gives reserved addresses memory.
    pub(crate) fn allocate_of_graph(
        &mut self,
        address: usize,
        bytes: usize,
        device: i32,
    ) -> Result<(), Code> {
        if self.allocations.find(address).is_some() {
            return Err(Code::hipErrorInvalidValue);
        }
        let capacity = self.device.memory_bytes();
        self.allocations.take_device_bytes(bytes, capacity)?;
        self.allocations.populate(address, bytes, Pages::Fresh)?;
        self.pools.graph_took(device, bytes, true);
        self.graph_memory.insert(address, (bytes, device));
        Ok(())
    }

    /// Frees memory that a graph allocated; `None` if it is none.
    pub(crate) fn free_of_graph(&mut self, address: usize) -> Option<Result<(), Code>> {
        let (bytes, device) = self.graph_memory.remove(&address)?;
        self.allocations.give_device_bytes(bytes);
        self.pools.graph_took(device, bytes, false);
        Some(self.allocations.empty(address))
    }

    /// Frees memory as a node does, whoever allocated it.
    pub(crate) fn free_by_graph(&mut self, address: usize) -> Result<(), Code> {
        if let Some(result) = self.free_of_graph(address) {
            return result;
        }
        let start = std::ptr::with_exposed_provenance_mut(address);
        self.allocations.free(start, &[Kind::Device, Kind::Managed])?;
        self.pools.gave(address);
        Ok(())
    }

    /// Frees what a graph left at its last launch, if its flags say so; otherwise it cannot be launched again.
    pub(crate) fn clear_of_graph(&mut self, steps: &[Step], flags: u64) -> Result<(), Code> {
        for step in steps.iter().filter(|it| it.enabled) {
            let Action::Allocate { address, .. } = step.action else { continue };
            if !self.graph_memory.contains_key(&address) {
                continue;
            }
            if flags & FREES_ON_LAUNCH == 0 {
                return Err(Code::hipErrorInvalidValue);
            }
            self.free_of_graph(address).unwrap_or(Ok(()))?;
        }
        Ok(())
    }
}

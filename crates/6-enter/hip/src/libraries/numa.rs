//! libnuma of ROCm's wheels: the host's memory is one node.

use super::blas::put;
use super::{Answer, Arguments, Problem};

/// A set of nodes, as libnuma lays it out.
#[repr(C)]
struct Nodes {
    bits: usize,
    words: *mut u64,
}

/// A function of libnuma; `None` for others.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    Some(match function {
        "numa_available" | "numa_max_node" => Ok(0),
        "numa_num_configured_nodes" => Ok(1),
        // Where pages lie makes no difference with one node.
        "mbind" => Ok(0),
        "numa_node_size64" => size(arguments),
        "numa_bitmask_alloc" => alloc(arguments.int()),
        "numa_bitmask_free" => {
            free(arguments.address());
            Ok(0)
        }
        "numa_bitmask_setbit" => set(arguments.address(), arguments.int()),
        _ => return None,
    })
}

/// Bytes of the node's memory, and how many are free.
fn size(arguments: &mut Arguments) -> Answer {
    let (node, free) = (arguments.int(), arguments.address());
    if node != 0 {
        return Err(Problem::Value);
    }
    // SAFETY: questions without arguments that lead anywhere.
    let [page, all, left] = [libc::_SC_PAGESIZE, libc::_SC_PHYS_PAGES, libc::_SC_AVPHYS_PAGES]
        .map(|it| unsafe { libc::sysconf(it) });
    if free != 0 {
        put(free, left.saturating_mul(page))?;
    }
    Ok(all.saturating_mul(page).cast_unsigned())
}

fn alloc(bits: i32) -> Answer {
    let bits = usize::try_from(bits).ok().filter(|it| *it > 0).ok_or(Problem::Size)?;
    let words = Box::leak(vec![0u64; bits.div_ceil(64)].into_boxed_slice()).as_mut_ptr();
    Ok(Box::into_raw(Box::new(Nodes { bits, words })).expose_provenance() as u64)
}

fn free(at: usize) {
    let nodes = std::ptr::with_exposed_provenance_mut::<Nodes>(at);
    if nodes.is_null() {
        return;
    }
    // SAFETY: the program gives a set that `alloc` made, once.
    unsafe {
        let nodes = Box::from_raw(nodes);
        let words = std::ptr::slice_from_raw_parts_mut(nodes.words, nodes.bits.div_ceil(64));
        drop(Box::from_raw(words));
    }
}

/// Adds a node to a set; returns the set.
fn set(at: usize, node: i32) -> Answer {
    let nodes = std::ptr::with_exposed_provenance::<Nodes>(at);
    if nodes.is_null() {
        return Err(Problem::Pointer);
    }
    // SAFETY: the program gives a set that `alloc` made.
    let nodes = unsafe { &*nodes };
    if let Some(bit) = usize::try_from(node).ok().filter(|it| *it < nodes.bits) {
        // SAFETY: the bit is in the set.
        unsafe { *nodes.words.add(bit / 64) |= 1 << (bit % 64) };
    }
    Ok(at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_added_to_a_set() {
        let at = alloc(70).unwrap() as usize;
        for (node, expected) in [(0, [1, 0]), (69, [1, 32]), (70, [1, 32]), (-1, [1, 32])] {
            assert_eq!(set(at, node), Ok(at as u64));
            // SAFETY: the set was made above and has two words.
            let words = unsafe {
                std::slice::from_raw_parts((*std::ptr::with_exposed_provenance::<Nodes>(at)).words, 2)
            };
            assert_eq!(words, expected, "{node}");
        }
        free(at);
        assert_eq!(set(0, 0), Err(Problem::Pointer));
        assert_eq!(alloc(0), Err(Problem::Size));
    }
}

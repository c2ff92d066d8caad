//! Lists of numbers, one per block of a graph.

/// Lists of numbers, one per block, laid end to end.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lists {
    /// List *i* is `items[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// The lists of `(list, item)` pairs, items in the order of the pairs.
    pub(crate) fn group(count: usize, pairs: &[(u32, u32)]) -> Lists {
        let mut starts = vec![0u32; count + 1];
        for &(list, _) in pairs {
            starts[list as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut cursor = starts.clone();
        let mut items = vec![0u32; pairs.len()];
        for &(list, item) in pairs {
            let at = &mut cursor[list as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Lists { starts, items }
    }

    /// List `i`; empty when there is none.
    pub(crate) fn get(&self, i: u32) -> &[u32] {
        let i = i as usize;
        match (self.starts.get(i), self.starts.get(i + 1)) {
            (Some(&from), Some(&to)) => &self.items[from as usize..to as usize],
            _ => &[],
        }
    }
}

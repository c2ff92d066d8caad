//! Loops and dominators of a graph of blocks.
//!
//! One depth-first walk numbers the blocks, and both analyses run over those numbers from the last to the
//! first with a union-find, so hostile graphs cost little more than ordinary ones.
//!
//! Loop nesting is Havlak's analysis in the form of Ramalingam ("Identifying loops in almost linear time",
//! 1999): natural loops with shared headers are one loop; a cycle with several entries is one loop too,
//! marked irreducible, whose header is the entry the walk meets first. Dominators are Lengauer and Tarjan's
//! with path compression.

use crate::lists::Lists;

/// One loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Block every entry passes; for an irreducible loop, the entry met first.
    pub header: u32,
    /// Blocks that jump back to the header, in code order.
    pub latches: Vec<u32>,
    /// Enclosing loop.
    pub parent: Option<u32>,
    /// Loops around and including this one, from 1.
    pub depth: u32,
    /// It has several entries.
    pub irreducible: bool,
    /// First of its blocks in code order, inner loops included.
    pub first_block: u32,
    /// Last of its blocks in code order, inner loops included.
    pub last_block: u32,
    /// Loops nested in this one are those from its own number plus 1 up to this number.
    pub nested_end: u32,
}

/// Loops and where blocks belong.
pub(crate) struct Forest {
    /// In the order of [`crate::Cfg::loops`].
    pub(crate) loops: Vec<Loop>,
    /// Innermost loop of each block.
    pub(crate) innermost: Vec<Option<u32>>,
}

/// Dominator tree.
pub(crate) struct Dominators {
    /// Parent of each block in the tree; `None` below the virtual root.
    pub(crate) immediate: Vec<Option<u32>>,
    /// `(enter, leave)` of a walk over the tree: `a` dominates `b` if its interval holds `b`'s.
    pub(crate) intervals: Vec<(u32, u32)>,
}

/// No number.
const NONE: u32 = u32::MAX;

/// A depth-first walk from a virtual root above all entries. Number 0 is the root; blocks have 1 and up.
pub(crate) struct Walk {
    /// Block of each number; `NONE` for the root.
    block: Vec<u32>,
    /// Number of each block.
    number: Vec<u32>,
    /// Tree parent of each number.
    parent: Vec<u32>,
    /// Last number in the subtree of each number.
    last: Vec<u32>,
    /// Blocks in postorder.
    postorder: Vec<u32>,
    /// Blocks with greater numbers never run, so their edges into the others count for nothing.
    last_alive: u32,
    /// Some edge goes back up the tree: every cycle has one.
    has_cycle: bool,
}

/// A block while dominators are computed; links are numbers.
#[derive(Clone, Copy)]
struct Node {
    semi: u32,
    label: u32,
    ancestor: u32,
    idom: u32,
    bucket_head: u32,
    bucket_next: u32,
}

/// A block while the intervals of the dominator tree are computed.
#[derive(Clone, Copy)]
struct Interval {
    /// Blocks it dominates, itself included.
    weight: u32,
    /// Where the next block it dominates enters.
    cursor: u32,
}

/// Finds the representative of `x`, halving paths.
fn find(parent: &mut [u32], mut x: u32) -> u32 {
    while parent[x as usize] != x {
        let up = parent[parent[x as usize] as usize];
        parent[x as usize] = up;
        x = up;
    }
    x
}

impl Walk {
    /// Walks from block 0, then from every block without predecessor, then from what is left, in code order.
    /// Without `hidden_entries` what block 0 does not reach never runs.
    pub(crate) fn new(count: u32, succs: &Lists, preds: &Lists, hidden_entries: bool) -> Walk {
        let size = count as usize;
        let mut walk = Walk {
            block: Vec::with_capacity(size + 1),
            number: vec![NONE; size],
            parent: Vec::with_capacity(size + 1),
            last: Vec::with_capacity(size + 1),
            postorder: Vec::with_capacity(size),
            last_alive: NONE,
            has_cycle: false,
        };
        // The root.
        walk.block.push(NONE);
        walk.parent.push(0);
        walk.last.push(0);
        // (block, position in its successors)
        let mut stack: Vec<(u32, u32)> = Vec::with_capacity(size);
        let entries = (0..count).filter(|&b| b == 0 || preds.get(b).is_empty());
        for entry in entries.chain(0..count) {
            if walk.number[entry as usize] != NONE {
                continue;
            }
            walk.enter(entry, 0);
            stack.push((entry, 0));
            while let Some((block, next)) = stack.last_mut() {
                let block = *block;
                match succs.get(block).get(*next as usize) {
                    Some(&to) => {
                        *next += 1;
                        let number = walk.number[to as usize];
                        if number == NONE {
                            walk.enter(to, walk.number[block as usize]);
                            stack.push((to, 0));
                        } else {
                            walk.has_cycle |= walk.last[number as usize] == NONE;
                        }
                    }
                    None => {
                        walk.last[walk.number[block as usize] as usize] = walk.block.len() as u32 - 1;
                        walk.postorder.push(block);
                        stack.pop();
                    }
                }
            }
        }
        walk.last[0] = walk.block.len() as u32 - 1;
        if !hidden_entries && count > 0 {
            walk.last_alive = walk.last[1];
        }
        walk
    }

    fn enter(&mut self, block: u32, parent: u32) {
        self.number[block as usize] = self.block.len() as u32;
        self.block.push(block);
        self.parent.push(parent);
        self.last.push(NONE);
    }

    /// Blocks in reverse postorder.
    pub(crate) fn reverse_postorder(&self) -> Vec<u32> {
        self.postorder.iter().rev().copied().collect()
    }

    /// Numbers of the predecessors of number `n`; the root for entries.
    fn preds_of<'a>(&'a self, n: u32, preds: &'a Lists) -> impl Iterator<Item = u32> + 'a {
        let real = preds.get(self.block[n as usize]).iter().map(|&p| self.number[p as usize]);
        let real = real.filter(move |&p| p <= self.last_alive || n > self.last_alive);
        real.chain((self.parent[n as usize] == 0).then_some(0))
    }

    fn is_ancestor(&self, a: u32, b: u32) -> bool {
        a <= b && b <= self.last[a as usize]
    }

    /// The loop forest.
    pub(crate) fn loop_forest(&self, preds: &Lists) -> Forest {
        if !self.has_cycle {
            return Forest { loops: Vec::new(), innermost: vec![None; self.number.len()] };
        }
        let size = self.block.len();
        let cross = self.cross_edges(preds);

        // Union-find of collapsed loops: a body is represented by its header.
        let mut union: Vec<u32> = (0..size as u32).collect();
        // Union-find that skips loops already marked irreducible.
        let mut marked: Vec<u32> = (0..size as u32).collect();
        let mut loop_parent = vec![NONE; size];
        let mut irreducible = vec![false; size];
        let mut is_header = vec![false; size];
        let mut seen = vec![NONE; size];
        // Cross and forward edges put back, chained per representative: (source, next).
        let mut added: Vec<(u32, u32)> = Vec::new();
        let mut added_head = vec![NONE; size];
        let mut body: Vec<u32> = Vec::new();

        for n in (1..size as u32).rev() {
            for &edge in cross.at.get(n) {
                let (from, to) = cross.edges[edge as usize];
                let at = find(&mut union, to) as usize;
                added.push((from, added_head[at]));
                added_head[at] = added.len() as u32 - 1;
                mark_irreducible(to, &loop_parent, &mut marked, &mut irreducible);
            }
            body.clear();
            let block = self.block[n as usize];
            for &latch in preds.get(block) {
                let latch = self.number[latch as usize];
                if self.is_ancestor(n, latch) {
                    is_header[n as usize] = true;
                    let at = find(&mut union, latch);
                    if at != n && seen[at as usize] != n {
                        seen[at as usize] = n;
                        body.push(at);
                    }
                }
            }
            let mut done = 0;
            while let Some(&z) = body.get(done) {
                done += 1;
                let mut link = added_head[z as usize];
                let mut from = self.parent[z as usize];
                loop {
                    let at = find(&mut union, from);
                    if at != n && seen[at as usize] != n && self.is_ancestor(n, at) {
                        seen[at as usize] = n;
                        body.push(at);
                    }
                    let Some(&(source, next)) = added.get(link as usize) else { break };
                    (from, link) = (source, next);
                }
            }
            for &z in &body {
                loop_parent[z as usize] = n;
                union[z as usize] = n;
            }
        }
        // Entries met by edges from other entries have the virtual root as nearest common ancestor.
        for &edge in cross.at.get(0) {
            let (_, to) = cross.edges[edge as usize];
            mark_irreducible(to, &loop_parent, &mut marked, &mut irreducible);
        }
        self.collect(preds, &loop_parent, &is_header, &irreducible)
    }

    /// Numbers the loops outer before inner, siblings by their headers' place in the code.
    fn collect(
        &self,
        preds: &Lists,
        loop_parent: &[u32],
        is_header: &[bool],
        irreducible: &[bool],
    ) -> Forest {
        let count = self.number.len() as u32;
        let mut children: Vec<(u32, u32)> = Vec::new();
        for block in 0..count {
            let n = self.number[block as usize];
            if is_header[n as usize] {
                let parent = loop_parent[n as usize];
                children.push((if parent == NONE { 0 } else { parent }, n));
            }
        }
        let children = Lists::group(self.block.len(), &children);
        let mut loops: Vec<Loop> = Vec::new();
        let mut id_of = vec![NONE; self.block.len()];
        // (header number or root, position among its children)
        let mut stack: Vec<(u32, u32)> = vec![(0, 0)];
        while let Some((at, next)) = stack.last_mut() {
            let at = *at;
            let Some(&n) = children.get(at).get(*next as usize) else {
                if at != 0 {
                    let id = id_of[at as usize] as usize;
                    loops[id].nested_end = loops.len() as u32;
                }
                stack.pop();
                continue;
            };
            *next += 1;
            let parent = (at != 0).then(|| id_of[at as usize]);
            let depth = parent.map_or(0, |p| loops[p as usize].depth) + 1;
            let header = self.block[n as usize];
            let is_latch = |&b: &u32| self.is_ancestor(n, self.number[b as usize]);
            let mut latches: Vec<u32> = preds.get(header).iter().copied().filter(is_latch).collect();
            latches.sort_unstable();
            id_of[n as usize] = loops.len() as u32;
            loops.push(Loop {
                header,
                latches,
                parent,
                depth,
                irreducible: irreducible[n as usize],
                first_block: header,
                last_block: header,
                nested_end: 0,
            });
            stack.push((n, 0));
        }

        let mut innermost = vec![None; count as usize];
        for block in 0..count {
            let n = self.number[block as usize];
            let at = if is_header[n as usize] { n } else { loop_parent[n as usize] };
            if at != NONE {
                let id = id_of[at as usize];
                innermost[block as usize] = Some(id);
                let found = &mut loops[id as usize];
                found.first_block = found.first_block.min(block);
                found.last_block = found.last_block.max(block);
            }
        }
        for id in (0..loops.len()).rev() {
            if let Some(parent) = loops[id].parent {
                let (first, last) = (loops[id].first_block, loops[id].last_block);
                let outer = &mut loops[parent as usize];
                outer.first_block = outer.first_block.min(first);
                outer.last_block = outer.last_block.max(last);
            }
        }
        Forest { loops, innermost }
    }

    /// The edges that neither follow the tree nor go back up, by the nearest common ancestor of their ends.
    fn cross_edges(&self, preds: &Lists) -> CrossEdges {
        let size = self.block.len() as u32;
        let mut edges = Vec::with_capacity(self.block.len());
        let mut at = Vec::with_capacity(self.block.len());
        // Numbers above the current one are joined to their parents: the representative of `y` is then its
        // nearest ancestor that is not above the current number.
        let mut union: Vec<u32> = (0..size).collect();
        for x in (1..size).rev() {
            let mut tree_edge_seen = false;
            for y in self.preds_of(x, preds) {
                if y == self.parent[x as usize] && !tree_edge_seen {
                    tree_edge_seen = true;
                } else if !self.is_ancestor(x, y) {
                    let ancestor = if self.is_ancestor(y, x) { y } else { find(&mut union, y) };
                    at.push((ancestor, edges.len() as u32));
                    edges.push((y, x));
                }
            }
            union[x as usize] = self.parent[x as usize];
        }
        CrossEdges { at: Lists::group(size as usize, &at), edges }
    }

    /// The dominator tree.
    pub(crate) fn dominators(&self, preds: &Lists) -> Dominators {
        let size = self.block.len();
        let mut nodes: Vec<Node> = (0..size as u32)
            .map(|n| Node {
                semi: n,
                label: n,
                ancestor: NONE,
                idom: 0,
                bucket_head: NONE,
                bucket_next: NONE,
            })
            .collect();
        let mut path = Vec::new();
        for w in (1..size as u32).rev() {
            let parent = self.parent[w as usize];
            for v in self.preds_of(w, preds) {
                let u = eval(v, &mut nodes, &mut path);
                nodes[w as usize].semi = nodes[w as usize].semi.min(nodes[u as usize].semi);
            }
            let s = nodes[w as usize].semi as usize;
            nodes[w as usize].bucket_next = nodes[s].bucket_head;
            nodes[s].bucket_head = w;
            nodes[w as usize].ancestor = parent;
            let mut v = std::mem::replace(&mut nodes[parent as usize].bucket_head, NONE);
            while v != NONE {
                let u = eval(v, &mut nodes, &mut path);
                let before = nodes[u as usize].semi < nodes[v as usize].semi;
                nodes[v as usize].idom = if before { u } else { parent };
                v = nodes[v as usize].bucket_next;
            }
        }
        for w in 1..size {
            if nodes[w].idom != nodes[w].semi {
                nodes[w].idom = nodes[nodes[w].idom as usize].idom;
            }
        }

        // Subtree sizes, then intervals: a parent has a smaller number than its children.
        let mut tree = vec![Interval { weight: 1, cursor: 1 }; size];
        for w in (1..size).rev() {
            tree[nodes[w].idom as usize].weight += tree[w].weight;
        }
        let block_count = self.number.len();
        let mut result =
            Dominators { immediate: vec![None; block_count], intervals: vec![(0, 0); block_count] };
        for w in 1..size {
            let idom = nodes[w].idom as usize;
            let (enter, weight) = (tree[idom].cursor, tree[w].weight);
            tree[idom].cursor += weight;
            tree[w] = Interval { weight, cursor: enter + 1 };
            let block = self.block[w] as usize;
            result.intervals[block] = (enter, enter + weight);
            if idom != 0 {
                result.immediate[block] = Some(self.block[idom]);
            }
        }
        result
    }
}

/// Edges `(from, to)` and, per number, which of them have it as nearest common ancestor.
struct CrossEdges {
    at: Lists,
    edges: Vec<(u32, u32)>,
}

/// Marks every loop that contains `to` other than as its header: an edge enters it from outside.
fn mark_irreducible(to: u32, loop_parent: &[u32], marked: &mut [u32], irreducible: &mut [bool]) {
    let mut at = loop_parent[to as usize];
    while at != NONE {
        let header = find(marked, at);
        irreducible[header as usize] = true;
        at = loop_parent[header as usize];
        if at != NONE {
            marked[header as usize] = at;
        }
    }
}

/// The number with the least semidominator on the linked path above `v`.
fn eval(v: u32, nodes: &mut [Node], path: &mut Vec<u32>) -> u32 {
    let ancestor = |nodes: &[Node], at: u32| nodes[at as usize].ancestor;
    if ancestor(nodes, v) == NONE {
        return v;
    }
    path.clear();
    let mut at = v;
    while ancestor(nodes, ancestor(nodes, at)) != NONE {
        path.push(at);
        at = ancestor(nodes, at);
    }
    let top = ancestor(nodes, at);
    while let Some(x) = path.pop() {
        let (up, own) = (ancestor(nodes, x), nodes[x as usize].label);
        let above = nodes[up as usize].label;
        if nodes[above as usize].semi < nodes[own as usize].semi {
            nodes[x as usize].label = above;
        }
        // `up` is compressed already: it hangs below the top.
        nodes[x as usize].ancestor = top;
    }
    nodes[v as usize].label
}

//! Graphs of work: built by hand or captured, made ready, launched again and again.
//!
//! A graph that is ready to run is a list in an order that satisfies every dependency. Work that is captured becomes
//! nodes at once. Child graphs are copied when they are added, flat into the list.

use crate::codes::Code;
use crate::stream::AttributeValue;
use crate::user_objects::UserObjects;
use crate::work::Work;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Work of a node.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    Work(Work),
    /// Only has dependencies.
    Empty,
    /// A copy of another graph, by handle.
    Child(usize),
    /// Records an event.
    Record(usize),
    /// Waits for an event, which has happened already.
    Wait(usize),
    /// Gives memory to addresses that were reserved for it.
    Allocate {
        address: usize,
        bytes: usize,
        device: i32,
    },
    /// Frees memory.
    Free(usize),
}

impl Action {
    /// The kind of a node, as programs read it.
    pub(crate) fn kind(&self) -> i32 {
        match self {
            Action::Work(Work::Kernel(_)) => 0,
            Action::Work(Work::Copy(_)) => 1,
            Action::Work(Work::Fill(_)) => 2,
            Action::Work(Work::Call(..)) => 3,
            Action::Work(Work::Values(_)) => 14,
            Action::Child(_) => 4,
            Action::Empty => 5,
            Action::Wait(_) => 6,
            Action::Record(_) => 7,
            Action::Allocate { .. } => 10,
            Action::Free(_) => 11,
        }
    }
}

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) graph: usize,
    pub(crate) action: Action,
    pub(crate) dependencies: Vec<usize>,
    /// The node that this one is a copy of.
    original: Option<usize>,
    /// Arguments of a kernel as the program was shown them, and pointers to them.
    pub(crate) shown: Option<(Vec<u8>, Vec<usize>)>,
    pub(crate) attributes: BTreeMap<u32, AttributeValue>,
}

/// Nodes in the order they were added.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<usize>,
    /// Objects of the program that it holds references to, with their number.
    pub(crate) objects: BTreeMap<usize, u32>,
}

/// Something that a graph does when it runs.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) node: usize,
    pub(crate) action: Action,
    pub(crate) enabled: bool,
}

/// A graph that is ready to run.
#[derive(Debug)]
pub(crate) struct Executable {
    pub(crate) steps: Arc<Vec<Step>>,
    pub(crate) flags: u64,
}

/// Result of `hipGraphExecUpdate`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Update {
    Done = 0,
    OtherTopology = 2,
    OtherKind = 3,
}

/// All graphs, by handle.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    graphs: BTreeMap<usize, Graph>,
    nodes: BTreeMap<usize, Node>,
    pub(crate) executables: BTreeMap<usize, Executable>,
    pub(crate) objects: UserObjects,
    last: usize,
}

impl Graphs {
    fn handle(&mut self) -> usize {
        self.last += 16;
        self.last
    }

    /// An empty graph.
    pub(crate) fn create(&mut self) -> usize {
        let handle = self.handle();
        self.graphs.insert(handle, Graph::default());
        handle
    }

    pub(crate) fn graph(&self, graph: usize) -> Result<&Graph, Code> {
        self.graphs.get(&graph).ok_or(Code::hipErrorInvalidValue)
    }

    pub(crate) fn graph_mut(&mut self, graph: usize) -> Result<&mut Graph, Code> {
        self.graphs.get_mut(&graph).ok_or(Code::hipErrorInvalidValue)
    }

    pub(crate) fn node(&self, node: usize) -> Result<&Node, Code> {
        self.nodes.get(&node).ok_or(Code::hipErrorInvalidValue)
    }

    pub(crate) fn node_mut(&mut self, node: usize) -> Result<&mut Node, Code> {
        self.nodes.get_mut(&node).ok_or(Code::hipErrorInvalidValue)
    }

    /// Adds a node.
    pub(crate) fn add(
        &mut self,
        graph: usize,
        action: Action,
        mut dependencies: Vec<usize>,
    ) -> Result<usize, Code> {
        self.graph(graph)?;
        dependencies.sort_unstable();
        if dependencies.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Code::hipErrorInvalidValue);
        }
        for dependency in &dependencies {
            if self.node(*dependency)?.graph != graph {
                return Err(Code::hipErrorInvalidValue);
            }
        }
        let action = match action {
            // Later changes of the other graph do not matter.
            Action::Child(child) => Action::Child(self.copy(child)?),
            other => other,
        };
        let handle = self.handle();
        let (original, shown, attributes) = (None, None, BTreeMap::new());
        self.nodes.insert(handle, Node { graph, action, dependencies, original, shown, attributes });
        if let Some(graph) = self.graphs.get_mut(&graph) {
            graph.nodes.push(handle);
        }
        Ok(handle)
    }

    /// Whether an address is of a node that allocates memory which no node frees yet.
    pub(crate) fn can_be_freed(&self, address: usize) -> bool {
        let any = |is: &dyn Fn(&Action) -> bool| self.nodes.values().any(|it| is(&it.action));
        any(&|it| matches!(it, Action::Allocate { address: own, .. } if *own == address))
            && !any(&|it| matches!(it, Action::Free(own) if *own == address))
    }

    /// A copy of a graph with new nodes.
    pub(crate) fn copy(&mut self, graph: usize) -> Result<usize, Code> {
        let nodes = self.graph(graph)?.nodes.clone();
        let copy = self.create();
        let mut copies = BTreeMap::new();
        for original in nodes {
            let Node { action, dependencies, attributes, .. } = self.node(original)?;
            let (action, dependencies) = (action.clone(), dependencies.clone());
            let attributes = attributes.clone();
            let action = match action {
                Action::Child(child) => Action::Child(self.copy(child)?),
                other => other,
            };
            let handle = self.handle();
            let original_node = Some(original);
            let node =
                Node { graph: copy, action, dependencies, original: original_node, shown: None, attributes };
            self.nodes.insert(handle, node);
            copies.insert(original, handle);
        }
        // A node may depend on one that was added after it.
        for handle in copies.values() {
            let node = self.nodes.get_mut(handle).ok_or(Code::hipErrorInvalidValue)?;
            for dependency in &mut node.dependencies {
                *dependency = copies.get(dependency).copied().unwrap_or(*dependency);
            }
        }
        if let Some(graph) = self.graphs.get_mut(&copy) {
            graph.nodes = copies.into_values().collect();
        }
        Ok(copy)
    }

    /// The copy of a node in a copy of its graph.
    pub(crate) fn find_copy(&self, original: usize, copy: usize) -> Result<usize, Code> {
        let mut nodes = self.graph(copy)?.nodes.iter();
        let found = nodes.find(|it| self.nodes.get(it).is_some_and(|it| it.original == Some(original)));
        found.copied().ok_or(Code::hipErrorInvalidValue)
    }

    /// Ends a graph with its nodes and child graphs.
    pub(crate) fn destroy(&mut self, graph: usize) -> Result<(), Code> {
        let graph = self.graphs.remove(&graph).ok_or(Code::hipErrorInvalidValue)?;
        for (object, count) in graph.objects {
            self.objects.release(object, count);
        }
        for node in graph.nodes {
            if let Some(Node { action: Action::Child(child), .. }) = self.nodes.remove(&node) {
                self.destroy(child)?;
            }
        }
        Ok(())
    }

    /// Ends a node; nothing depends on it any more.
    pub(crate) fn destroy_node(&mut self, node: usize) -> Result<(), Code> {
        let Node { graph, action, .. } = self.nodes.remove(&node).ok_or(Code::hipErrorInvalidValue)?;
        if let Action::Child(child) = action {
            self.destroy(child)?;
        }
        let Some(graph) = self.graphs.get_mut(&graph) else { return Ok(()) };
        graph.nodes.retain(|it| *it != node);
        for other in &graph.nodes {
            if let Some(other) = self.nodes.get_mut(other) {
                other.dependencies.retain(|it| *it != node);
            }
        }
        Ok(())
    }

    /// Makes `to` depend on `from`, or no longer.
    pub(crate) fn connect(
        &mut self,
        graph: usize,
        from: usize,
        to: usize,
        connected: bool,
    ) -> Result<(), Code> {
        let is_inside = |node: usize| self.node(node).is_ok_and(|it| it.graph == graph);
        if !is_inside(from) || !is_inside(to) || from == to {
            return Err(Code::hipErrorInvalidValue);
        }
        let dependencies = &mut self.node_mut(to)?.dependencies;
        if dependencies.contains(&from) == connected {
            return Err(Code::hipErrorInvalidValue);
        }
        match connected {
            true => dependencies.push(from),
            false => dependencies.retain(|it| *it != from),
        }
        Ok(())
    }

    /// Edges of a graph: from, to.
    pub(crate) fn edges(&self, graph: usize) -> Result<Vec<(usize, usize)>, Code> {
        let mut edges = Vec::new();
        for &to in &self.graph(graph)?.nodes {
            edges.extend(self.node(to)?.dependencies.iter().map(|&from| (from, to)));
        }
        Ok(edges)
    }

    /// Nodes of a graph, each behind those it depends on, and otherwise as they were added.
    fn order(&self, graph: usize) -> Result<Vec<usize>, Code> {
        let nodes = &self.graph(graph)?.nodes;
        let mut missing = BTreeMap::new();
        let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let places: BTreeMap<usize, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        for (&node, &at) in &places {
            let dependencies = &self.node(node)?.dependencies;
            missing.insert(at, dependencies.len());
            for dependency in dependencies {
                let before = places.get(dependency).ok_or(Code::hipErrorInvalidValue)?;
                after.entry(*before).or_default().push(at);
            }
        }
        let mut ready: BTreeSet<usize> = missing.iter().filter(|it| *it.1 == 0).map(|it| *it.0).collect();
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(at) = ready.pop_first() {
            order.push(nodes[at]);
            for next in after.remove(&at).unwrap_or_default() {
                let left = missing.entry(next).or_default();
                *left -= 1;
                if *left == 0 {
                    ready.insert(next);
                }
            }
        }
        // Nodes that wait for each other are never ready.
        if order.len() == nodes.len() { Ok(order) } else { Err(Code::hipErrorInvalidValue) }
    }

    /// Steps of a graph, in order.
    fn steps(&self, graph: usize, steps: &mut Vec<Step>) -> Result<(), Code> {
        for node in self.order(graph)? {
            match &self.node(node)?.action {
                Action::Child(child) => self.steps(*child, steps)?,
                action => steps.push(Step { node, action: action.clone(), enabled: true }),
            }
        }
        Ok(())
    }

    /// Makes a graph ready to run.
    pub(crate) fn instantiate(&mut self, graph: usize, flags: u64) -> Result<usize, Code> {
        let mut steps = Vec::new();
        self.steps(graph, &mut steps)?;
        let handle = self.handle();
        self.executables.insert(handle, Executable { steps: Arc::new(steps), flags });
        Ok(handle)
    }

    /// Brings a graph that is ready to run up to date with one of the same shape. Its nodes keep their names.
    pub(crate) fn update(&mut self, executable: usize, graph: usize) -> Result<Update, Code> {
        let mut steps = Vec::new();
        self.steps(graph, &mut steps)?;
        let executable = self.executables.get_mut(&executable).ok_or(Code::hipErrorInvalidValue)?;
        let own = Arc::make_mut(&mut executable.steps);
        if own.len() != steps.len() {
            return Ok(Update::OtherTopology);
        }
        if own.iter().zip(&steps).any(|(own, new)| own.action.kind() != new.action.kind()) {
            return Ok(Update::OtherKind);
        }
        own.iter_mut().zip(steps).for_each(|(own, new)| own.action = new.action);
        Ok(Update::Done)
    }

    /// Replaces the steps of a child graph by the steps of another graph of the same shape.
    pub(crate) fn replace_child(&mut self, executable: usize, node: usize, graph: usize) -> Result<(), Code> {
        let Action::Child(child) = self.node(node)?.action else { return Err(Code::hipErrorInvalidValue) };
        if self.node(node)?.graph == graph {
            return Err(Code::hipErrorUnknown);
        }
        let (mut old, mut new) = (Vec::new(), Vec::new());
        self.steps(child, &mut old)?;
        self.steps(graph, &mut new)?;
        let kinds = |steps: &[Step]| steps.iter().map(|it| it.action.kind()).collect::<Vec<_>>();
        if kinds(&old) != kinds(&new) {
            return Err(Code::hipErrorUnknown);
        }
        for (old, new) in old.iter().zip(new) {
            self.step(executable, old.node)?.action = new.action;
        }
        Ok(())
    }

    /// The step of a node in a graph that is ready to run.
    pub(crate) fn step(&mut self, executable: usize, node: usize) -> Result<&mut Step, Code> {
        // Nodes that ended have no step any more.
        self.node(node)?;
        let executable = self.executables.get_mut(&executable).ok_or(Code::hipErrorInvalidValue)?;
        let at = executable.steps.iter().position(|it| it.node == node).ok_or(Code::hipErrorInvalidValue)?;
        Ok(&mut Arc::make_mut(&mut executable.steps)[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(graphs: &Graphs, executable: usize) -> Vec<usize> {
        graphs.executables[&executable].steps.iter().map(|it| it.node).collect()
    }

    #[test]
    fn steps_follow_what_they_depend_on() {
        let mut graphs = Graphs::default();
        let graph = graphs.create();
        let mut add =
            |dependencies: &[usize]| graphs.add(graph, Action::Empty, dependencies.to_vec()).unwrap();
        let a = add(&[]);
        let b = add(&[a]);
        let c = add(&[]);
        let d = add(&[b, c]);
        graphs.connect(graph, d, a, true).unwrap();
        assert_eq!(graphs.instantiate(graph, 0), Err(Code::hipErrorInvalidValue), "a circle");
        graphs.connect(graph, d, a, false).unwrap();
        graphs.connect(graph, c, a, true).unwrap();
        let executable = graphs.instantiate(graph, 0).unwrap();
        assert_eq!(nodes(&graphs, executable), [c, a, b, d]);
        assert_eq!(graphs.edges(graph).unwrap(), [(c, a), (a, b), (b, d), (c, d)]);
        graphs.destroy_node(b).unwrap();
        assert_eq!(graphs.edges(graph).unwrap(), [(c, a), (c, d)]);
        for (from, to, connected) in [(a, a, true), (c, a, true), (a, c, false), (a, 7, true)] {
            assert!(graphs.connect(graph, from, to, connected).is_err(), "{from} {to}");
        }
    }

    #[test]
    fn child_graphs_are_copies() {
        let mut graphs = Graphs::default();
        let (inner, outer) = (graphs.create(), graphs.create());
        let first = graphs.add(inner, Action::Record(1), vec![]).unwrap();
        let second = graphs.add(inner, Action::Record(2), vec![first]).unwrap();
        let child = graphs.add(outer, Action::Child(inner), vec![]).unwrap();
        let last = graphs.add(outer, Action::Record(3), vec![child]).unwrap();
        let Action::Child(copy) = graphs.node(child).unwrap().action else { panic!() };
        let copies = [first, second].map(|it| graphs.find_copy(it, copy).unwrap());
        graphs.destroy(inner).unwrap();
        let executable = graphs.instantiate(outer, 0).unwrap();
        assert_eq!(nodes(&graphs, executable), [copies[0], copies[1], last]);
        // A graph may have a copy of what it was before.
        let own = graphs.add(outer, Action::Child(outer), vec![]).unwrap();
        let twice = graphs.instantiate(outer, 0).unwrap();
        assert_eq!(nodes(&graphs, twice).len(), 6);
        graphs.destroy_node(own).unwrap();
        graphs.destroy(outer).unwrap();
        assert!(graphs.graph(copy).is_err() && graphs.node(copies[0]).is_err() && graphs.nodes.is_empty());
        assert_eq!(nodes(&graphs, executable), [copies[0], copies[1], last]);
    }

    #[test]
    fn graphs_of_the_same_shape_replace_each_other() {
        let mut graphs = Graphs::default();
        let record = |numbers: &[usize]| numbers.iter().map(|it| Action::Record(*it)).collect::<Vec<_>>();
        let chain = |graphs: &mut Graphs, actions: Vec<Action>| {
            let graph = graphs.create();
            let mut before = None;
            for action in actions {
                before = Some(graphs.add(graph, action, before.into_iter().collect()).unwrap());
            }
            graph
        };
        let first = chain(&mut graphs, record(&[1, 2]));
        let executable = graphs.instantiate(first, 0).unwrap();
        let names = nodes(&graphs, executable);
        for (actions, expected) in [
            (record(&[3, 4]), Update::Done),
            (record(&[5]), Update::OtherTopology),
            (vec![Action::Record(6), Action::Empty], Update::OtherKind),
        ] {
            let other = chain(&mut graphs, actions);
            assert_eq!(graphs.update(executable, other), Ok(expected));
        }
        assert_eq!(nodes(&graphs, executable), names);
        let events = graphs.executables[&executable].steps.iter().map(|it| match it.action {
            Action::Record(event) => event,
            _ => 0,
        });
        assert_eq!(events.collect::<Vec<_>>(), [3, 4]);
    }
}

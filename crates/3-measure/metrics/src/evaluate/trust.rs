//! Trust in values of metrics.
//!
//! A value has the mark of its least certain count, and a count of zero the mark of its zeros, except for a
//! zero that can only result from counts.

use super::{CHUNK, Evaluation, Trust, Value};
use crate::compile::{Leaf, Node, leaves_of};
use crate::facts::Property;
use crate::parse::{Function, Operator};
use view::Mark;
use workload::Marks;

impl Evaluation<'_> {
    /// Trust in `value`, which is computed from a metric; `None` if measured.
    pub fn trust(&self, metric: &str, value: &Value) -> Option<Trust> {
        let marks = self.workload.marks.as_ref()?;
        Some(value.clone().and_then(|value| self.mark(metric, value, marks)))
    }

    /// The mark of the least certain value of a metric.
    fn mark(&self, metric: &str, value: f64, marks: &Marks) -> Trust {
        let (node, _) = self.normalised(metric)?;
        if value == 0.0 && self.is_nothing(&node, marks) {
            return Ok(Mark::Exact);
        }
        let mut leaves = Vec::new();
        leaves_of(&node, &mut leaves);
        Ok(leaves.iter().map(|leaf| self.leaf_mark(*leaf, marks)).fold(Mark::Exact, Mark::with))
    }

    fn leaf_mark(&self, leaf: usize, marks: &Marks) -> Mark {
        match self.leaf_of(leaf) {
            // Where there are marks the recording is emulated, and its windows are as long as the dispatches.
            Leaf::Window { name, .. } => marks.of(name),
            Leaf::Counter { name, .. } | Leaf::Level(name) | Leaf::Channels(name) if self.is_zero(leaf) => {
                marks.of_zero(name)
            }
            Leaf::Counter { name, .. }
            | Leaf::Channel(name)
            | Leaf::Channels(name)
            | Leaf::Level(name)
            | Leaf::Derived { name, .. }
            | Leaf::OfInstances { name, .. } => marks.of(name),
            Leaf::Property(Property::Time) => marks.of(workload::TIME),
            Leaf::Property(_) => Mark::Exact,
        }
    }

    /// Whether something counted is zero in every dispatch; one channel's count says nothing of the others'.
    fn is_zero(&self, leaf: usize) -> bool {
        let zero = |rows: &[u32]| self.leaf(leaf, rows, 0).iter().all(|count| *count == 0.0);
        !matches!(self.leaf_of(leaf), Leaf::Channel(_)) && self.rows.chunks(CHUNK).all(zero)
    }

    /// Whether a node is zero in every dispatch because of counts that are exact, whatever they are
    /// multiplied with or divided by.
    fn is_nothing(&self, node: &Node, marks: &Marks) -> bool {
        let is = |node: &Node| self.is_nothing(node, marks);
        match node {
            Node::Constant(value) => *value == 0.0,
            Node::Machine(_) => false,
            Node::StandIn(all) => all.own.as_ref().is_ok_and(|own| is(own)),
            Node::Leaf(leaf) => self.leaf_mark(*leaf, marks) == Mark::Exact && self.is_zero(*leaf),
            Node::Scale(_, of) | Node::Mean(of, _) => is(of),
            Node::Binary(Operator::Multiply, a, b) => is(a) || is(b),
            Node::Binary(Operator::Add | Operator::Subtract, a, b) => is(a) && is(b),
            Node::Binary(Operator::Divide | Operator::Else, a, _) => is(a),
            Node::Call(Function::Min | Function::Max, of) => of.iter().all(|it| is(it)),
            Node::Call(_, of) => of.first().is_some_and(|it| is(it)),
        }
    }
}

//! The parsed form of an expression.

use crate::call::Function;
use crate::error::{ErrorKind, ExpressionError, unknown};
use crate::value::Value;

/// Place of a node in [`Expression::nodes`].
pub type NodeId = u32;

/// An operator between two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `//`
    FloorDivide,
    /// `%`
    Remainder,
    /// `**`
    Power,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
}

/// A comparison of two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `in`
    In,
    /// `not in`
    NotIn,
}

/// A part of an expression. Nodes that it names come before it.
#[derive(Clone, PartialEq, Debug)]
pub enum Node {
    /// A literal.
    Literal(Value),
    /// A name, by its place in [`Expression::names`].
    Name(u32),
    /// The variable of a comprehension, by its depth.
    Local(u32),
    /// A list or tuple.
    List(Vec<NodeId>),
    /// `-x`
    Negate(NodeId),
    /// `~x`
    Invert(NodeId),
    /// `not x`
    Not(NodeId),
    /// An operator between two values.
    Binary(Binary, NodeId, NodeId),
    /// A chain of comparisons: the first value, then operators with the next values.
    Compare(NodeId, Vec<(Comparison, NodeId)>),
    /// `a and b`
    And(NodeId, NodeId),
    /// `a or b`
    Or(NodeId, NodeId),
    /// `a if condition else b`: condition, a, b.
    If(NodeId, NodeId, NodeId),
    /// A call.
    Call(Function, Vec<NodeId>),
    /// `list[index]`
    Index(NodeId, NodeId),
    /// `[element for variable in list if condition]`.
    Comprehension {
        /// Value of each element.
        element: NodeId,
        /// Depth of the variable.
        local: u32,
        /// The list.
        list: NodeId,
        /// Which elements are kept.
        condition: Option<NodeId>,
    },
}

/// A parsed expression.
#[derive(Clone, PartialEq, Debug)]
pub struct Expression {
    pub(crate) text: String,
    pub(crate) nodes: Vec<Node>,
    /// Characters of the text before each node.
    pub(crate) places: Vec<u32>,
    pub(crate) names: Vec<String>,
    pub(crate) name_places: Vec<u32>,
    pub(crate) locals: u32,
}

impl Expression {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names that it reads, in the order of their first use.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The nodes; the last is the whole expression.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The whole expression.
    pub fn root(&self) -> NodeId {
        self.nodes.len() as NodeId - 1
    }

    /// For each name of the expression, its place among `known`.
    ///
    /// # Errors
    /// If a name is not known; the message names the nearest.
    pub fn bind(&self, known: &[&str]) -> Result<Vec<usize>, ExpressionError> {
        let find = |(name, &at): (&String, &u32)| {
            known.iter().position(|it| it == name).ok_or_else(|| {
                let message = unknown("name", name, known.iter().copied());
                ExpressionError::new(at as usize, ErrorKind::UnknownName, message)
            })
        };
        self.names.iter().zip(&self.name_places).map(find).collect()
    }
}

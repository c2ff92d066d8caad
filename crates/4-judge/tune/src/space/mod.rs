//! The valid configurations of a space.
//!
//! A space of constraints is a tree with a level for each parameter, built without walking the product: constraints
//! are decided as soon as intervals of their values decide them (constraint propagation), and partial
//! configurations that leave the same work to the constraints share a subtree (memoisation, as in decision diagrams).

mod error;
mod interval;
mod op;
mod order;
mod program;
mod removed;
mod tree;

pub use error::SpaceError;
pub use removed::Removed;

use crate::random::Random;
use crate::value::Value;
use expression::Expression;
use program::{Domain, Program};
use std::collections::HashMap;
use std::sync::Arc;
use tree::{Failed, Plan, Tree, Wholes};

/// Number of a configuration within its space, from 0. Listed spaces number them as listed, others in the order of
/// the tree.
pub type Id = u64;

/// A parameter and its values.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Values, in the order of the file.
    pub values: Vec<Value>,
}

/// Limits on the cost of building a space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Edges of the tree; one takes 16 bytes.
    pub edges: usize,
    /// Operations.
    pub steps: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { edges: 8_000_000, steps: 2_000_000_000 }
    }
}

/// Which configurations are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Neighbourhood {
    /// One parameter has another value (Hamming distance 1).
    Any,
    /// One parameter has the next value above or below that is valid.
    Adjacent,
}

#[derive(Clone, Debug)]
enum Configurations {
    /// Places of values, configuration by configuration, and the number of each.
    Listed {
        rows: Vec<u32>,
        ids: HashMap<Box<[u32]>, Id>,
    },
    Tree(Tree),
}

/// Constraints with the parameters that they read.
#[derive(Clone, Debug)]
struct Rules {
    expressions: Vec<(Expression, Vec<usize>)>,
    program: Program,
    domains: Vec<Domain>,
    order: Vec<usize>,
    limits: Limits,
}

/// The valid configurations of a space.
#[derive(Clone, Debug)]
pub struct Space {
    parameters: Vec<Parameter>,
    configurations: Configurations,
    rules: Arc<Rules>,
}

fn check_parameters(parameters: &[Parameter]) -> Result<(), SpaceError> {
    for (at, it) in parameters.iter().enumerate() {
        if it.values.is_empty() {
            return Err(SpaceError::NoValues(it.name.clone()));
        }
        if parameters[..at].iter().any(|other| other.name == it.name) {
            return Err(SpaceError::RepeatedParameter(it.name.clone()));
        }
    }
    Ok(())
}

/// A recorded space may hold one value in two spellings; in one of constraints a repetition is a mistake.
fn check_values(parameters: &[Parameter]) -> Result<(), SpaceError> {
    for it in parameters {
        let mut seen: HashMap<String, ()> = HashMap::new();
        for value in &it.values {
            if seen.insert(format!("{value:?}"), ()).is_some() {
                return Err(SpaceError::RepeatedValue {
                    parameter: it.name.clone(),
                    value: value.to_string(),
                });
            }
        }
    }
    Ok(())
}

impl Space {
    /// The configurations that satisfy all constraints, which are expressions of Python over the parameters' names.
    ///
    /// # Errors
    /// If a parameter has no values or is given twice, a constraint cannot be read, names an unknown parameter, is neither
    /// true nor false, or cannot be computed for a configuration that the others allow; if no configuration is left,
    /// with the constraint at fault; if a limit is exceeded.
    pub fn new(
        parameters: Vec<Parameter>,
        constraints: &[String],
        limits: Limits,
    ) -> Result<Space, SpaceError> {
        check_parameters(&parameters)?;
        check_values(&parameters)?;
        let rules = Rules::new(&parameters, constraints, limits)?;
        let tree = rules.tree(&parameters, (0..constraints.len()).collect())?;
        if tree.len() == 0 {
            return Err(rules.emptied_by(&parameters)?);
        }
        Ok(Space { parameters, configurations: Configurations::Tree(tree), rules: Arc::new(rules) })
    }

    /// A space whose configurations are listed: for each, the place of each parameter's value.
    ///
    /// # Errors
    /// If a parameter has no values, a row has another number of places than parameters, a place is beyond its
    /// parameter's values, a configuration is listed twice, or none is listed.
    pub fn listed(parameters: Vec<Parameter>, rows: Vec<Vec<u32>>) -> Result<Space, SpaceError> {
        check_parameters(&parameters)?;
        if rows.is_empty() {
            return Err(SpaceError::NoRows);
        }
        let (mut flat, mut ids) = (Vec::new(), HashMap::with_capacity(rows.len()));
        for (id, row) in rows.into_iter().enumerate() {
            if row.len() != parameters.len() {
                return Err(SpaceError::WrongLength {
                    row: id,
                    places: row.len(),
                    parameters: parameters.len(),
                });
            }
            for (parameter, &place) in parameters.iter().zip(&row) {
                if place as usize >= parameter.values.len() {
                    return Err(SpaceError::NoSuchValue { parameter: parameter.name.clone(), place });
                }
            }
            flat.extend_from_slice(&row);
            if ids.insert(row.into_boxed_slice(), id as Id).is_some() {
                return Err(SpaceError::RepeatedRow(id));
            }
        }
        let rules = Arc::new(Rules::new(&parameters, &[], Limits::default())?);
        Ok(Space { parameters, configurations: Configurations::Listed { rows: flat, ids }, rules })
    }

    /// The parameters.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The constraints as written; a listed space has none.
    pub fn constraints(&self) -> impl Iterator<Item = &str> {
        self.rules.expressions.iter().map(|it| it.0.text())
    }

    /// Valid configurations; at least one.
    #[expect(clippy::len_without_is_empty, reason = "a space is never empty")]
    pub fn len(&self) -> u64 {
        match &self.configurations {
            Configurations::Listed { ids, .. } => ids.len() as u64,
            Configurations::Tree(it) => it.len(),
        }
    }

    /// Configurations without constraints: the product of the numbers of values.
    pub fn product(&self) -> u128 {
        self.parameters.iter().fold(1, |all, it| u128::saturating_mul(all, it.values.len() as u128))
    }

    /// The places of a configuration's values.
    ///
    /// # Panics
    /// If the space has no such configuration.
    pub fn places(&self, id: Id) -> Vec<u32> {
        let mut out = vec![0; self.parameters.len()];
        self.write_places(id, &mut out);
        out
    }

    /// Writes the places of a configuration's values.
    ///
    /// # Panics
    /// If the space has no such configuration, or `out` another length than the parameters.
    pub fn write_places(&self, id: Id, out: &mut [u32]) {
        assert!(id < self.len(), "configuration {id} of {}", self.len());
        match &self.configurations {
            Configurations::Listed { rows, .. } => {
                let start = id as usize * out.len();
                out.copy_from_slice(&rows[start..start + out.len()]);
            }
            Configurations::Tree(it) => it.places(id, out),
        }
    }

    /// The values of a configuration, in the order of the parameters.
    pub fn values(&self, id: Id) -> Vec<&Value> {
        let places = self.places(id);
        self.parameters.iter().zip(places).map(|(it, place)| &it.values[place as usize]).collect()
    }

    /// The configuration with these values, by place; `None` if it is not valid.
    pub fn id(&self, places: &[u32]) -> Option<Id> {
        if places.len() != self.parameters.len() {
            return None;
        }
        match &self.configurations {
            Configurations::Listed { ids, .. } => ids.get(places).copied(),
            Configurations::Tree(it) => it.id(places),
        }
    }

    /// A configuration, each with the same probability.
    pub fn random(&self, random: &mut Random) -> Id {
        random.below(self.len())
    }

    /// The neighbours of a configuration, parameter by parameter.
    ///
    /// # Panics
    /// If the space has no such configuration.
    pub fn neighbours(&self, id: Id, which: Neighbourhood) -> Vec<Id> {
        let mut places = self.places(id);
        let mut out = Vec::new();
        for (at, parameter) in self.parameters.iter().enumerate() {
            let (own, count) = (places[at], parameter.values.len() as u32);
            let mut look = |place: u32, places: &mut [u32]| {
                places[at] = place;
                let found = self.id(places);
                out.extend(found);
                found.is_some()
            };
            match which {
                Neighbourhood::Any => {
                    (0..count).filter(|it| *it != own).for_each(|it| _ = look(it, &mut places));
                }
                Neighbourhood::Adjacent => {
                    (0..own).rev().find(|it| look(*it, &mut places));
                    (own + 1..count).find(|it| look(*it, &mut places));
                }
            }
            places[at] = own;
        }
        out
    }
}

impl Rules {
    fn new(parameters: &[Parameter], constraints: &[String], limits: Limits) -> Result<Rules, SpaceError> {
        let names: Vec<&str> = parameters.iter().map(|it| it.name.as_str()).collect();
        let domains: Vec<Domain> = parameters.iter().map(|it| Domain::of(&it.values)).collect();
        let (mut expressions, mut program) = (Vec::new(), Program::default());
        for constraint in constraints {
            let unreadable = |error| SpaceError::Constraint { constraint: constraint.clone(), error };
            let parsed = Expression::parse(constraint).map_err(unreadable)?;
            let places = parsed.bind(&names).map_err(unreadable)?;
            program.add(&parsed, &places, &domains).map_err(|_| SpaceError::NotLogical {
                constraint: constraint.clone(),
                value: "a number".into(),
            })?;
            expressions.push((parsed, places));
        }
        let order = order::order(&program, &domains);
        Ok(Rules { expressions, program, domains, order, limits })
    }

    /// The tree of some of the constraints.
    fn tree(&self, parameters: &[Parameter], constraints: Vec<usize>) -> Result<Tree, SpaceError> {
        let wholes = Computed { rules: self, parameters };
        let plan = Plan {
            program: &self.program,
            domains: &self.domains,
            wholes: &wholes,
            order: self.order.clone(),
            limits: self.limits,
            constraints,
        };
        Tree::build(&plan).map_err(|it| match it {
            Failed::TooLarge => SpaceError::TooLarge(self.limits),
            Failed::Constraint { constraint, places } => self.why(parameters, constraint, &places),
        })
    }

    fn value(&self, parameters: &[Parameter], constraint: usize, places: &[u32]) -> Vec<expression::Value> {
        let reads = &self.expressions[constraint].1;
        reads
            .iter()
            .zip(places)
            .map(|(&it, &place)| (&parameters[it].values[place as usize]).into())
            .collect()
    }

    /// Why a constraint cannot be computed for a configuration.
    fn why(&self, parameters: &[Parameter], constraint: usize, places: &[u32]) -> SpaceError {
        let (expression, reads) = &self.expressions[constraint];
        let own: Vec<u32> = reads.iter().map(|&it| places[it]).collect();
        let constraint_text = expression.text().to_owned();
        let values = self.value(parameters, constraint, &own);
        let pairs = parameters.iter().zip(places);
        let configuration: Vec<String> =
            pairs.map(|(it, &place)| format!("{}={}", it.name, it.values[place as usize])).collect();
        match expression.evaluate(&values) {
            Err(error) => SpaceError::NotComputed {
                constraint: constraint_text,
                error,
                configuration: configuration.join(" "),
            },
            Ok(it) => {
                SpaceError::NotLogical { constraint: constraint_text, value: format!("{} ({it})", it.kind()) }
            }
        }
    }
}

/// Constraints that need values as they are.
struct Computed<'a> {
    rules: &'a Rules,
    parameters: &'a [Parameter],
}

impl Wholes for Computed<'_> {
    fn holds(&self, whole: usize, places: &[u32]) -> Option<bool> {
        let constraint = self.rules.program.wholes[whole].constraint;
        let values = self.rules.value(self.parameters, constraint, places);
        match self.rules.expressions[constraint].0.evaluate(&values) {
            Ok(expression::Value::Bool(it)) => Some(it),
            _ => None,
        }
    }
}

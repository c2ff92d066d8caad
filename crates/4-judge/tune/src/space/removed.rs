//! Counts of configurations that constraints remove.

use super::{Rules, Space, SpaceError};

/// A constraint and the configurations that it removes.
#[derive(Clone, PartialEq, Debug)]
pub struct Removed {
    /// The constraint as written.
    pub constraint: String,
    /// Configurations of the product that break it, whatever the other constraints.
    pub configurations: u128,
    /// Configurations that it removes of those that the constraints before it leave.
    pub in_order: u128,
}

impl Space {
    /// The number of configurations that each constraint removes, in their order.
    ///
    /// # Errors
    /// If a constraint cannot be computed for a configuration that only another removes, or a limit is exceeded: then
    /// the number cannot be known.
    pub fn removed(&self) -> Result<Vec<Removed>, SpaceError> {
        let rules = &self.rules;
        let (mut out, mut before) = (Vec::new(), self.product());
        for (at, (expression, _)) in rules.expressions.iter().enumerate() {
            let alone = rules.tree(&self.parameters, vec![at])?.len();
            let left = match at + 1 == rules.expressions.len() {
                true => self.len(),
                false => rules.tree(&self.parameters, (0..=at).collect())?.len(),
            };
            out.push(Removed {
                constraint: expression.text().to_owned(),
                configurations: self.product() - u128::from(alone),
                in_order: before - u128::from(left),
            });
            before = u128::from(left);
        }
        Ok(out)
    }
}

impl Rules {
    /// The constraint that empties a space.
    pub(super) fn emptied_by(&self, parameters: &[super::Parameter]) -> Result<SpaceError, SpaceError> {
        let mut before = self.tree(parameters, Vec::new())?.len();
        for (at, (expression, _)) in self.expressions.iter().enumerate() {
            let left = self.tree(parameters, (0..=at).collect())?.len();
            if left == 0 {
                let alone = self.tree(parameters, vec![at])?.len() == 0;
                return Ok(SpaceError::Empty { constraint: expression.text().to_owned(), before, alone });
            }
            before = left;
        }
        Ok(SpaceError::NoRows)
    }
}

//! Types whose expected times were compared with measured products.

use crate::problem::Scales;
use arch::{ElementType, Model};

/// The comparisons.
const COMPARED: &str = include_str!("../data/compared.tsv");

/// Comparison of a type's expected times with measured ones.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Compared {
    /// Mean error, percent.
    pub error: f64,
    /// Measured products.
    pub products: u32,
}

/// Comparison for a type and its scales on GPUs of a model's target; `None` if there is none.
pub fn compared(model: &Model, element: ElementType, scales: Scales) -> Option<Compared> {
    let rows = COMPARED.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [target, name, of, error, products] = fields[..] else { return None };
        let is_it = target == model.target().name && name == element.name() && of == scales.name();
        is_it.then_some(Compared { error: error.parse().ok()?, products: products.parse().ok()? })
    })
    .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found() {
        let mut found = 0;
        for gpu in ["mi300x", "mi355x"] {
            let model = Model::by_name(gpu).expect("known");
            for element in ElementType::FACTORS {
                let all = [Scales::End, Scales::Mx, Scales::Blocks].map(|it| compared(model, element, it));
                found += all.iter().flatten().count();
                let is_new = matches!(element, ElementType::I8 | ElementType::F6 | ElementType::F64);
                assert!(!is_new || all == [None; 3], "{gpu} {element:?}");
            }
        }
        assert_eq!(found, COMPARED.lines().filter(|line| !line.starts_with('#')).count());
    }
}

//! Names by which GPUs of one silicon call themselves; tuned files of vLLM and SGLang have one of them in theirs.

const NAMES: &str = include_str!("../data/device-names.tsv");

/// The rows of the table: name, and name as sold.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = NAMES.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut cells = line.split('\t');
        Some((cells.next()?, cells.next()?))
    })
}

/// The name of a device as sold, `_` for blanks; its own if it has no other.
pub(crate) fn sold_as(name: &str) -> &str {
    rows().find(|it| it.0 == name).map_or(name, |it| it.1)
}

/// The product of a PCI id: `AMD Instinct MI300X` of `0x74a1`.
pub fn product_of(id: &str) -> Option<String> {
    let id = format!("0x{}", id.trim_start_matches("0x").to_ascii_lowercase());
    rows().find(|it| it.0 == id).map(|it| it.1.replace('_', " "))
}

/// Other names of the silicon of a device as sold.
pub(crate) fn others_of(sold: &str) -> Vec<&'static str> {
    rows().filter(|it| it.1 == sold).map(|it| it.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole_and_leads_to_a_gpu() {
        let lines = NAMES.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let cells: Vec<&str> = line.split('\t').collect();
            let [name, sold, source] = cells[..] else { panic!("{line}") };
            assert!(name != sold && !source.is_empty() && sold_as(sold) == sold, "{line}");
            let known = arch::Model::by_name(sold).is_some() || arch::target_of_product(sold).is_some();
            assert!(known, "{line}");
        }
        assert!(others_of("AMD_Instinct_MI350X").contains(&"AMD_Instinct_MI350X_VF"));
    }
}

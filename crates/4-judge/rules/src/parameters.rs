//! Rules whose findings are about parameters, which a search can choose.

const TABLE: &str = include_str!("../data/parameters.tsv");

fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.lines().filter(|it| !it.starts_with('#')).skip(1).filter_map(|it| it.split_once('\t'))
}

/// What a search would vary because of a finding of this rule; `None` if the finding is about no parameter.
pub fn parameters(rule: &str) -> Option<&'static str> {
    rows().find(|it| it.0 == rule).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_names_a_rule() {
        for (rule, what) in rows() {
            assert!(crate::by_id(rule).is_some() && !what.is_empty(), "{rule}");
        }
        assert!(parameters("RES005").is_some() && parameters("MEM001").is_none());
    }
}

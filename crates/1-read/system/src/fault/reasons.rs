//! Meanings of fault reasons: rows of `data/fault-reasons.tsv`.

/// Meaning and remedy of a reason, as the runtime, the HSA status or the debug agent writes it.
pub fn meaning(key: &str) -> Option<(&'static str, &'static str)> {
    let key = key.trim().trim_end_matches('.');
    let lines = include_str!("../../data/fault-reasons.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.skip(1).find_map(|line| {
        let mut fields = line.split('\t');
        (fields.next()? == key).then(|| Some((fields.next()?, fields.next()?))).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Reason;

    #[test]
    fn every_reason_of_the_runtime_has_a_meaning() {
        for (_, words) in Reason::ALL {
            assert!(meaning(words).is_some(), "{words}");
        }
        for key in [
            "GPU Hang",
            "ECC",
            "Memory in use",
            "ASSERT_TRAP",
            "MEMORY_VIOLATION",
            "HSA_STATUS_ERROR_EXCEPTION",
        ] {
            assert!(meaning(key).is_some(), "{key}");
        }
        assert!(meaning("no such thing").is_none());
    }
}

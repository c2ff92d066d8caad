//! The table of messages: the files of `data/`, in order.

use crate::hip_errors;
use crate::message::{File, Message};
use std::sync::LazyLock;

/// The files of the table, in the order in which rows are tried.
const FILES: &[&str] = &[
    include_str!("../data/hardware.toml"),
    include_str!("../data/kernel.toml"),
    include_str!("../data/openmp.toml"),
    include_str!("../data/tools.toml"),
    include_str!("../data/runtime.toml"),
    include_str!("../data/pytorch.toml"),
    include_str!("../data/triton.toml"),
    include_str!("../data/communication.toml"),
    include_str!("../data/libraries.toml"),
    include_str!("../data/compilers.toml"),
    include_str!("../data/servers.toml"),
    include_str!("../data/launchers.toml"),
    include_str!("../data/activity.toml"),
];

static MESSAGES: LazyLock<Vec<Message>> = LazyLock::new(|| {
    let of_files: Vec<Message> = FILES.iter().copied().flat_map(file).collect();
    // A call and a number say more than the name alone.
    hip_errors::rows(&of_files).into_iter().chain(of_files).collect()
});

/// All rows; of several that fit a line the first counts.
pub fn messages() -> &'static [Message] {
    &MESSAGES
}

fn file(text: &str) -> Vec<Message> {
    // Tests read every file; a row that does not parse cannot be released.
    let Ok(file) = toml::from_str::<File>(text) else { return Vec::new() };
    let (is_kernel, source) = (file.kernel, file.source);
    file.message.into_iter().map(|row| Message::new(row, is_kernel, &source)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Kind;
    use crate::prefix::entry;
    use regex::Regex;

    #[test]
    fn the_table_is_whole() {
        for text in FILES {
            let file: File = toml::from_str(text).unwrap_or_else(|error| panic!("{error}"));
            for row in &file.message {
                for pattern in row.fields.iter().chain(&row.then) {
                    assert!(Regex::new(pattern).is_ok(), "{}: {pattern}", row.id);
                }
            }
        }
        let ids: Vec<&str> = messages().iter().map(|it| it.id.as_str()).collect();
        for row in messages() {
            let is_silent = matches!(row.kind, Kind::Activity | Kind::Info);
            assert!(is_silent || !row.meaning.is_empty() && !row.next.is_empty(), "{}", row.id);
            assert!(!row.words.is_empty() && row.words.iter().all(|it| it.len() > 2), "{}", row.id);
            assert!(!row.test.is_empty() && !row.source.is_empty(), "{}", row.id);
            for name in row.distinct.iter().chain(row.differ.iter().flatten()) {
                let group = format!("(?<{}>", name.replace(' ', "_"));
                assert!(
                    row.fields.as_ref().is_some_and(|it| it.contains(&group)),
                    "{}: no field {name}",
                    row.id
                );
            }
            for id in &row.follows {
                assert!(ids.contains(&id.as_str()), "{} follows unknown {id}", row.id);
            }
        }
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), ids.len(), "each id once");
        let shown = messages().iter().filter(|it| !matches!(it.kind, Kind::Activity | Kind::Info)).count();
        assert!(shown >= 150, "{shown} messages");
    }

    #[test]
    fn versions_that_agree_are_no_message() {
        let found = |line: &str| {
            let entry = entry(line);
            messages().iter().find(|it| it.read(&entry).is_some()).map(|it| it.id.as_str())
        };
        assert_eq!(found("ROCM_VERSION validation: expect 6.2.0 to match 6.3.1"), Some("tunableop-version"));
        assert_eq!(found("ROCM_VERSION validation: expect 6.2.0 to match 6.2.0"), None);
    }

    #[test]
    fn each_row_is_found_by_its_test_lines() {
        let wrong = messages().iter().flat_map(|row| row.test.iter().map(move |line| (row, line)));
        let wrong = wrong.filter_map(|(row, line)| {
            let entry = entry(line);
            let first = messages().iter().find(|it| it.read(&entry).is_some()).map(|it| it.id.as_str());
            (first != Some(row.id.as_str())).then(|| format!("{} is {first:?}: {line}", row.id))
        });
        assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn each_number_is_a_message_and_each_reference_exists() {
        let lines = include_str!("../data/hip-errors.tsv").lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            let number = line.split('\t').next().unwrap_or_default();
            assert!(messages().iter().any(|it| it.id == format!("hip-error-{number}")), "{line}");
            let of = line.split('\t').nth(3).unwrap_or_default();
            assert!(of == "-" || messages().iter().any(|it| it.id == of), "{line}");
        }
    }
}

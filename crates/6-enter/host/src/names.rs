//! Short names of recordings: the parts of their paths that differ.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Longest name; column headings are made of it.
const LONGEST: usize = 24;

/// A name for each path, all different.
pub fn of(paths: &[PathBuf]) -> Vec<String> {
    let parts: Vec<Vec<String>> = paths.iter().map(|p| parts(p)).collect();
    let last = |p: &[String]| p.last().cloned().unwrap_or_default();
    if let [one] = &parts[..] {
        return vec![last(one)];
    }
    let alike = |at: &dyn Fn(&[String]) -> Option<String>| {
        let seen: BTreeSet<Option<String>> = parts.iter().map(|p| at(p)).collect();
        seen.len() == 1 && !seen.contains(&None)
    };
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let mut front = 0;
    while front < shortest && alike(&|p| p.get(front).cloned()) {
        front += 1;
    }
    let mut back = 0;
    while front + back < shortest && alike(&|p| p.len().checked_sub(back + 1).and_then(|i| p.get(i).cloned()))
    {
        back += 1;
    }
    let names: Vec<String> = parts.iter().map(|p| p[front..p.len() - back].join("/")).collect();
    let different: BTreeSet<&String> = names.iter().collect();
    let fit = names.iter().all(|n| !n.is_empty() && n.chars().count() <= LONGEST);
    if different.len() == names.len() && fit {
        return names;
    }
    (1..=paths.len()).map(|n| format!("#{n}")).collect()
}

fn parts(path: &Path) -> Vec<String> {
    let full = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    full.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_names_the_recordings() {
        for (paths, names) in [
            (&["/w/problem/mi200", "/w/solution/mi200"][..], &["problem", "solution"][..]),
            (&["/w/a"], &["a"]),
            (&["/w/a", "/w/a/b"], &["#1", "#2"]),
            (&["/w/a", "/w/a"], &["#1", "#2"]),
            (&["/w/a/1/x", "/w/b/2/x"], &["a/1", "b/2"]),
        ] {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            assert_eq!(of(&paths), names, "{paths:?}");
        }
    }
}

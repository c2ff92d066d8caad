//! Commit, branch and run that a recording belongs to.

use crate::session;
use std::collections::BTreeMap;

/// The commit, branch and run that recordings of now belong to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Provenance {
    /// Labels by name: `commit`, `branch`, `run`, `dirty`.
    pub labels: BTreeMap<String, String>,
    /// Time of the commit, seconds since 1970.
    pub commit_time: Option<i64>,
    /// The commit is what git has here, and no CI named it: an older recording is not of it.
    pub from_git: bool,
}

/// Variables of CI systems, one a line: the label, the variable.
const CI: &str = include_str!("../data/ci.tsv");

/// Reads the environment of the CI, and asks git.
pub fn provenance() -> Provenance {
    let mut found = Provenance::default();
    let rows = CI.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once('\t'));
    for (label, variable) in rows {
        if !found.labels.contains_key(label)
            && let Some(value) = std::env::var(variable).ok().filter(|it| !it.is_empty())
        {
            let value = value.strip_prefix("refs/heads/").map_or(value.clone(), str::to_owned);
            found.labels.insert(label.to_owned(), value);
        }
    }
    found.from_git = !found.labels.contains_key("commit");
    if found.from_git
        && let Some(head) = git(&["rev-parse", "--verify", "--quiet", "HEAD"])
    {
        found.labels.insert("commit".to_owned(), head);
        if git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|it| !it.is_empty()) {
            found.labels.insert("dirty".to_owned(), "yes".to_owned());
        }
        if !found.labels.contains_key("branch")
            && let Some(branch) = git(&["symbolic-ref", "--quiet", "--short", "HEAD"])
        {
            found.labels.insert("branch".to_owned(), branch);
        }
    }
    found.commit_time = found.labels.get("commit").and_then(|commit| commit_time(commit));
    found
}

/// Time of a commit of the repository here, seconds since 1970.
pub fn commit_time(commit: &str) -> Option<i64> {
    // What is no commit's name could be an option.
    let plain =
        !commit.is_empty() && commit.chars().all(|it| it.is_ascii_alphanumeric() || "/._-".contains(it));
    if !plain || commit.starts_with('-') {
        return None;
    }
    git(&["log", "-1", "--format=%ct", commit, "--"])?.parse().ok()
}

/// What git says here; `None` without git, without a repository, or if it refuses.
fn git(arguments: &[&str]) -> Option<String> {
    let mut command = std::process::Command::new("git");
    command.args(arguments).stdin(std::process::Stdio::null());
    // Under `rockhound run` a program's environment names the library; git needs none of it.
    command.env_remove(session::VARIABLE);
    let output = command.output().ok().filter(|it| it.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

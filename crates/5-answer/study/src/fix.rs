//! Corrections of a machine: files to write, commands for a person, and a script of both.
//!
//! Only files whose old content can be restored byte by byte are written by us; changes that need a tool, the
//! BIOS or a reboot are advice.

use rules::Profile;
use std::fmt::Write;
use system::{Fact, Machine};
use view::{HostCheck, HostVerdict};

/// A file to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Check that asks for it.
    pub check: &'static str,
    /// Path without a leading `/`.
    pub path: String,
    /// Wanted content.
    pub value: String,
}

/// Corrections for checks with an unwanted result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Plan {
    /// Files to write.
    pub changes: Vec<Change>,
    /// Checks that a person must see to, with the command.
    pub advice: Vec<(&'static str, String)>,
}

/// Plans for a machine.
pub fn plan(machine: &Machine, checks: &[HostCheck], profile: Option<Profile>) -> Plan {
    let mut plan = Plan::default();
    for check in checks.iter().filter(|it| matches!(it.verdict, HostVerdict::Fail | HostVerdict::Warn)) {
        let before = plan.changes.len();
        let mut add = |path: String, value: &str| {
            plan.changes.push(Change { check: check.check, path, value: value.to_owned() })
        };
        match check.check {
            "numa-balancing" => add("proc/sys/kernel/numa_balancing".to_owned(), "0"),
            "cpu-governor" => {
                for (cpu, _) in
                    known(&machine.governors).into_iter().flatten().filter(|(_, name)| *name != "performance")
                {
                    add(format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"), "performance");
                }
            }
            "c-state" => {
                let states = known(&machine.idle_states).into_iter().flatten();
                for state in
                    states.filter(|it| !it.disabled && (it.name == "C2" || it.name.starts_with("C2-")))
                {
                    add(
                        format!(
                            "sys/devices/system/cpu/cpu{}/cpuidle/state{}/disable",
                            state.cpu, state.state
                        ),
                        "1",
                    );
                }
            }
            // It takes CPUs away from everything else on the machine: only where asked for.
            "smt" if profile == Some(Profile::Benchmark) => {
                add("sys/devices/system/cpu/smt/control".to_owned(), "off")
            }
            _ => {}
        }
        if plan.changes.len() == before
            && !check.rule.starts_with("ENV")
            && let Some(set) = &check.set
        {
            plan.advice.push((check.check, set.clone()));
        }
    }
    plan
}

fn known<T>(fact: &Fact<T>) -> Option<&T> {
    fact.get()
}

/// The plan as a script to be read and run as root.
pub fn script(plan: &Plan, machine: &str) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "#!/bin/sh\n# What `rockhound doctor` would set on {}. Read it, then run it as root.\n\
         # `rockhound doctor --fix --apply` does the same, keeps what was there, and `--reset` puts it back.\n\
         set -u\nfailed=0\nbefore=/var/tmp/rockhound-before.$$.sh\n\
         [ \"$(id -u)\" -eq 0 ] || {{ echo 'run this as root' >&2; exit 1; }}\n\
         # Writes a value, reads it back, and notes the command that undoes it. The redirection is this shell's, which is root.\n\
         put() {{\n  old=$(cat \"$1\") || {{ failed=1; return; }}\n  printf '%s\\n' \"$2\" > \"$1\" || {{ failed=1; return; }}\n\
         \x20 new=$(cat \"$1\")\n  if [ \"$new\" = \"$2\" ]; then\n    echo \"$1: $old -> $new\"\n\
         \x20   printf \"cat > '%s' <<'END'\\n%s\\nEND\\n\" \"$1\" \"$old\" >> \"$before\"\n\
         \x20 else\n    echo \"$1: still $new\" >&2; failed=1\n  fi\n}}\n",
        one_line(machine)
    );
    let mut check = "";
    for change in &plan.changes {
        if change.check != check {
            check = change.check;
            let _ = writeln!(out, "\n# {check}");
        }
        let _ = writeln!(out, "put '/{}' '{}'", change.path, change.value);
    }
    if plan.changes.is_empty() {
        out.push_str("\n# Nothing can be set by writing a file.\n");
    }
    if !plan.advice.is_empty() {
        out.push_str("\n# For a person to decide, with a tool, the BIOS or a reboot:\n");
        for (check, set) in &plan.advice {
            let _ = writeln!(out, "# {check}: {}", one_line(set));
        }
    }
    out.push_str("\n[ -e \"$before\" ] && echo \"to undo: sh $before\"\nexit \"$failed\"\n");
    out
}

/// Text that stays within a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::Tree;

    #[test]
    fn only_what_is_wrong_is_planned() {
        let mut tree = Tree::new("t");
        tree.insert("proc/sys/kernel/numa_balancing", b"1\n".to_vec());
        for (cpu, governor) in [(0, "performance"), (1, "schedutil")] {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            tree.insert(format!("{folder}/cpufreq/scaling_governor"), governor.as_bytes().to_vec());
            tree.insert(format!("{folder}/cpuidle/state2/name"), b"C2\n".to_vec());
            tree.insert(format!("{folder}/cpuidle/state2/disable"), format!("{}\n", 1 - cpu).into_bytes());
        }
        let machine = Machine::read(&tree, &[]);
        let examined = crate::doctor::examine(&machine, None, None);
        let plan = plan(&machine, &examined.checks, None);
        let paths: Vec<(&str, &str)> =
            plan.changes.iter().map(|it| (it.path.as_str(), it.value.as_str())).collect();
        assert_eq!(
            paths,
            [
                ("proc/sys/kernel/numa_balancing", "0"),
                ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance"),
                ("sys/devices/system/cpu/cpu1/cpuidle/state2/disable", "1"),
            ]
        );
        let script = script(&plan, "a\nrm -rf /");
        assert!(script.contains("put '/proc/sys/kernel/numa_balancing' '0'"));
        assert!(!script.lines().any(|line| line.starts_with("rm ")));
    }
}

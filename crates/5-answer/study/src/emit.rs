//! The variables to set for a kind of work, as lines of a shell, of docker, or of a batch script.

use rules::Profile;
use std::fmt::Write;
use system::variables::{self, Recommended};
use system::{Environment, Machine};
use view::shell_word;

/// Output format of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A shell.
    Shell,
    /// `docker run`.
    Docker,
    /// A batch script of Slurm.
    Slurm,
}

/// Variables recommended for a kind of work on a machine; the single-GPU variables depend on its number of
/// GPUs.
pub fn block(machine: &Machine, environment: Option<&Environment>, profile: Profile, form: Form) -> String {
    let gpus = machine.known_gpus().len();
    let mut rows = variables::recommended(profile.as_str());
    rows.retain(|row| row.name != "NCCL_MIN_NCHANNELS" || gpus != 1);
    for row in &mut rows {
        if row.name == "NCCL_MIN_NCHANNELS" && (2..8).contains(&gpus) {
            row.value = "32";
            row.why = "channels for fewer than eight GPUs";
        }
    }
    let left_on: Vec<&str> = environment
        .into_iter()
        .flat_map(Environment::iter)
        .filter(|(name, value)| {
            profile != Profile::Debug && variables::by_name(name).is_some_and(|it| it.is_left_on(value))
        })
        .map(|(name, _)| name)
        .collect();
    match form {
        Form::Shell => shell(&rows, &left_on, profile),
        Form::Docker => docker(&rows),
        Form::Slurm => slurm(&rows, &left_on, profile, gpus),
    }
}

fn shell(rows: &[Recommended], left_on: &[&str], profile: Profile) -> String {
    format!(
        "# rockhound doctor --emit, for {}. Source it in the shell that starts the job: `. FILE`.\n{}",
        profile.as_str(),
        exports(rows, left_on)
    )
}

fn exports(rows: &[Recommended], left_on: &[&str]) -> String {
    let mut out = String::new();
    for row in rows {
        let _ = writeln!(out, "export {}={}  # {}", row.name, shell_word(row.value), row.why);
    }
    if !left_on.is_empty() {
        let _ = writeln!(
            out,
            "unset {}  # debugging switches that are on in this environment",
            left_on.join(" ")
        );
    }
    out
}

fn docker(rows: &[Recommended]) -> String {
    let mut out = "docker run --device /dev/kfd --device /dev/dri --ipc host --group-add video --group-add render \\\n  \
                   --cap-add SYS_PTRACE --security-opt seccomp=unconfined --ulimit memlock=-1 \\\n"
        .to_owned();
    for row in rows {
        let _ = writeln!(out, "  -e {}={} \\", row.name, shell_word(row.value));
    }
    out.push_str("  IMAGE COMMAND\n");
    out
}

fn slurm(rows: &[Recommended], left_on: &[&str], profile: Profile, gpus: usize) -> String {
    let gpus = if gpus == 0 { 8 } else { gpus };
    // A server starts its own processes; elsewhere there is one per GPU.
    let tasks = if profile == Profile::Inference { 1 } else { gpus };
    let mut out = format!(
        "#!/bin/sh\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node={tasks}\n#SBATCH --gpus-per-node={gpus}\n#SBATCH --exclusive\n\
         # rockhound doctor --emit, for {}\n",
        profile.as_str()
    );
    out += &exports(rows, left_on);
    out.push_str("srun --cpu-bind=verbose COMMAND\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::Tree;

    #[test]
    fn every_form_has_every_variable() {
        let machine = Machine::read(&Tree::new("t"), &[]);
        for profile in Profile::ALL {
            for form in [Form::Shell, Form::Docker, Form::Slurm] {
                let text = block(&machine, None, profile, form);
                for row in variables::recommended(profile.as_str()) {
                    assert!(text.contains(&format!("{}={}", row.name, shell_word(row.value))), "{text}");
                }
            }
        }
        let environment = Environment::read(b"AMD_SERIALIZE_KERNEL=3\nNCCL_DEBUG=INFO\n");
        let text = block(&machine, Some(&environment), Profile::Benchmark, Form::Shell);
        assert!(text.contains("unset AMD_SERIALIZE_KERNEL ") && !text.contains("NCCL_DEBUG"), "{text}");
    }
}

//! Files that start workers on clusters: a batch script for Slurm, a Job for Kubernetes. Values in, text out.

use anyhow::{Result, bail};
use std::fmt::Write as _;
use view::shell_word;

/// Seconds before a job's end at which Slurm sends SIGTERM, so that workers give their tasks back.
const NOTICE_S: u32 = 60;

/// Workers of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cluster {
    /// Name of the study.
    pub study: String,
    /// Address of the database.
    pub store: String,
    /// Workers, each with one GPU.
    pub workers: u32,
    /// Workers of a node, at most the GPUs it has; Slurm only.
    pub per_node: u32,
    /// Time of the job, as Slurm reads it: `8:00:00`.
    pub time: Option<String>,
    /// Partition of Slurm.
    pub partition: Option<String>,
    /// Image with `rockhound` and what the configurations need; Kubernetes only.
    pub image: Option<String>,
    /// The command, and arguments of all workers beside the store and the study.
    pub command: Vec<String>,
}

impl Cluster {
    /// The words of a worker but the address of the store.
    fn words(&self) -> Vec<&str> {
        let command = self.command.iter().map(String::as_str);
        command.chain(["tune", "--worker", "--study", &self.study]).collect()
    }

    /// A batch script: one task for each worker, each with one GPU, put back in the queue when its node fails or is taken.
    ///
    /// # Errors
    /// If a number is 0, or a value cannot be in a directive of Slurm.
    pub fn slurm(&self) -> Result<String> {
        if self.workers == 0 || self.per_node == 0 {
            bail!("a cluster has at least one worker, and one of a node");
        }
        let nodes = self.workers.div_ceil(self.per_node);
        // Evenly: a node whose GPUs wait for nobody could work for others.
        let per_node = self.workers.div_ceil(nodes);
        let name = job_name(&self.study);
        let mut text = String::from("#!/bin/sh\n");
        let mut directive = |what: &str, value: &str| -> Result<()> {
            if value.chars().any(|it| it.is_whitespace() || it.is_control() || "\"'\\#".contains(it)) {
                bail!("`{value}` cannot be a value of `#SBATCH --{what}`");
            }
            let _ = writeln!(text, "#SBATCH --{what}={value}");
            Ok(())
        };
        directive("job-name", &name)?;
        directive("ntasks", &self.workers.to_string())?;
        directive("nodes", &nodes.to_string())?;
        directive("ntasks-per-node", &per_node.to_string())?;
        // All workers of a node see its GPUs, and each pins itself to one: sites bind GPUs of tasks in different ways.
        directive("gres", &format!("gpu:{per_node}"))?;
        for (what, value) in [("time", &self.time), ("partition", &self.partition)] {
            if let Some(value) = value {
                directive(what, value)?;
            }
        }
        directive("signal", &format!("TERM@{NOTICE_S}"))?;
        directive("open-mode", "append")?;
        directive("output", &format!("{name}-%j.log"))?;
        text.push_str("#SBATCH --requeue\n");
        text.push_str(
            "# A worker that is told to end, or whose node is taken, gives its task back; the journal is in the database, so\n\
             # this script can be submitted again, several times at once, and cancelled at any moment.\n\
             # The address may be given in the environment instead of here, where a password must not be seen.\n",
        );
        let _ = writeln!(text, ": \"${{ROCKHOUND_STORE:={}}}\"", in_default(&self.store)?);
        text.push_str("export ROCKHOUND_STORE\n");
        let words = self.words();
        let quoted: Vec<_> = words.iter().map(|it| shell_word(it)).collect();
        text.push_str("# One worker ends without the others; each takes the GPU of its number on the node (SLURM_LOCALID).\n");
        let _ = writeln!(text, "exec srun --kill-on-bad-exit=0 --wait=0 --label {}", quoted.join(" "));
        Ok(text)
    }

    /// A Job of Kubernetes: one pod for each worker, each with one GPU; the address comes from a secret.
    ///
    /// # Errors
    /// Without an image, or with no worker.
    pub fn kubernetes(&self) -> Result<String> {
        let Some(image) = self.image.as_deref().filter(|it| !it.is_empty()) else {
            bail!(
                "a Job needs an image with `rockhound` and what the configurations need\nhint: `--image NAME`"
            );
        };
        if self.workers == 0 {
            bail!("a cluster has at least one worker");
        }
        let name = job_name(&self.study);
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        // `$(NAME)` in a command is a variable of the pod.
        let words: Vec<String> =
            self.words().into_iter().map(|it| quoted(&it.replace("$(", "$$("))).collect();
        let workers = self.workers;
        // Every failed pod is replaced: a task that kills its workers ends by itself.
        let failures = workers.saturating_mul(10);
        Ok(format!(
            "# kubectl create secret generic {name} --from-literal=store='postgres://USER:PASSWORD@HOST/DATABASE'\n\
             # kubectl apply -f THIS_FILE; kubectl delete -f THIS_FILE ends the workers, which give their tasks back.\n\
             apiVersion: batch/v1\n\
             kind: Job\n\
             metadata:\n\
             \x20 name: {name}\n\
             spec:\n\
             \x20 completionMode: Indexed\n\
             \x20 completions: {workers}\n\
             \x20 parallelism: {workers}\n\
             \x20 backoffLimit: {failures}\n\
             \x20 podFailurePolicy:\n\
             \x20   rules:\n\
             \x20   # Pods of drained and preempted nodes come back and count as no failure.\n\
             \x20   - action: Ignore\n\
             \x20     onPodConditions:\n\
             \x20     - type: DisruptionTarget\n\
             \x20 template:\n\
             \x20   metadata:\n\
             \x20     labels:\n\
             \x20       app: rockhound-tune\n\
             \x20   spec:\n\
             \x20     restartPolicy: Never\n\
             \x20     terminationGracePeriodSeconds: {NOTICE_S}\n\
             \x20     containers:\n\
             \x20     - name: worker\n\
             \x20       image: {image}\n\
             \x20       command: [{words}]\n\
             \x20       env:\n\
             \x20       - name: ROCKHOUND_STORE\n\
             \x20         valueFrom:\n\
             \x20           secretKeyRef:\n\
             \x20             name: {name}\n\
             \x20             key: store\n\
             \x20       resources:\n\
             \x20         limits:\n\
             \x20           amd.com/gpu: 1\n",
            image = quoted(image),
            words = words.join(", "),
        ))
    }
}

/// A name of letters, digits and hyphens, of at most 50 characters, as clusters want it.
fn job_name(study: &str) -> String {
    let mut name = String::from("rockhound-tune-");
    for c in study.to_ascii_lowercase().chars().take(35) {
        match c {
            'a'..='z' | '0'..='9' => name.push(c),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.trim_end_matches('-').to_owned()
}

/// A text as the default in `"${NAME:=…}"`.
fn in_default(text: &str) -> Result<String> {
    if text.chars().any(char::is_control) {
        bail!("the address of the store has a line break or another control character");
    }
    let mut quoted = String::new();
    for c in text.chars() {
        if "\\\"$`}".contains(c) {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use std::process::Command;

    fn cluster() -> Cluster {
        Cluster {
            study: "gemm MI300X".into(),
            store: "postgres://tuner@db.site/tuning".into(),
            workers: 12,
            per_node: 8,
            time: Some("8:00:00".into()),
            partition: Some("mi300x".into()),
            image: Some("registry.site/rockhound:0.1".into()),
            command: vec!["rockhound".into()],
        }
    }

    fn golden(name: &str, text: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tune/golden").join(name);
        testkit::golden_file(path, text);
    }

    #[test]
    fn files_are_as_looked_at() {
        golden("slurm.sh", &cluster().slurm().unwrap());
        golden("kubernetes.yaml", &cluster().kubernetes().unwrap());
    }

    #[test]
    fn shells_get_the_words_as_they_are() {
        let hostile = "a'b \"c\" $(touch /tmp/x) `y` \\ }{ é";
        let all = Cluster {
            study: hostile.into(),
            store: format!("/data/{hostile}.db"),
            command: vec!["my rockhound".into(), hostile.into()],
            ..cluster()
        };
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("job.sh");
        // A stand-in for `srun` prints what it gets.
        std::fs::write(folder.path().join("srun"), "#!/bin/sh\nprintf '%s\\n' \"$ROCKHOUND_STORE\" \"$@\"\n")
            .unwrap();
        assert!(Command::new("chmod").arg("+x").arg(folder.path().join("srun")).status().unwrap().success());
        std::fs::write(&script, all.slurm().unwrap()).unwrap();
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let run =
            Command::new("sh").arg(&script).env("PATH", path).env_remove("ROCKHOUND_STORE").output().unwrap();
        let text = String::from_utf8(run.stdout).unwrap();
        let store = format!("/data/{hostile}.db");
        let expected = [
            &*store,
            "--kill-on-bad-exit=0",
            "--wait=0",
            "--label",
            "my rockhound",
            hostile,
            "tune",
            "--worker",
            "--study",
            hostile,
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        let yaml = all.kubernetes().unwrap();
        assert!(yaml.contains(r#"a'b \"c\" $$(touch /tmp/x) `y` \\ }{ é"#), "{yaml}");
    }

    #[test]
    fn values_that_cannot_be_are_refused() {
        for (all, expected) in [
            (Cluster { workers: 0, ..cluster() }, "at least one worker"),
            (
                Cluster { partition: Some("a\n#SBATCH --uid=0".into()), ..cluster() },
                "cannot be a value of `#SBATCH --partition`",
            ),
            (Cluster { store: "a\nb".into(), ..cluster() }, "control character"),
        ] {
            assert!(all.slurm().unwrap_err().to_string().contains(expected), "{expected}");
        }
        let without = Cluster { image: None, ..cluster() };
        assert!(without.kubernetes().unwrap_err().to_string().contains("hint: `--image NAME`"));
    }

    #[test]
    fn names_are_as_clusters_want_them() {
        for (study, expected) in [
            ("gemm MI300X", "rockhound-tune-gemm-mi300x"),
            ("Ü/../x--y_", "rockhound-tune-x-y"),
            ("", "rockhound-tune"),
        ] {
            assert_eq!(job_name(study), expected);
        }
    }
}

//! A Slurm of a test: two nodes of eight GPUs, both this machine.

use crate::{Scratch, absent, needs, postgres::is_root};
use std::fmt::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running cluster, stopped when dropped.
#[derive(Debug)]
pub struct Slurm {
    folder: Scratch,
    daemons: Vec<Child>,
}

impl Slurm {
    /// Starts a cluster. `None`, reported as [`absent`], without Slurm or without root, which its daemons need.
    ///
    /// # Panics
    /// Where it does not start, or is missing under `CI=true`.
    pub fn start() -> Option<Slurm> {
        if !needs(&["/usr/sbin/slurmctld", "/usr/sbin/slurmd", "srun", "sbatch", "scontrol"]) {
            return None;
        }
        if !is_root() {
            absent("root, for the daemons of Slurm", "`sudo`");
            return None;
        }
        let folder = Scratch::new("slurm");
        for name in ["state", "spool"] {
            std::fs::create_dir(folder.path(name)).expect("a folder of Slurm");
        }
        folder.write("slurm.conf", configuration(&folder).as_bytes());
        (0..8).for_each(|gpu| drop(folder.write(&format!("gpu{gpu}"), b"")));
        let gpus = format!("NodeName=node[1-2] Name=gpu File={}[0-7]\n", folder.path("gpu").display());
        folder.write("gres.conf", gpus.as_bytes());
        let mut slurm = Slurm { folder, daemons: Vec::new() };
        slurm.daemon("slurmctld", &["-i"]);
        slurm.daemon("slurmd", &["-N", "node1"]);
        slurm.daemon("slurmd", &["-N", "node2"]);
        let begun = Instant::now();
        while slurm.tool("sinfo", &["-h", "-N", "-o", "%T"]).as_deref() != Some("idle\nidle") {
            assert!(begun.elapsed() < Duration::from_secs(30), "Slurm does not start");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(slurm)
    }

    fn configuration(&self) -> PathBuf {
        self.folder.path("slurm.conf")
    }

    /// Folder of the logs of jobs.
    pub fn folder(&self) -> PathBuf {
        self.folder.path("")
    }

    fn daemon(&mut self, name: &str, arguments: &[&str]) {
        let mut daemon = Command::new(Path::new("/usr/sbin").join(name));
        daemon
            .args(["-D", "-f"])
            .arg(self.configuration())
            .args(arguments)
            .env("SLURM_CONF", self.configuration());
        daemon.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push(daemon.spawn().expect("a daemon of Slurm"));
    }

    /// Runs a tool of Slurm and returns its output without white space around it; `None` if it fails.
    pub fn tool(&self, name: &str, arguments: &[&str]) -> Option<String> {
        let mut tool = Command::new(name);
        tool.args(arguments).env("SLURM_CONF", self.configuration()).current_dir(self.folder());
        let output = tool.stdin(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Submits a batch script with variables in its environment; returns the number of the job.
    ///
    /// # Panics
    /// Where Slurm refuses it.
    pub fn submit(&self, script: &str, variables: &[(&str, &str)]) -> String {
        let file = self.folder.write("job.sh", script.as_bytes());
        let mut submit = Command::new("sbatch");
        submit.arg("--parsable").arg(file).envs(variables.iter().copied());
        submit.env("SLURM_CONF", self.configuration()).current_dir(self.folder());
        let output = submit.output().expect("sbatch");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        let _ = self.tool("scancel", &["--user=root"]);
        // Steps outlive the daemons and wait for them, so all jobs end first.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(15)
            && self.tool("squeue", &["-h"]).is_some_and(|it| !it.is_empty())
        {
            std::thread::sleep(Duration::from_millis(50));
        }
        for daemon in &mut self.daemons {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn configuration(folder: &Scratch) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim().split('.').next().unwrap_or_default().to_owned();
    let place = folder.path("").display().to_string();
    let place = place.trim_end_matches('/');
    // Ports that are free now: all three are held until all are known.
    let ports: Vec<TcpListener> =
        (0..3).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    let port = |at: usize| ports[at].local_addr().expect("a bound port").port();
    let mut text = format!(
        "ClusterName=rockhound\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nAuthType=auth/none\nCredType=cred/none\n\
         SlurmUser=root\nSlurmdUser=root\nStateSaveLocation={place}/state\nSlurmdSpoolDir={place}/spool/%n\n\
         SlurmctldPidFile={place}/ctld.pid\nSlurmdPidFile={place}/%n.pid\nSlurmctldLogFile={place}/ctld.log\n\
         SlurmdLogFile={place}/%n.log\nProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSwitchType=switch/none\n\
         MpiDefault=none\nJobAcctGatherType=jobacct_gather/none\nSelectType=select/cons_tres\n\
         SelectTypeParameters=CR_Core\nReturnToService=2\nSlurmdParameters=config_overrides\nGresTypes=gpu\nKillWait=5\n\
         SchedulerParameters=batch_sched_delay=0,sched_min_interval=0\n",
        port(0)
    );
    for node in 1..=2 {
        let _ = writeln!(
            text,
            "NodeName=node{node} NodeHostname={host} NodeAddr=127.0.0.1 Port={} CPUs=8 RealMemory=1000 Gres=gpu:8",
            port(node)
        );
    }
    text.push_str("PartitionName=main Nodes=node1,node2 Default=YES MaxTime=INFINITE State=UP\n");
    text
}

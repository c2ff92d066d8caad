//! A PostgreSQL of the test: a cluster in a scratch folder, reached by a socket there.

use crate::contract::study_of;
use crate::engines::{Database, study, worker};
use rockhound_store::{Finish, StoreError, open};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A running server, stopped when dropped.
pub(crate) struct Server {
    programs: PathBuf,
    folder: PathBuf,
}

impl Server {
    /// `None`, reported as absent, without PostgreSQL.
    pub(crate) fn start(folder: &Path) -> Option<Server> {
        let Some(programs) = programs() else {
            testkit::absent("PostgreSQL", "`apt-get install postgresql`");
            return None;
        };
        std::fs::create_dir_all(folder).unwrap();
        let server = Server { programs, folder: folder.to_owned() };
        if is_root() {
            assert!(Command::new("chown").args(["-R", "postgres"]).arg(folder).status().unwrap().success());
        }
        let data = server.data();
        server.run("initdb", &["-D", &data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8"]);
        server.up();
        Some(server)
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    pub(crate) fn address(&self) -> String {
        let host = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{host}/postgres")
    }

    /// Starts it and waits until it answers.
    pub(crate) fn up(&self) {
        let options =
            format!("-c listen_addresses='' -c unix_socket_directories='{}'", self.folder.display());
        let log = self.folder.join("log").display().to_string();
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-t", "120", "-l", &log, "-o", &options, "start"]);
    }

    /// Stops it: `fast` ends its connections, `immediate` is a crash.
    pub(crate) fn down(&self, mode: &str) {
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-m", mode, "stop"]);
    }

    /// Runs SQL and returns its rows.
    pub(crate) fn sql(&self, text: &str) -> String {
        let host = self.folder.display().to_string();
        self.run(
            "psql",
            &["-h", &host, "-U", "postgres", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", "-c", text],
        )
    }

    /// The server runs as any user but root.
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let path = self.programs.join(program);
        let mut command = if is_root() { Command::new("setpriv") } else { Command::new(&path) };
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(&path);
        }
        let output = command.args(arguments).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
        // A server keeps the pipes of the program that started it.
        let output = match program {
            "pg_ctl" => output.stdout(Stdio::null()).status().map(|it| (it, Vec::new())),
            _ => output.output().map(|it| (it.status, it.stdout)),
        };
        let (status, text) = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(status.success(), "{command:?}: {status}");
        String::from_utf8(text).unwrap().trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let pid = std::fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
        if let Some(pid) = pid.lines().next() {
            let _ = Command::new("kill").args(["-QUIT", pid]).status();
        }
    }
}

fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|it| it.path().join("bin")).chain([PathBuf::from("/usr/bin")]);
    folders.into_iter().find(|it| it.join("initdb").is_file())
}

fn is_root() -> bool {
    testkit::run("id", &["-u"]).trim() == "0"
}

#[test]
fn a_server_that_restarts_or_crashes_loses_nothing() {
    let Some(database) = Database::postgres() else { return };
    let id = study_of(&mut *database.open(), "restart", 300);
    let kept: usize = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|at| {
                let address = &database.address;
                scope.spawn(move || {
                    let mut journal = open(address).unwrap();
                    let mut kept = 0;
                    while let Some(claim) = journal.claim(id, &worker(&format!("w{at}")), LEASE).unwrap() {
                        std::thread::sleep(Duration::from_millis(10));
                        assert!(journal.heartbeat(&claim).unwrap());
                        kept += usize::from(journal.finish(&claim, "r").unwrap() == Finish::Kept);
                    }
                    kept
                })
            })
            .collect();
        let server = database.server.as_ref().unwrap();
        for mode in ["fast", "immediate"] {
            std::thread::sleep(Duration::from_millis(100));
            server.down(mode);
            server.up();
        }
        workers.into_iter().map(|it| it.join().unwrap()).sum()
    });
    let results = database.open().results(id, 0).unwrap();
    assert_eq!((kept, results.len()), (300, 300));
    assert_eq!(results.iter().map(|it| it.sequence).collect::<BTreeSet<_>>().len(), 300);
    // A claim whose answer was lost is found again: no lease had to expire, and at most one task of a worker and restart
    // was given back.
    assert!(results.iter().all(|it| it.result.is_ok()));
    let again: u32 = results.iter().map(|it| it.attempt - 1).sum();
    assert!(again <= 8, "{again}");
}

const LEASE: Duration = Duration::from_secs(600);

#[test]
fn servers_that_refuse_are_named() {
    let Some(database) = Database::postgres() else { return };
    let server = database.server.as_ref().unwrap();
    drop(database.open());
    server.sql(
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA rockhound TO reader;
         GRANT SELECT ON ALL TABLES IN SCHEMA rockhound TO reader; CREATE ROLE nobody_here",
    );
    let address = |user: &str, name: &str| {
        let host = database.address.split_once('@').unwrap().1.trim_end_matches("/postgres");
        format!("postgres://{user}@{host}/{name}")
    };
    let refusal = |address: &str| open(address).err().map(|it| it.to_string()).unwrap_or_default();
    for (address, expected) in [
        (address("postgres", "absent"), "database \"absent\" does not exist"),
        (address("absent", "postgres"), "role \"absent\" does not exist"),
        (format!("{}?sslmode=require", database.address), "connections are not encrypted"),
        (
            "postgres://u@%2Fno%2Fsuch%2Ffolder/d".to_owned(),
            "cannot reach `postgres://u@%2Fno%2Fsuch%2Ffolder/d`",
        ),
    ] {
        let error = refusal(&address);
        assert!(error.contains(expected), "{address}: {error}");
    }
    // A role that only reads can look, and is told when it writes.
    let mut reader = open(&address("reader", "postgres")).unwrap();
    assert_eq!(reader.studies().unwrap(), []);
    let error = reader.begin(&study("s")).unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
}

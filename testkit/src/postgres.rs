//! A PostgreSQL of a test: a cluster in a scratch folder, reached by a socket there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A running server, stopped when dropped.
#[derive(Debug)]
pub struct Server {
    programs: PathBuf,
    folder: PathBuf,
}

impl Server {
    /// Starts a server with an empty database in a folder, which it makes. `None`, reported as [`crate::absent`],
    /// without PostgreSQL.
    ///
    /// # Panics
    /// Where it does not start, or is missing under `CI=true`.
    pub fn start(folder: &Path) -> Option<Server> {
        let Some(programs) = programs() else {
            crate::absent("PostgreSQL", "`apt-get install postgresql`");
            return None;
        };
        std::fs::create_dir_all(folder).expect("a folder for a server");
        let server = Server { programs, folder: folder.to_owned() };
        if is_root() {
            crate::run("chown", &["-R", "postgres", &folder.display().to_string()]);
        }
        let data = server.data();
        server.run("initdb", &["-D", &data, "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8"]);
        server.up();
        Some(server)
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    /// Address of its database.
    pub fn address(&self) -> String {
        let host = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{host}/postgres")
    }

    /// Starts it again and waits until it answers.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn up(&self) {
        let options =
            format!("-c listen_addresses='' -c unix_socket_directories='{}'", self.folder.display());
        let log = self.folder.join("log").display().to_string();
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-t", "120", "-l", &log, "-o", &options, "start"]);
    }

    /// Stops it: `fast` ends its connections, `immediate` is a crash.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn down(&self, mode: &str) {
        self.run("pg_ctl", &["-D", &self.data(), "-w", "-m", mode, "stop"]);
    }

    /// Runs SQL and returns its rows.
    ///
    /// # Panics
    /// Where the statement fails.
    pub fn sql(&self, text: &str) -> String {
        self.sql_of("postgres", text)
    }

    /// The same in another database.
    ///
    /// # Panics
    /// Where the statement fails.
    pub fn sql_of(&self, database: &str, text: &str) -> String {
        let host = self.folder.display().to_string();
        let fixed = ["-U", "postgres", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1"];
        self.run("psql", &[&["-h", &host, "-d", database], &fixed[..], &["-c", text]].concat())
    }

    /// Dumps a schema of the database, and restores it in another one.
    ///
    /// # Panics
    /// Where a step fails.
    pub fn restore(&self, schema: &str, into: &str) {
        let (host, file) = (self.folder.display().to_string(), self.folder.join("dump"));
        let file = file.display().to_string();
        self.run("pg_dump", &["-h", &host, "-U", "postgres", "-Fc", "-n", schema, "-f", &file, "postgres"]);
        self.run("pg_restore", &["-h", &host, "-U", "postgres", "--exit-on-error", "-d", into, &file]);
    }

    /// The server runs as any user but root.
    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let path = self.programs.join(program);
        let mut command = if is_root() { Command::new("setpriv") } else { Command::new(&path) };
        if is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(&path);
        }
        let command = command.args(arguments).current_dir("/").stdin(Stdio::null()).stderr(Stdio::null());
        // A server keeps the pipes of the program that started it.
        let output = match program {
            "pg_ctl" => command.stdout(Stdio::null()).status().map(|it| (it, Vec::new())),
            _ => command.output().map(|it| (it.status, it.stdout)),
        };
        let (status, text) = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(status.success(), "{command:?}: {status}");
        String::from_utf8_lossy(&text).trim().to_owned()
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

/// Folder of the newest installed version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|it| it.path().join("bin")).chain([PathBuf::from("/usr/bin")]);
    folders.filter(|it| it.join("initdb").is_file()).max()
}

pub(crate) fn is_root() -> bool {
    crate::run("id", &["-u"]).trim() == "0"
}

//! Databases of tests.

use rockhound_store::{Journal, Population, Study, Worker, open};
use testkit::Scratch;

/// A database that is removed at the end.
pub(crate) struct Database {
    pub(crate) address: String,
    #[cfg(feature = "postgres")]
    pub(crate) server: Option<crate::server::Server>,
    _folder: Scratch,
}

impl Database {
    pub(crate) fn sqlite() -> Database {
        let folder = Scratch::new("store");
        let address = folder.path("tune.db").display().to_string();
        Database {
            address,
            #[cfg(feature = "postgres")]
            server: None,
            _folder: folder,
        }
    }

    /// `None` without PostgreSQL.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres() -> Option<Database> {
        let folder = Scratch::new("store");
        let server = crate::server::Server::start(&folder.path("server"))?;
        Some(Database { address: server.address(), server: Some(server), _folder: folder })
    }

    /// One of each engine that is there.
    pub(crate) fn all() -> Vec<Database> {
        #[cfg_attr(not(feature = "postgres"), allow(unused_mut))]
        let mut all = vec![Database::sqlite()];
        #[cfg(feature = "postgres")]
        all.extend(Database::postgres());
        all
    }

    /// Runs a statement of somebody else; `{s}` is the schema before the name of a table.
    pub(crate) fn sql(&self, text: &str) {
        #[cfg(feature = "postgres")]
        if let Some(server) = &self.server {
            server.sql(&text.replace("{s}", "rockhound."));
            return;
        }
        let connection = rusqlite::Connection::open(&self.address).unwrap();
        connection.execute_batch(&text.replace("{s}", "")).unwrap();
    }

    pub(crate) fn open(&self) -> Box<dyn Journal> {
        open(&self.address).unwrap()
    }
}

pub(crate) fn study(name: &str) -> Study {
    Study {
        name: name.to_owned(),
        fingerprint: "f1".to_owned(),
        settings: r#"{"seed": 1}"#.to_owned(),
        population: Population::First,
    }
}

pub(crate) fn worker(name: &str) -> Worker {
    Worker { name: name.to_owned(), population: "MI300X".to_owned() }
}

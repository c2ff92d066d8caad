//! Files that make Grafana read the dashboards: data source, provider, and a compose file.

use super::{DashboardFile, Engine, SOURCE};
use serde_json::json;

/// The database as Grafana reaches it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataSource {
    /// The PostgreSQL that the compose file starts.
    Composed,
    /// A PostgreSQL that runs already.
    Postgres {
        /// `host:port`.
        host: String,
        /// Name of the database.
        database: String,
        /// Role; one that only reads suffices.
        user: String,
    },
    /// A file.
    Sqlite {
        /// Absolute path on this machine.
        path: String,
    },
}

impl DataSource {
    /// The engine.
    pub const fn engine(&self) -> Engine {
        match self {
            DataSource::Composed | DataSource::Postgres { .. } => Engine::Postgres,
            DataSource::Sqlite { .. } => Engine::Sqlite,
        }
    }
}

/// Everything that Grafana needs beside the dashboards. YAML readers take JSON strings, so paths are quoted as such.
pub fn provisioning(source: &DataSource) -> Vec<DashboardFile> {
    let file = |path: &str, text: String| DashboardFile { path: path.to_owned(), text };
    let mut files = vec![
        file("provisioning/datasources/rockhound.yaml", data_source(source)),
        file("provisioning/dashboards/rockhound.yaml", PROVIDER.to_owned()),
        file("compose.yaml", compose(source)),
    ];
    if *source == DataSource::Composed {
        files.push(file("reader.sql", READER.to_owned()));
    }
    files
}

const PROVIDER: &str = "apiVersion: 1
providers:
  - name: rockhound
    folder: Rockhound
    type: file
    options:
      path: /etc/rockhound/dashboards
";

/// A role that only reads. Tables are made by the first `rockhound store add`, so the role reads what later comes too.
const READER: &str = r#"\set ON_ERROR_STOP on
\getenv password READER_PASSWORD
CREATE SCHEMA IF NOT EXISTS rockhound;
CREATE ROLE reader LOGIN PASSWORD :'password';
GRANT USAGE ON SCHEMA rockhound TO reader;
GRANT SELECT ON ALL TABLES IN SCHEMA rockhound TO reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA rockhound GRANT SELECT ON TABLES TO reader;
"#;

fn quoted(text: &str) -> String {
    json!(text).to_string()
}

fn data_source(source: &DataSource) -> String {
    let begin = format!(
        "apiVersion: 1
datasources:
  - name: Rockhound
    uid: {SOURCE}
    type: {}
    access: proxy
    isDefault: true
    editable: false
",
        source.engine().source_type()
    );
    // Grafana replaces `$NAME` with variables of its environment, so a dollar in a value is doubled.
    let plain = |text: &str| quoted(&text.replace('$', "$$"));
    let postgres = |host: &str, user: &str, database: &str| {
        format!(
            "    url: {}
    user: {}
    secureJsonData:
      password: $ROCKHOUND_READER_PASSWORD
    jsonData:
      database: {}
      sslmode: disable
      postgresVersion: 1500
",
            plain(host),
            plain(user),
            plain(database)
        )
    };
    begin
        + &match source {
            DataSource::Composed => postgres("postgres:5432", "reader", "rockhound"),
            DataSource::Postgres { host, database, user } => postgres(host, user, database),
            DataSource::Sqlite { path } => format!(
                "    jsonData:
      path: {}
      pathOptions: mode=ro
",
                plain(&format!("/var/lib/rockhound/{}", folder_and_name(path).1))
            ),
        }
}

fn compose(source: &DataSource) -> String {
    let mut text = "# docker compose up -d; Grafana answers at http://127.0.0.1:3000. Passwords are variables: put them into a file `.env`.
services:
  grafana:
    image: grafana/grafana:12.2.0
    ports: [\"127.0.0.1:3000:3000\"]
    environment:
      GF_SECURITY_ADMIN_PASSWORD: ${GRAFANA_ADMIN_PASSWORD:?set it in .env}
"
    .to_owned();
    match source {
        DataSource::Sqlite { .. } => {
            text += "      GF_PLUGINS_PREINSTALL: frser-sqlite-datasource\n";
        }
        _ => text += "      ROCKHOUND_READER_PASSWORD: ${ROCKHOUND_READER_PASSWORD:?set it in .env}\n",
    }
    text += "    volumes:
      - ./provisioning:/etc/grafana/provisioning:ro
      - ./dashboards:/etc/rockhound/dashboards:ro
";
    match source {
        DataSource::Sqlite { path } => {
            // A write-ahead log is a second file beside the first: the folder is mounted.
            let folder = folder_and_name(path).0.replace('$', "$$");
            let folder = quoted(&folder);
            text += &format!(
                "      - {{ type: bind, source: {folder}, target: /var/lib/rockhound }}
"
            );
        }
        DataSource::Composed => {
            text += "    depends_on: [postgres]
  postgres:
    image: postgres:17
    ports: [\"127.0.0.1:5432:5432\"]
    environment:
      POSTGRES_DB: rockhound
      POSTGRES_USER: rockhound
      POSTGRES_PASSWORD: ${POSTGRES_PASSWORD:?set it in .env}
      READER_PASSWORD: ${ROCKHOUND_READER_PASSWORD:?set it in .env}
    volumes:
      - postgres:/var/lib/postgresql/data
      - ./reader.sql:/docker-entrypoint-initdb.d/reader.sql:ro
volumes:
  postgres: {}
";
        }
        DataSource::Postgres { .. } => {}
    }
    text
}

/// Folder and name of an absolute path.
fn folder_and_name(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some(both) => both,
        None => (".", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_values() {
        let hostile = "/tmp/a\"b: $HOME\n/x'y.db";
        for source in [
            DataSource::Sqlite { path: hostile.to_owned() },
            DataSource::Postgres { host: hostile.into(), database: hostile.into(), user: hostile.into() },
        ] {
            for file in provisioning(&source) {
                assert!(!file.text.contains("a\"b") && !file.text.contains(" $HOME"), "{}", file.text);
            }
        }
    }
}

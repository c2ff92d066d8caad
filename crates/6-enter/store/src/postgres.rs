//! PostgreSQL.
//!
//! Statements are sent with the types of their parameters and without a name: one exchange each, and poolers that
//! change connections between transactions do no harm. A lost connection is made again with growing pauses, and the
//! statement or transaction is repeated.
//!
//! Connections are not encrypted: a socket, the loopback, a trusted network or a tunnel. Passwords are not sent in
//! clear text (SCRAM); an address with `sslmode=require` is refused.

use crate::address::Address;
use crate::engine::{Cell, Dialect, Engine, Row, Statements, Texts, Work};
use crate::error::StoreError;
use crate::schema;
use postgres::config::SslMode;
use postgres::error::SqlState;
use postgres::types::{ToSql, Type};
use postgres::{Client, Config, Error, GenericClient, NoTls, SimpleQueryMessage};
use std::time::{Duration, Instant};

/// How long a server may be away.
const PATIENCE: Duration = Duration::from_secs(600);
/// The same for the first connection: an address may be wrong.
const FIRST_PATIENCE: Duration = Duration::from_secs(5);
/// First and longest pause between two attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));
/// How long one attempt to connect may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Transactions that collide with others are repeated this often.
const MOST_COLLISIONS: u32 = 100;
/// One process changes the schema at a time. The number is any, and the same in all versions.
const LOCK: &str = "SELECT 1::bigint FROM pg_advisory_xact_lock(5940474291431272814)";

/// A server, connected while it is there.
pub(crate) struct Postgres {
    config: Config,
    place: String,
    client: Option<Client>,
    repeated: bool,
}

/// Why work on a connection did not end.
enum Fault {
    Server(Error),
    Ours(StoreError),
}

impl From<Error> for Fault {
    fn from(it: Error) -> Fault {
        Fault::Server(it)
    }
}

impl Postgres {
    /// Connects and makes the schema `rockhound`, without its tables.
    pub(crate) fn open(url: &str) -> Result<Postgres, StoreError> {
        let place = Address::Postgres(url.to_owned()).shown();
        let wrong = |why: String| StoreError::Address { address: place.clone(), why };
        let mut config: Config = url.parse().map_err(|error: Error| wrong(words(&error)))?;
        if config.get_ssl_mode() == SslMode::Require {
            let why =
                "connections are not encrypted: use a tunnel, and leave `sslmode=require` out".to_owned();
            return Err(wrong(why));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("rockhound");
        }
        let mut engine = Postgres { config, place, client: None, repeated: false };
        engine.connect(FIRST_PATIENCE)?;
        engine.make_schema()?;
        Ok(engine)
    }

    fn make_schema(&mut self) -> Result<(), StoreError> {
        let exists = "SELECT 1::bigint FROM pg_catalog.pg_tables WHERE schemaname = 'rockhound' AND tablename = 'rockhound_schema'";
        if !self.rows(exists, &[])?.is_empty() {
            return Ok(());
        }
        let versions = self.dialect().sql(schema::VERSIONS);
        self.transaction(&mut |statements| {
            statements.rows(LOCK, &[])?;
            // A role that may not create schemas can use an existing one.
            if statements
                .rows("SELECT 1::bigint FROM pg_catalog.pg_namespace WHERE nspname = 'rockhound'", &[])?
                .is_empty()
            {
                statements.rows("CREATE SCHEMA rockhound", &[])?;
            }
            statements.rows(&versions, &[]).map(|_| ())
        })
    }

    /// Connects if not connected; tries for some time.
    fn connect(&mut self, patience: Duration) -> Result<&mut Client, StoreError> {
        if self.client.as_ref().is_none_or(Client::is_closed) {
            let begun = Instant::now();
            let mut pause = PAUSES.0;
            let client = loop {
                match self.config.connect(NoTls) {
                    Ok(client) => break client,
                    Err(error) if is_away(&error) && begun.elapsed() < patience => {
                        std::thread::sleep(pause);
                        pause = (pause * 2).min(PAUSES.1);
                    }
                    Err(error) => return Err(failure(&self.place, &error)),
                }
            };
            self.client = Some(client);
        }
        let why = "not connected".to_owned();
        self.client.as_mut().ok_or_else(|| StoreError::Unreachable { place: self.place.clone(), why })
    }

    /// Does work on a connection; again where the connection was lost or the work collided with another's.
    fn repeat<T>(
        &mut self,
        work: &mut dyn FnMut(&mut Client, &str) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.repeated = false;
        let begun = Instant::now();
        let mut collisions = 0;
        loop {
            let place = self.place.clone();
            let client = self.connect(PATIENCE.saturating_sub(begun.elapsed()))?;
            let error = match work(client, &place) {
                Ok(it) => return Ok(it),
                Err(Fault::Ours(error)) => return Err(error),
                Err(Fault::Server(error)) => error,
            };
            let collides = error.code().is_some_and(|it| {
                [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(it)
            });
            if collides && collisions < MOST_COLLISIONS {
                collisions += 1;
                std::thread::sleep(PAUSES.0);
            } else if is_away(&error) && begun.elapsed() < PATIENCE {
                self.client = None;
                self.repeated = true;
                std::thread::sleep(PAUSES.0);
            } else {
                return Err(failure(&self.place, &error));
            }
        }
    }
}

impl Statements for Postgres {
    fn rows(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError> {
        self.repeat(&mut |client, place| rows(client, place, sql, cells))
    }
}

/// SQL of PostgreSQL.
pub(crate) const DIALECT: Dialect = Dialect {
    schema: "rockhound.",
    now: "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
    serial: "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    skip_locked: "FOR UPDATE OF task SKIP LOCKED",
    lock_schema: Some(LOCK),
    nests_changes: true,
    bytes: "BYTEA",
    numbers: "DOUBLE PRECISION[]",
    element: "run.numbers[m.position + 1]",
    element_of_series: "run.numbers[m.position + 1]",
    first_run: "(t.result::json -> 'runs_us' ->> 0)::double precision",
    each: ("unnest(run.times) WITH ORDINALITY AS e (value, number)", "e.number - 1"),
    inline_numbers: "ALTER TABLE rockhound.kernel_runs ALTER numbers SET STORAGE MAIN",
    // Servers without LZ4, and those before version 14, keep their own method.
    fast_numbers: "DO $$ DECLARE place text; BEGIN
                FOREACH place IN ARRAY ARRAY['kernel_runs', 'kernel_normals'] LOOP
                    EXECUTE 'ALTER TABLE rockhound.' || place || ' ALTER numbers SET COMPRESSION lz4';
                END LOOP;
                EXCEPTION WHEN feature_not_supported OR syntax_error OR invalid_parameter_value THEN NULL;
                END $$",
    most_parameters: 8000,
    blobs: Some((
        "SELECT 1::bigint FROM pg_advisory_xact_lock_shared(5940474291431272815)",
        "SELECT 1::bigint FROM pg_advisory_xact_lock(5940474291431272815)",
    )),
};

impl Engine for Postgres {
    fn dialect(&self) -> Dialect {
        DIALECT
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn repeated(&self) -> bool {
        self.repeated
    }

    fn query(&mut self, sql: &str, most: usize) -> Result<Texts, StoreError> {
        self.repeat(&mut |client, _| {
            let mut reading = client.build_transaction().read_only(true).start()?;
            reading.batch_execute("SET LOCAL search_path TO rockhound, pg_catalog, public")?;
            // A statement with parameters is a single one, so that a `COMMIT` cannot end the read-only transaction.
            reading.execute(&format!("DECLARE answer NO SCROLL CURSOR FOR {sql}"), &[]).map_err(queried)?;
            let count = if most == usize::MAX { "ALL".to_owned() } else { most.to_string() };
            let (mut names, mut all) = (Vec::new(), Vec::new());
            for message in reading.simple_query(&format!("FETCH {count} FROM answer")).map_err(queried)? {
                match message {
                    SimpleQueryMessage::RowDescription(columns) => {
                        names = columns.iter().map(|it| it.name().to_owned()).collect();
                    }
                    SimpleQueryMessage::Row(row) => {
                        all.push((0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect());
                    }
                    _ => {}
                }
            }
            Ok((names, all))
        })
    }

    fn vacuum(&mut self) -> Result<(), StoreError> {
        // `FULL` would lock the tables; without it the next recordings use the space.
        for table in ["blobs", "recording_files", "kernel_runs", "recordings"] {
            self.repeat(&mut |client, _| Ok(client.batch_execute(&format!("VACUUM rockhound.{table}"))?))?;
        }
        Ok(())
    }

    fn size(&mut self) -> Result<i64, StoreError> {
        let sizes = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'rockhound' AND c.relkind = 'r'";
        match self.rows(sizes, &[])?.first().and_then(|row| row.first()) {
            Some(Cell::Integer(it)) => Ok(*it),
            _ => Ok(0),
        }
    }

    fn transaction(&mut self, work: &mut Work<'_>) -> Result<(), StoreError> {
        self.repeat(&mut |client, place| {
            let transaction = client.transaction()?;
            let mut inside = Inside { transaction, place, fault: None };
            match work(&mut inside) {
                Ok(()) => Ok(inside.transaction.commit()?),
                Err(error) => Err(inside.fault.map_or(Fault::Ours(error), Fault::Server)),
            }
        })
    }
}

/// Statements of one transaction.
struct Inside<'a> {
    transaction: postgres::Transaction<'a>,
    place: &'a str,
    /// The server's error behind the one that was returned: the transaction may be repeated for it.
    fault: Option<Error>,
}

impl Statements for Inside<'_> {
    fn rows(&mut self, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, StoreError> {
        rows(&mut self.transaction, self.place, sql, cells).map_err(|fault| match fault {
            Fault::Ours(error) => error,
            Fault::Server(error) => {
                let ours = failure(self.place, &error);
                self.fault = Some(error);
                ours
            }
        })
    }
}

fn rows(client: &mut impl GenericClient, place: &str, sql: &str, cells: &[Cell]) -> Result<Vec<Row>, Fault> {
    let parameters: Vec<(&(dyn ToSql + Sync), Type)> = cells
        .iter()
        .map(|cell| match cell {
            Cell::Integer(it) => (it as &(dyn ToSql + Sync), Type::INT8),
            Cell::Real(it) => (it as &(dyn ToSql + Sync), Type::FLOAT8),
            Cell::Text(it) => (it as &(dyn ToSql + Sync), Type::TEXT),
            Cell::Bytes(it) => (it as &(dyn ToSql + Sync), Type::BYTEA),
            Cell::Numbers(it) => (it as &(dyn ToSql + Sync), Type::FLOAT8_ARRAY),
            // The server takes the type of the column.
            Cell::Null => (&None::<&str> as &(dyn ToSql + Sync), Type::UNKNOWN),
        })
        .collect();
    let found = client.query_typed(&sql.replace('?', "$"), &parameters)?;
    let row = |row: &postgres::Row| {
        let cell = |(at, column): (usize, &postgres::Column)| match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(at).map(|it| it.map_or(Cell::Null, Cell::Integer)),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(at).map(Cell::from),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(at).map(|it| it.map_or(Cell::Null, Cell::Bytes)),
            Type::FLOAT8_ARRAY => {
                row.try_get::<_, Option<Vec<Option<f64>>>>(at).map(|it| it.map_or(Cell::Null, Cell::Numbers))
            }
            _ => row.try_get::<_, Option<String>>(at).map(|it| it.map_or(Cell::Null, Cell::Text)),
        };
        row.columns().iter().enumerate().map(cell).collect::<Result<Row, Error>>()
    };
    let unreadable =
        |error: Error| Fault::Ours(StoreError::Engine { place: place.to_owned(), why: words(&error) });
    found.iter().map(row).collect::<Result<_, _>>().map_err(unreadable)
}

/// The fault of a user's query, in the server's words.
fn queried(error: Error) -> Fault {
    match error.as_db_error() {
        Some(it) if !is_away(&error) => Fault::Ours(StoreError::Query { why: it.message().to_owned() }),
        _ => Fault::Server(error),
    }
}

/// Whether the server is away, starts or stops, so that a later attempt may succeed.
fn is_away(error: &Error) -> bool {
    let states = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    match error.code() {
        Some(code) => states.contains(code) || code.code().starts_with("08"),
        None => {
            let mut source: Option<&dyn std::error::Error> = Some(error);
            let io = std::iter::from_fn(|| {
                let now = source?;
                source = now.source();
                Some(now)
            });
            error.is_closed() || io.into_iter().any(|it| it.is::<std::io::Error>())
        }
    }
}

fn failure(place: &str, error: &Error) -> StoreError {
    let (place, why) = (place.to_owned(), words(error));
    let Some(code) = error.code() else { return StoreError::Unreachable { place, why } };
    match code.code() {
        "53100" => StoreError::Full { place },
        "25006" => StoreError::ReadOnly { place, why: "the server or the role is read-only".to_owned() },
        "42501" => StoreError::ReadOnly { place, why },
        code if ["28", "3D", "08", "57", "53"].iter().any(|class| code.starts_with(class)) => {
            StoreError::Unreachable { place, why }
        }
        code => StoreError::Engine { place, why: format!("{why} (SQLSTATE {code})") },
    }
}

/// The server's words, or the reason behind an error of the connection.
fn words(error: &Error) -> String {
    if let Some(it) = error.as_db_error() {
        return it.message().to_owned();
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(it) = source {
        let more = it.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = it.source();
    }
    text
}

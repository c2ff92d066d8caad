//! `rockhound store grafana`.

use crate::args::StoreGrafana;
use crate::exit::{Outcome, usage};
use anyhow::{Context, Result, anyhow};
use host::store::{Address, Archive};
use study::dashboards::{DataSource, dashboards, provisioning};

/// Writes dashboards and provisioning into a new folder.
pub(super) fn run(args: &StoreGrafana) -> Result<Outcome> {
    let folder = &args.output;
    if folder.exists() {
        return Err(usage(
            format!("`{}` exists already", folder.display()),
            "name a folder that does not exist",
        ));
    }
    let source = match args.place.store.as_deref().filter(|it| !it.is_empty()) {
        None => DataSource::Composed,
        Some(address) => source(address)?,
    };
    let files = dashboards(source.engine()).into_iter().chain(provisioning(&source));
    let mut written = 0;
    for file in files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make `{}`", parent.display()))?;
        std::fs::write(&path, file.text).with_context(|| format!("cannot write `{}`", path.display()))?;
        written += 1;
    }
    eprintln!("wrote {} to {}", view::counted(written, "file"), folder.display());
    Ok(Outcome::Fine)
}

fn source(address: &str) -> Result<DataSource> {
    match Address::parse(address)? {
        Address::Sqlite(path) => {
            // Dashboards of a file that is not there would stay empty without a word.
            Archive::open_to_read(address)?;
            let path = std::path::absolute(&path)
                .with_context(|| format!("`{}` has no absolute path", path.display()))?;
            let path = path.to_str().ok_or_else(|| anyhow!("`{}`: its name is not UTF-8", path.display()))?;
            Ok(DataSource::Sqlite { path: path.to_owned() })
        }
        Address::Postgres(url) => postgres(&url).ok_or_else(|| {
            let shown = Address::Postgres(url).shown();
            anyhow!("`{shown}` does not say what Grafana needs\nhint: give `postgres://USER@HOST/DATABASE`")
        }),
    }
}

/// Host, database and user of an address. Its password is not written: Grafana takes it from its environment.
fn postgres(url: &str) -> Option<DataSource> {
    let rest = url.split_once("://")?.1;
    let (place, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = place.rsplit_once('/').unwrap_or((place, ""));
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let user = user.split_once(':').map_or(user, |(user, _)| user);
    let parameter = |name: &str| {
        let found = parameters.split('&').filter_map(|it| it.split_once('=')).find(|it| it.0 == name);
        found.map_or("", |it| it.1)
    };
    let or = |first: &str, name: &str| decoded(if first.is_empty() { parameter(name) } else { first });
    let (user, mut host, database) = (or(user, "user")?, or(host, "host")?, or(database, "dbname")?);
    if user.is_empty() || host.is_empty() {
        return None;
    }
    // Grafana takes the port of a host without one as 5432.
    let port = parameter("port");
    if !port.is_empty() && !host.starts_with('/') {
        host = format!("{host}:{port}");
    }
    let database = if database.is_empty() { user.clone() } else { database };
    Some(DataSource::Postgres { host, database, user })
}

/// Text with its percent-encoded bytes decoded.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = if *first == b'%' { after.get(..2) } else { None };
        if let Some(code) = code.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok()) {
            bytes.push(code);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_give_host_database_and_user() {
        for (url, expected) in [
            ("postgres://reader:secret@db:5433/rockhound", Some(("db:5433", "rockhound", "reader"))),
            ("postgres://reader@db", Some(("db", "reader", "reader"))),
            ("postgres://u@%2Frun%2Fpg/d", Some(("/run/pg", "d", "u"))),
            ("postgres:///d?host=db&user=u&port=6000", Some(("db:6000", "d", "u"))),
            ("postgres://db/d", None),
        ] {
            let found = postgres(url);
            let expected = expected.map(|(host, database, user)| DataSource::Postgres {
                host: host.to_owned(),
                database: database.to_owned(),
                user: user.to_owned(),
            });
            assert_eq!(found, expected, "{url}");
        }
    }
}

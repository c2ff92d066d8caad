//! Dashboards: the SQL of every panel runs on both engines, and its numbers equal `analyze`, `roofline` and `history`.

use crate::run::{command, folder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use testkit::Scratch;

/// A database with two recordings of a program.
struct Case {
    dir: PathBuf,
    address: String,
    _server: Option<testkit::postgres::Server>,
    _scratch: Scratch,
}

impl Case {
    fn all(name: &str) -> Vec<Case> {
        let sqlite = Case::of(&format!("{name}-sqlite"), |_| None);
        #[cfg(feature = "postgres")]
        let sqlite = sqlite.into_iter().chain(Case::of(&format!("{name}-postgres"), |scratch| {
            testkit::postgres::Server::start(&scratch.path("server"))
        }));
        sqlite.into_iter().collect()
    }

    /// `None` without recordings, or without PostgreSQL where one is asked for.
    fn of(name: &str, server: impl Fn(&Scratch) -> Option<testkit::postgres::Server>) -> Option<Case> {
        let workloads = testkit::shared("workloads")?;
        let dir = folder(name);
        let scratch = Scratch::new(name);
        let server = server(&scratch);
        if server.is_none() && name.ends_with("postgres") {
            return None;
        }
        let address =
            server.as_ref().map_or_else(|| dir.join("runs.db").display().to_string(), |it| it.address());
        let case = Case { dir, address, _server: server, _scratch: scratch };
        // The times of the last are rounded, so that it has none.
        for (name, commit) in
            [("mixbench/mi200", "a"), ("mixbench/mi200", "b"), ("vcopy/MI200", "b"), ("vcopy/MI300X_A1", "b")]
        {
            let (path, commit) = (workloads.join(name).display().to_string(), format!("commit={commit}"));
            case.good(&["store", "add", &path, "--no-provenance", "-l", &commit]);
        }
        Some(case)
    }

    fn good(&self, args: &[&str]) -> String {
        let output =
            command(args).current_dir(&self.dir).env("ROCKHOUND_STORE", &self.address).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.good(&[args, &["--format", "json"]].concat())).unwrap()
    }

    /// Columns and rows of a statement.
    fn rows(&self, sql: &str) -> (Vec<String>, Vec<Vec<Value>>) {
        let answer = self.json(&["store", "query", sql, "--top", "0"]);
        let table = &answer["tables"][0];
        let list = |it: &Value| it.as_array().cloned().unwrap_or_default();
        let titles = list(&table["columns"]);
        let titles = titles.iter().map(|it| it["title"].as_str().unwrap().to_owned()).collect();
        (titles, list(&table["rows"]).iter().map(|row| list(&row["cells"])).collect())
    }
}

/// A dashboard with values of its variables, as Grafana fills them in.
struct Dashboard {
    document: Value,
    values: BTreeMap<String, String>,
}

impl Dashboard {
    /// GPU and recording are chosen, and of everything else the first.
    fn open(case: &Case, dir: &Path, name: &str, (gpu, recording): (&str, &str)) -> Dashboard {
        let text = std::fs::read_to_string(dir.join(format!("dashboards/{name}.json"))).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let mut it = Dashboard { document, values: BTreeMap::new() };
        for variable in it.document["templating"]["list"].as_array().unwrap().clone() {
            let value = match variable["type"].as_str().unwrap() {
                _ if variable["name"] == "gpu" => gpu.to_owned(),
                _ if variable["name"] == "recording" => recording.to_owned(),
                "query" => {
                    let (titles, rows) = case.rows(&it.filled(variable["query"].as_str().unwrap()));
                    assert_eq!(titles, ["__text", "__value"]);
                    rows.first().map_or_else(String::new, |row| text_of(&row[1]))
                }
                _ => text_of(&variable["current"]["value"]),
            };
            it.values.insert(variable["name"].as_str().unwrap().to_owned(), value);
        }
        it
    }

    /// SQL with the variables as literals.
    fn filled(&self, sql: &str) -> String {
        self.values.iter().fold(sql.to_owned(), |sql, (name, value)| {
            sql.replace(&format!("${{{name}:sqlstring}}"), &format!("'{}'", value.replace('\'', "''")))
        })
    }

    /// Titles of the panels with their statements.
    fn panels(&self) -> Vec<(String, Vec<String>)> {
        let panels = self.document["panels"].as_array().unwrap().iter();
        let sql = |it: &Value| {
            self.filled(it.get("rawSql").or_else(|| it.get("queryText")).unwrap().as_str().unwrap())
        };
        let targets =
            |it: &Value| it["targets"].as_array().map_or_else(Vec::new, |all| all.iter().map(sql).collect());
        panels.map(|it| (it["title"].as_str().unwrap().to_owned(), targets(it))).collect()
    }

    fn panel(&self, case: &Case, title: &str) -> (Vec<String>, Vec<Vec<Value>>) {
        let panels = self.panels();
        let found = panels.iter().find(|it| it.0 == title).unwrap_or_else(|| panic!("no panel {title}"));
        case.rows(&found.1[0])
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string().trim_end_matches(".0").to_owned(), str::to_owned)
}

fn is_same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
        (a, b) => a == b,
    }
}

#[test]
fn every_panel_is_answered_and_has_the_numbers_of_analyze() {
    for case in Case::all("dashboards") {
        case.good(&["store", "changes"]);
        let folder = case.dir.join("grafana");
        case.good(&["store", "grafana", "-o", "grafana"]);
        for name in ["fleet", "workload", "comparison", "history", "tuning"] {
            let dashboard = Dashboard::open(&case, &folder, name, ("gfx90a", "1"));
            for (title, statements) in dashboard.panels() {
                for sql in statements {
                    let (_, rows) = case.rows(&sql);
                    let may_be_empty = name == "tuning"
                        || ["Findings", "Changes", "Counters", "Newest changes", "Roofline"]
                            .iter()
                            .any(|it| title.starts_with(it));
                    // Some tables have no value on every GPU and recording.
                    let is_table = title.starts_with(|it: char| it.is_ascii_digit());
                    assert!(may_be_empty || is_table || !rows.is_empty(), "{name}: {title}\n{sql}");
                }
            }
            for it in dashboard.document["annotations"]["list"].as_array().unwrap() {
                let target = &it["target"];
                let sql = target.get("rawSql").or_else(|| target.get("queryText")).unwrap();
                case.rows(&dashboard.filled(sql.as_str().unwrap()));
            }
        }
        let mut compared = 0;
        for chosen in [("gfx90a", "1"), ("gfx90a", "3"), ("gfx942", "4")] {
            let mut dashboard = Dashboard::open(&case, &folder, "workload", chosen);
            let units = ["per_kernel", "per_wave", "per_cycle", "per_second"];
            // The first has many kernels, so that `analyze` takes its time.
            for unit in &units[..if chosen.1 == "1" { 1 } else { 4 }] {
                dashboard.values.insert("normal_unit".to_owned(), (*unit).to_owned());
                compared += tables_are_those_of_analyze(&case, &dashboard, unit);
            }
            roofline_is_that_of_the_command(&case, &dashboard, chosen.1 == "1");
            kernels_are_those_of_show(&case, &dashboard);
        }
        assert!(compared > 2500, "{compared}");
        println!("{compared} values of {}", case.address);
    }
}

/// Compares each table of metrics of the chosen kernel; returns the number of values.
fn tables_are_those_of_analyze(case: &Case, dashboard: &Dashboard, unit: &str) -> usize {
    let address = format!("store:{}", dashboard.values["recording"]);
    let names = case.rows(&format!("SELECT name FROM kernels WHERE id = {}", dashboard.values["kernel"])).1;
    let kernel = format!("^{}$", regex_of(&text_of(&names[0][0])));
    let report = case.json(&["analyze", "-p", &address, "-k", &kernel, "--normal-unit", unit]);
    let panels = dashboard.panels();
    let mut compared = 0;
    for table in report["tables"].as_array().unwrap() {
        let id = table["id"].as_str().unwrap();
        let titles: Vec<&str> =
            table["columns"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect();
        let Some(avg) = titles.iter().position(|it| *it == "avg") else { continue };
        if table["rows"].as_array().is_none_or(|rows| rows.iter().any(|it| it["metric"].as_str().is_none())) {
            continue;
        }
        let title = match id {
            "2.1" => "Speed of light",
            "3.1" => "Memory chart",
            _ => panels
                .iter()
                .map(|it| it.0.as_str())
                .find(|it| it.starts_with(&format!("{id} ")))
                .unwrap_or_else(|| panic!("{id}")),
        };
        let (columns, rows) = dashboard.panel(case, title);
        for row in table["rows"].as_array().unwrap() {
            let cells = &row["cells"];
            let (name, value) = (row["label"].as_str().unwrap(), cells[avg].as_f64());
            let own: Option<Vec<Option<f64>>> = if id == "3.1" {
                let at = columns.iter().position(|it| it == name).unwrap();
                // The chart shows whole numbers.
                Some(vec![rows[0][at].as_f64().map(f64::round_ties_even)])
            } else {
                let own = rows.iter().find(|it| it[0] == name);
                own.map(|own| own.iter().skip(1).map(Value::as_f64).collect())
            };
            let shown = own.as_ref().and_then(|it| it[0]);
            assert!(is_same(shown, value), "{unit} {id} {name}: {shown:?} {value:?}");
            if let (Some(own), "2.1") = (&own, id) {
                for (title, at) in [("peak", 2), ("percent of peak", 3)] {
                    let place = titles.iter().position(|it| *it == title).unwrap();
                    assert!(is_same(own[at], cells[place].as_f64()), "{unit} {name} {title}");
                }
            }
            compared += usize::from(value.is_some());
        }
    }
    compared
}

fn regex_of(name: &str) -> String {
    let escaped = |it: char| if "\\.+*?()|[]{}^$".contains(it) { format!("\\{it}") } else { it.to_string() };
    name.chars().map(escaped).collect()
}

fn roofline_is_that_of_the_command(case: &Case, dashboard: &Dashboard, has_points: bool) {
    let address = format!("store:{}", dashboard.values["recording"]);
    let answer = case.json(&["roofline", &address]);
    let chart = &answer["workloads"][0]["roofline"];
    let panels = dashboard.panels();
    let statements = &panels.iter().find(|it| it.0.starts_with("Roofline")).unwrap().1;
    let mut compared = 0;
    for (pair, level) in statements.chunks(2).zip(["HBM", "L2", "vL1D", "LDS"]) {
        let (roof, points) = (case.rows(&pair[0]).1, case.rows(&pair[1]).1);
        if !has_points && roof.is_empty() {
            continue;
        }
        let bandwidth =
            chart["bandwidths"].as_array().unwrap().iter().find(|it| it["name"] == level).unwrap();
        let bytes = bandwidth["value"].as_f64().unwrap();
        assert!(is_same(roof[0][1].as_f64(), Some(0.01 * bytes)), "{level}");
        assert!(is_same(roof[1][0].as_f64(), roof[1][1].as_f64().map(|it| it / bytes)), "{level}");
        for kernel in chart["kernels"].as_array().unwrap() {
            let own = kernel["levels"].as_array().unwrap().iter().find(|it| it["level"] == level).unwrap();
            let (x, y) = (own["intensity"].as_f64(), kernel["rate"].as_f64());
            let Some(point) = points.iter().find(|it| it[2] == kernel["name"]) else {
                assert!(x.is_none_or(|it| it <= 0.0) || y.is_none_or(|it| it <= 0.0), "{level} {kernel}");
                continue;
            };
            assert!(is_same(point[0].as_f64(), x) && is_same(point[1].as_f64(), y), "{level} {point:?}");
            compared += 1;
        }
    }
    assert_eq!(compared > 0, has_points);
}

fn kernels_are_those_of_show(case: &Case, dashboard: &Dashboard) {
    let shown = case.json(&["store", "show", &dashboard.values["recording"]]);
    let (_, rows) = dashboard.panel(case, "Kernels");
    let expected = shown["tables"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), expected.len());
    for (own, it) in rows.iter().zip(expected) {
        assert_eq!(own[0], it["cells"][0]);
        assert!(is_same(own[4].as_f64().map(|ns| ns / 1000.0), it["cells"][3].as_f64()));
    }
}

#[test]
fn a_folder_that_exists_is_not_written_and_addresses_are_provisioned() {
    let dir = folder("grafana-places");
    let run = |args: &[&str]| {
        let output = command(args).current_dir(&dir).env_remove("ROCKHOUND_STORE").output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let read = |path: &str| std::fs::read_to_string(dir.join(path)).unwrap();
    assert_eq!(run(&["store", "grafana", "-o", "a"]).0, Some(0));
    assert!(
        read("a/compose.yaml").contains("image: postgres") && read("a/reader.sql").contains("GRANT SELECT")
    );
    let address = "postgres://me:secret@db:6000/runs";
    assert_eq!(run(&["store", "grafana", "-o", "b", "--store", address]).0, Some(0));
    let source = read("b/provisioning/datasources/rockhound.yaml");
    assert!(source.contains("db:6000") && !source.contains("secret"), "{source}");
    assert!(!dir.join("b/reader.sql").exists() && !read("b/compose.yaml").contains("image: postgres"));
    let (code, error) = run(&["store", "grafana", "-o", "c", "--store", "runs.db"]);
    assert!(code == Some(1) && error.contains("`runs.db`") && !dir.join("c").exists(), "{error}");
    std::fs::create_dir(dir.join("app")).unwrap();
    let csv = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n0,copy(float*),100,900\n";
    std::fs::write(dir.join("app/pmc_perf.csv"), csv).unwrap();
    assert_eq!(run(&["store", "add", "app", "--arch", "mi300x", "--store", "runs.db"]).0, Some(0));
    assert_eq!(run(&["store", "grafana", "-o", "c", "--store", "runs.db"]).0, Some(0));
    assert!(read("c/provisioning/datasources/rockhound.yaml").contains("/var/lib/rockhound/runs.db"));
    let (code, error) = run(&["store", "grafana", "-o", "c"]);
    assert!(code == Some(64) && error.contains("exists already"), "{error}");
    let (code, error) = run(&["store", "grafana", "-o", "d", "--store", "postgres:///runs"]);
    assert!(code == Some(1) && error.contains("hint:") && !dir.join("d").exists(), "{error}");
}

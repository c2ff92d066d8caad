//! Databases of other versions and with other layouts: complete parts are read, missing parts are named.

use rockhound_trace::Timeline;
use rusqlite::{Connection, MAIN_DB};
use view::NoteKind;

/// A rocpd database with two dispatches, a copy, a call, an allocation and a counter, each table as a
/// statement.
const TABLES: [(&str, &str); 14] = [
    ("rocpd_metadata", "(tag, value); INSERT INTO rocpd_metadata VALUES ('schema_version', '3')"),
    (
        "rocpd_info_agent",
        "(id, guid, type, name, product_name, extdata); INSERT INTO rocpd_info_agent VALUES (1, 'g', 'GPU', 'gfx942', 'MI300X', '{\"cu_count\": 304}')",
    ),
    (
        "rocpd_info_process",
        "(id, guid, command, environment); INSERT INTO rocpd_info_process VALUES (9, 'g', './app', '{\"HIP_VISIBLE_DEVICES\": \"0\", \"TOKEN\": \"x\"}')",
    ),
    (
        "rocpd_info_kernel_symbol",
        "(id, guid, display_name, kernel_name); INSERT INTO rocpd_info_kernel_symbol VALUES (4, 'g', 'copy<int>', 'copy.kd')",
    ),
    (
        "rocpd_event",
        "(id, guid, category_id, stack_id, extdata); INSERT INTO rocpd_event VALUES (1, 'g', 1, 7, '{}'), (2, 'g', 1, 8, '{}'), (3, 'g', 2, 7, '{}')",
    ),
    (
        "rocpd_string",
        "(id, guid, string); INSERT INTO rocpd_string VALUES (1, 'g', 'HIP_RUNTIME_API'), (2, 'g', 'hipLaunchKernel')",
    ),
    (
        "rocpd_kernel_dispatch",
        "(guid, start, \"end\", kernel_id, agent_id, queue_id, stream_id, event_id, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z); \
         INSERT INTO rocpd_kernel_dispatch VALUES ('g', 100, 150, 4, 1, 2, 0, 1, 64, 1, 1, 256, 1, 1), ('g', 200, 260, 4, 1, 2, 0, 2, 64, 1, 1, 256, 1, 1)",
    ),
    (
        "rocpd_memory_copy",
        "(guid, start, \"end\", name_id, dst_agent_id, src_agent_id, stream_id, event_id, size); INSERT INTO rocpd_memory_copy VALUES ('g', 10, 20, 2, 1, 0, 0, 1, 4096)",
    ),
    (
        "rocpd_region",
        "(guid, start, \"end\", name_id, pid, tid, event_id); INSERT INTO rocpd_region VALUES ('g', 90, 95, 2, 9, 9, 1)",
    ),
    ("rocpd_sample", "(guid, timestamp, track_id, event_id)"),
    ("rocpd_track", "(id, guid, pid, tid)"),
    (
        "rocpd_memory_allocate",
        "(guid, start, \"end\", type, size, event_id); INSERT INTO rocpd_memory_allocate VALUES ('g', 1, 2, 'ALLOC', 64, 1)",
    ),
    ("rocpd_info_pmc", "(id, guid, name); INSERT INTO rocpd_info_pmc VALUES (1, 'g', 'SQ_WAVES')"),
    (
        "rocpd_pmc_event",
        "(guid, pmc_id, event_id, value); INSERT INTO rocpd_pmc_event VALUES ('g', 1, 1, 4.0)",
    ),
];

/// The database as `change` has it: a table's statement, or none for no such table.
fn made(change: impl Fn(&str, &str) -> Option<String>) -> Vec<u8> {
    let db = Connection::open_in_memory().unwrap();
    for (table, statement) in TABLES {
        if let Some(statement) = change(table, statement) {
            db.execute_batch(&format!("CREATE TABLE {table}{statement}")).unwrap();
        }
    }
    db.serialize(MAIN_DB).unwrap().to_vec()
}

fn read(bytes: &[u8]) -> Result<Timeline, rockhound_trace::Error> {
    rockhound_trace::read("x.db", &mut &*bytes)
}

fn whole(_: &str, statement: &str) -> Option<String> {
    Some(statement.to_owned())
}

#[test]
fn the_layout_it_was_written_for() {
    let t = read(&made(whole)).unwrap();
    assert_eq!((t.gpu.len(), t.host.len(), t.allocations.len(), t.counters.len()), (3, 1, 1, 1));
    assert!(t.problems.is_empty(), "{:?}", t.problems);
    assert_eq!(t.environment.unwrap().len(), 1, "a token is not kept");
}

#[test]
fn other_versions_say_so() {
    for version in ["2", "4", "next"] {
        let bytes = made(|table, statement| {
            Some(if table == "rocpd_metadata" {
                statement.replace("'3'", &format!("'{version}'"))
            } else {
                statement.to_owned()
            })
        });
        let t = read(&bytes).unwrap();
        assert_eq!(t.gpu.len(), 3);
        let said: Vec<String> = t.problems.iter().map(|it| it.text.clone()).collect();
        assert!(said.iter().any(|it| it.contains(&format!("schema version \"{version}\""))), "{said:?}");
    }
}

#[test]
fn tables_and_columns_that_are_not_there() {
    for (table, what) in [
        ("rocpd_memory_copy", "no copies"),
        ("rocpd_region", "no calls of the host"),
        ("rocpd_memory_allocate", "no allocations"),
        ("rocpd_pmc_event", "no counters"),
    ] {
        let t = read(&made(|it, statement| (it != table).then(|| statement.to_owned()))).unwrap();
        assert!(t.gpu.len() >= 2);
        assert!(t.problems.iter().any(|it| it.text.contains(what)), "{table}: {:?}", t.problems);
        // The same with a column of another name: no exit code of 0.
        let renamed = |it: &str, statement: &str| {
            Some(if it == table { statement.replace("event_id", "evt") } else { statement.to_owned() })
        };
        let t = read(&made(renamed)).unwrap();
        assert!(t.gpu.len() >= 2);
        let error = t.problems.iter().find(|it| it.kind == NoteKind::Error).expect(table);
        assert!(error.text.contains("left out") && error.text.contains("event_id"), "{}", error.text);
    }
    // Without dispatches it is none of ours, or of no use.
    let error = read(&made(|it, statement| (it != "rocpd_kernel_dispatch").then(|| statement.to_owned())))
        .map(|_| ());
    assert!(error.unwrap_err().to_string().contains("rocpd_kernel_dispatch"));
}

#[test]
fn damaged_pages_do_no_harm() {
    let good = made(whole);
    let mut random = testkit::Random(7);
    for _ in 0..300 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len());
            bytes[at] = random.next() as u8;
        }
        let _ = read(&bytes);
    }
    for end in (0..good.len()).step_by(97) {
        let _ = read(&good[..end]);
    }
}

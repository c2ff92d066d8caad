use super::*;

const TEXT: &str = r#"{"other": {"rocprofiler-sdk-tool": 1}, "rocprofiler-sdk-tool": [{"metadata": {"pid": 7,
"node": {"hostname": "h"}, "command": ["a", "b c"]}, "agents": [{"id": {"handle": 3}, "type": 2, "node_id": 1}],
"strings": {"buffer_records": [{"kind": "K", "operations": ["x", "y"]}], "marker_api": [{"key": 2, "value": "m\n"}],
"pc_sample_instructions": ["s_nop 0"], "pc_sample_comments": ["a.cpp:1"]},
"code_objects": [{"code_object_id": 5, "load_base": 8192, "load_delta": 4096}],
"kernel_symbols": [{"kernel_id": 4, "kernel_name": "f.kd", "sgpr_count": 16}],
"callback_records": {"counter_collection": [{"records": [1, 2]}]},
"buffer_records": {"kernel_dispatch": [{"start_timestamp": 1, "dispatch_info": {"dispatch_id": 9, "kernel_id": 4,
"agent_id": {"handle": 3}, "grid_size": {"x": 8, "y": 2, "z": 1}, "group_segment_size": 512}}],
"hip_api": [{"operation": 1, "thread_id": 6, "correlation_id": {"internal": 8, "external": {"handle": 2}}}],
"pc_sample_stochastic": [{"inst_index": 0, "record": {"pc": {"code_object_id": 5, "code_object_offset": 16},
"dispatch_id": 9, "wave_issued": false, "snapshot": {"stall_reason": "WAITCNT"}}}]}}]} "#;

/// One line per row.
fn rows(text: &str, lists: &[List]) -> (Vec<String>, Result<bool, Fault>) {
    let mut all = Vec::new();
    let found = read(&mut text.as_bytes(), lists, &mut |row| all.push(line(&row)));
    (all, found)
}

fn line(row: &Row<'_>) -> String {
    match row {
        Row::Pid(text) => format!("pid {text}"),
        Row::Host(text) => format!("host {text}"),
        Row::Command(text) => format!("command {text}"),
        Row::Agent(it) => format!("agent {} {} {}", it.handle, it.node, it.is_gpu),
        Row::Symbol(it) => format!("symbol {:?} {} {:?}", it.id, it.symbol, it.sgprs),
        Row::CodeObject(it) => format!("code {:?} {:?} {:?}", it.id, it.load_base, it.load_delta),
        Row::Operations(list) => format!("operations {}", list.join(" ")),
        Row::Marker(key, text) => format!("marker {key} {text:?}"),
        Row::Instruction(text) => format!("instruction {text}"),
        Row::SourceLine(text) => format!("line {text}"),
        Row::Record(r) if r.list == List::Kernel => {
            format!("{:?} {:?} {:?} {:?} {:?} {:?}", r.dispatch, r.kernel, r.start, r.end, r.grid, r.lds)
        }
        Row::Record(r) => {
            format!("{:?} {} {} {} {}", r.list, r.operation, r.thread, r.correlation, r.external)
        }
        Row::Sample(it) => format!("{:?} {:?} {:?} {}", it.offset, it.dispatch, it.issued, it.stall),
        Row::End => "end".to_owned(),
    }
}

#[test]
fn rows_of_lists_that_are_wanted() {
    let head = ["pid 7", "host h", "command a b c", "agent 3 1 true", "operations x y", "marker 2 \"m\\n\""];
    let symbol = "symbol Some(4) f.kd Some(16)";
    let kernel = "Some(9) Some(4) Some(1) None Some([8, 2, 1]) Some(512)";
    let timed = [&head[..], &[symbol, kernel, "Api 1 6 8 2", "end"]].concat();
    let strings = ["instruction s_nop 0", "line a.cpp:1", "code Some(5) Some(8192) Some(4096)", symbol];
    let sampled = [&head[..], &strings, &["Some(16) Some(9) Some(false) WAITCNT", "end"]].concat();
    for (lists, want) in [(&List::TIMED[..], timed), (&List::SAMPLES, sampled)] {
        let (found, end) = rows(TEXT, lists);
        assert_eq!(
            (found.iter().map(String::as_str).collect::<Vec<_>>(), end),
            (want, Ok(true)),
            "{lists:?}"
        );
    }
}

#[test]
fn documents_that_end_or_are_no_results() {
    let whole = rows(TEXT, &List::TIMED).0;
    for end in (0..TEXT.len() - 1).filter(|end| TEXT.is_char_boundary(*end)) {
        let (found, result) = rows(&TEXT[..end], &List::TIMED);
        assert!(matches!(result, Err(Fault::Cut(at)) if at <= end as u64), "{end}: {result:?}");
        assert_eq!(found, whole[..found.len()], "{end}");
    }
    let bad = |at, what: &str| Err(Fault::Bad(at, what.to_owned()));
    for (text, want) in [
        ("{}", Ok(false)),
        (r#"{"a": 1}"#, Ok(false)),
        (r#"{"rocprofiler-sdk-tool": []}"#, Ok(true)),
        (r#"{"rocprofiler-sdk-tool": {}}"#, bad(25, "an array `[` was expected")),
        (r#"{"rocprofiler-sdk-tool": [3]}"#, bad(26, "an object `{` was expected")),
        (r#"{"rocprofiler-sdk-tool": []} x"#, bad(29, "text after the end of the document")),
    ] {
        assert_eq!(rows(text, &List::TIMED).1, want, "{text}");
    }
}

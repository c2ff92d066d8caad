//! Entries for problems that a server's log names, by the columns or the file name in the message.

use super::super::rounded_words;
use rules::TuneMachine;
use tunedb::{Detail, Format, Row, Shape, Tunings, aiter, moe::MoeName, server_log};

/// Whether messages of this kind are about files of this kind.
pub(super) fn is_of(file: &Tunings<'_>, row: &Row<'_>) -> bool {
    match file.format {
        Format::MoeJson | Format::BlockGemmJson => true,
        Format::AiterTuned => row.key.contains("M=") || row.key.contains("token="),
        _ => row.key.ends_with(".json"),
    }
}

/// Looks the problem of a message up.
pub(super) fn find(file: &Tunings<'_>, row: &Row<'_>, machine: Option<&TuneMachine>) -> Option<String> {
    match (&file.detail, file.format) {
        (Detail::Moe(own), _) => {
            let wanted = MoeName::parse(&row.key)?;
            (own.base(false) == wanted.base(false)).then(|| "exact".to_owned())
        }
        (Detail::Columns(columns), Format::AiterTuned) => {
            // A message of an older version names no table.
            let named = !row.operation.contains("GEMM");
            if named && columns.family != row.operation {
                return None;
            }
            in_table(file, row, machine)
        }
        _ => None,
    }
}

fn in_table(file: &Tunings<'_>, row: &Row<'_>, machine: Option<&TuneMachine>) -> Option<String> {
    let (wanted, tries) = match row.shape.as_ref().ok()? {
        Shape::Gemm(it) => {
            let [m, n, ..] = it.sizes();
            (m, vec![m, aiter::padded_fine(m), aiter::padded_coarse(m, n)])
        }
        Shape::Moe(it) => (it.tokens, [vec![it.tokens], aiter::padded_tokens(it.tokens)].concat()),
        _ => return None,
    };
    let target = machine.and_then(|it| it.target.as_deref());
    let units = machine.and_then(|it| it.cu_count);
    let of_machine = |own: &&Row<'_>| {
        target.is_none_or(|wanted| own.target.as_deref().map_or(true, |own| own == wanted))
            && units.is_none_or(|wanted| own.cu_count.map_or(true, |own| own == wanted))
    };
    tries.into_iter().find_map(|size| {
        let mut rows = file.rows.iter().filter(of_machine);
        rows.any(|own| has(file, own, row, size))
            .then(|| if size == wanted { "exact".to_owned() } else { rounded_words(wanted, size) })
    })
}

/// Whether a row of a table has all columns of a message, with another M or number of tokens.
fn has(file: &Tunings<'_>, own: &Row<'_>, row: &Row<'_>, size: u64) -> bool {
    // Cheap, and false for most rows.
    let same_size = match &own.shape {
        Ok(Shape::Gemm(it)) => u64::from(it.m) == size,
        Ok(Shape::Moe(it)) => it.tokens == size,
        _ => false,
    };
    let Detail::Columns(columns) = &file.detail else { return false };
    let Ok(text) = std::str::from_utf8(file.text(own)) else { return false };
    if !same_size || aiter::is_fallback(own) {
        return false;
    }
    let values: Vec<&str> = text.split(',').map(str::trim).collect();
    server_log::columns(row).filter(|(name, _)| !matches!(*name, "M" | "token")).all(|(name, wanted)| {
        let at = columns.at(name).filter(|at| columns.is_key.get(*at) == Some(&true));
        at.and_then(|at| values.get(at)).is_none_or(|own| same(own, wanted))
    })
}

/// Equal values; tables have 0 and 1 where messages have words.
fn same(own: &str, wanted: &str) -> bool {
    let word = |text: &str| match text {
        "True" | "1" => Some(true),
        "False" | "0" => Some(false),
        _ => None,
    };
    own == wanted || word(own).is_some() && word(own) == word(wanted)
}

#[cfg(test)]
mod tests {
    use super::super::coverage;
    use rules::TuneMachine;
    use tunedb::read;

    #[test]
    fn problems_of_a_server_are_found_by_all_their_columns() {
        let header = "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw";
        let table = |m: u32, bias: &str| {
            format!(
                "{header}\ngfx942,304,{m},32,64,{bias},torch.bfloat16,torch.bfloat16,False,False,hipblaslt,1,0,9.0,k,0,0,0\n"
            )
        };
        let log = |m: u32, of: &str| {
            format!(
                "[aiter] shape is M:{m}, N:32, K:64 dtype='torch.bfloat16' otype='torch.bfloat16' bias=False, scaleAB=False, bpreshuffle=False, not found tuned config in /tmp/{of}_tuned_gemm.csv, will use default config!\n"
            )
        };
        let machine =
            TuneMachine { target: Some("gfx942".to_owned()), cu_count: Some(304), ..TuneMachine::default() };
        for (table, log, found) in [
            (table(8, "False"), log(8, "bf16"), "exact"),
            (table(16, "False"), log(8, "bf16"), "rounded up to 16"),
            (table(8, "True"), log(8, "bf16"), "none"),
            (table(8, "False"), log(8, "a8w8"), "none"),
            (table(8, "False").replace("gfx942", "gfx950"), log(8, "bf16"), "none"),
        ] {
            let files = [read("kimi_bf16_tuned_gemm.csv", table.as_bytes()).unwrap()];
            let lists = [read("server.log", log.as_bytes()).unwrap()];
            let report = coverage(&files, &lists, Some(&machine), false, 0);
            assert_eq!(report.tables[0].rows[0].cells[0], view::Cell::text(found), "{table}{log}");
            assert_eq!(report.notes.len(), usize::from(found == "none"));
        }
        let names = ["a/E=72,N=768,device_name=X.json", "a/E=72,N=768,device_name=Y.json"];
        for (name, found) in names.into_iter().zip(["exact", "none"]) {
            let files = [read(name, b"{\"1\": {\"BLOCK_SIZE_M\": 16}}").unwrap()];
            let lists =
                [read("server.log", b"Config file not found at ['/b/E=72,N=768,device_name=X.json']\n")
                    .unwrap()];
            let report = coverage(&files, &lists, None, false, 0);
            assert_eq!(report.tables[0].rows[0].cells[0], view::Cell::text(found), "{name}");
        }
    }
}

//! Writing a logic file with other solutions and sizes.

use crate::logic_parts::{Form, Logic, Solution, numbers};

/// A size of a merged table.
#[derive(Clone, PartialEq, Debug)]
pub struct MergedSize {
    /// Its numbers.
    pub numbers: Vec<u64>,
    /// Position of its solution in the new list.
    pub solution: usize,
    /// Efficiency as written in the source file.
    pub efficiency: String,
}

/// Text of `base` with its solutions and sizes replaced by these. Each solution comes with its source text,
/// which is kept verbatim except for the index.
pub fn compose(
    base: &str,
    logic: &Logic<'_>,
    solutions: &[(&Solution<'_>, &str)],
    sizes: &[MergedSize],
) -> String {
    let mut out = String::with_capacity(base.len() + (base.len() >> 1));
    let (first, second) = (&logic.solution_span, &logic.size_span);
    out.push_str(&base[..first.start]);
    write_solutions(&mut out, logic.form, solutions);
    out.push_str(&base[first.end..second.start]);
    if sizes.is_empty() && logic.sizes.is_empty() {
        // A file without sizes has its own notation for that.
        out.push_str(&base[second.clone()]);
    } else {
        write_sizes(&mut out, logic.form, sizes);
    }
    out.push_str(&base[second.end..]);
    out
}

fn write_solutions(out: &mut String, form: Form, solutions: &[(&Solution<'_>, &str)]) {
    let (start, lead) = match form {
        Form::List => ("- ", "  "),
        Form::Map => ("Solutions:\n", ""),
    };
    out.push_str(start);
    if solutions.is_empty() {
        out.truncate(out.trim_end().len());
        out.push_str(" []\n");
        return;
    }
    for (at, (solution, text)) in solutions.iter().enumerate() {
        if at > 0 || form == Form::Map {
            out.push_str(lead);
        }
        out.push_str("- ");
        match &solution.index_span {
            Some(index) => {
                out.push_str(&text[solution.span.start..index.start]);
                out.push_str(&at.to_string());
                out.push_str(&text[index.end..solution.span.end]);
            }
            None => out.push_str(&text[solution.span.clone()]),
        }
        if !out.ends_with('\n') {
            out.push('\n');
        }
    }
}

fn write_sizes(out: &mut String, form: Form, sizes: &[MergedSize]) {
    let (start, lead) = match form {
        Form::List => ("- ", "  "),
        Form::Map => ("ExactLogic:\n", ""),
    };
    out.push_str(start);
    if sizes.is_empty() {
        out.truncate(out.trim_end().len());
        out.push_str(" []\n");
        return;
    }
    for (at, size) in sizes.iter().enumerate() {
        if at > 0 || form == Form::Map {
            out.push_str(lead);
        }
        out.push_str(&format!("- - [{}]\n", numbers(&size.numbers)));
        out.push_str(&format!("{lead}  - [{}, {}]\n", size.solution, size.efficiency));
    }
}

//! Parameters of a kernel: types from its demangled name, `axpy(int, float const*)`, and names with types from the
//! source that declares it.

/// A parameter as a source declares it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parameter {
    /// Empty if it has none.
    pub(crate) name: String,
    /// Without `__restrict__`.
    pub(crate) kind: String,
}

/// Words of types, which are no names where a parameter has none.
const TYPE_WORDS: [&str; 9] =
    ["int", "long", "short", "char", "unsigned", "signed", "float", "double", "bool"];

/// Types in the last parentheses of a demangled name; `None` without parentheses.
pub(crate) fn types_of(demangled: &str) -> Option<Vec<&str>> {
    let (open, close) = last_list(demangled)?;
    Some(split(&demangled[open + 1..close]))
}

/// Places of the last pair of parentheses. Types of lambdas and templates hold parentheses themselves.
fn last_list(text: &str) -> Option<(usize, usize)> {
    let close = text.rfind(')')?;
    let mut depth = 0i32;
    for (at, letter) in text[..=close].char_indices().rev() {
        depth += nesting(letter);
        if depth == 0 {
            return Some((at, close));
        }
    }
    None
}

/// How a letter changes the depth of brackets, read from the end.
fn nesting(letter: char) -> i32 {
    match letter {
        ')' | '>' | '}' | ']' => 1,
        '(' | '<' | '{' | '[' => -1,
        _ => 0,
    }
}

/// The parts of a list between its own commas.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0i32, 0, Vec::new());
    for (at, letter) in list.char_indices() {
        depth -= nesting(letter);
        if letter == ',' && depth == 0 {
            parts.push(list[from..at].trim());
            from = at + 1;
        }
    }
    parts.push(list[from..].trim());
    parts
}

/// Parameters of a kernel where a source declares it with `__global__`.
pub(crate) fn declared(source: &str, demangled: &str) -> Option<Vec<Parameter>> {
    let kernel = plain_name(demangled);
    let text = without_comments(source);
    let is_word = |it: char| it.is_alphanumeric() || it == '_';
    for (at, _) in text.match_indices(kernel).filter(|_| !kernel.is_empty()) {
        let (before, rest) = (&text[..at], text[at + kernel.len()..].trim_start());
        let statement = before.rsplit([';', '{', '}']).next().unwrap_or_default();
        if before.ends_with(is_word) || !rest.starts_with('(') || !statement.contains("__global__") {
            continue;
        }
        let mut depth = 0i32;
        let close = rest.char_indices().find(|&(_, letter)| {
            depth -= nesting(letter);
            depth == 0
        })?;
        let list = rest[1..close.0].trim();
        return Some(if list.is_empty() {
            Vec::new()
        } else {
            split(list).into_iter().map(parameter).collect()
        });
    }
    None
}

/// The name of a kernel without return type, namespaces, arguments of templates and parameters.
fn plain_name(demangled: &str) -> &str {
    let name = last_list(demangled).map_or(demangled, |(open, _)| &demangled[..open]);
    let mut depth = 0i32;
    let mut end = name.len();
    for (at, letter) in name.char_indices().rev() {
        depth += nesting(letter);
        match letter {
            '<' if depth == 0 => end = at,
            ' ' | ':' if depth == 0 => return &name[at + 1..end],
            _ => {}
        }
    }
    &name[..end]
}

fn parameter(text: &str) -> Parameter {
    let text = text.split('=').next().unwrap_or_default();
    let mut text = text.replace("__restrict__", " ").replace("__restrict", " ").trim().to_owned();
    let is_array = text.ends_with(']');
    if let Some(open) = text.find('[').filter(|_| is_array) {
        text.truncate(open);
    }
    let letters = text.chars().rev().take_while(|it| it.is_ascii_alphanumeric() || *it == '_').count();
    let (kind, name) = text.split_at(text.len() - letters);
    let is_named = !kind.trim().is_empty() && !TYPE_WORDS.contains(&name);
    let (kind, name) = if is_named { (kind, name) } else { (text.as_str(), "") };
    let kind = kind.split_whitespace().collect::<Vec<_>>().join(" ").replace(" *", "*");
    Parameter { name: name.to_owned(), kind: if is_array { kind + "*" } else { kind } }
}

/// A source with a space for each comment.
fn without_comments(source: &str) -> String {
    let (mut text, mut rest) = (String::with_capacity(source.len()), source);
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        text.push_str(&rest[..at]);
        text.push(' ');
        let (end, skipped) = if rest[at..].starts_with("//") { ("\n", 0) } else { ("*/", 2) };
        let comment = &rest[at + 2..];
        rest = comment.find(end).map_or("", |end| &comment[end + skipped..]);
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_lambdas_and_templates_are_one_parameter() {
        for (name, expected) in [
            ("f(int, float*)", Some(&["int", "float*"][..])),
            ("f", None),
            ("f)", None),
            ("f()", Some(&[""])),
            (
                "void kernel<unsigned int, main::{lambda(unsigned int, unsigned int)#1}>(unsigned int*, main::{lambda(unsigned int, unsigned int)#1}, unsigned int)",
                Some(&["unsigned int*", "main::{lambda(unsigned int, unsigned int)#1}", "unsigned int"]),
            ),
            ("g(std::pair<int, float>*, int (&)[2])", Some(&["std::pair<int, float>*", "int (&)[2]"])),
        ] {
            assert_eq!(types_of(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn sources_name_parameters() {
        let source = "// __global__ void yax(int wrong);\n__device__ float yax_part(float a);\n\
            extern \"C\" __global__ __launch_bounds__(256, 2) void yax(const double * __restrict__ y, /* rows, */ double *A,\n\
            \x20 const int n = f(1, 2), unsigned int, std::pair<int, float> p, float table[16]) { yax_part(1); }\n\
            template <typename T> __global__ void scale(T* x) {}\n__global__ void none() {}\n";
        let found = |kernel: &str| {
            let found = declared(source, kernel)?;
            Some(found.iter().map(|it| format!("{}: {}", it.name, it.kind)).collect::<Vec<_>>().join("; "))
        };
        let yax = "y: const double*; A: double*; n: const int; : unsigned int; p: std::pair<int, float>; table: float*";
        for (kernel, expected) in [
            ("yax", Some(yax)),
            ("void ns::scale<float, (char)3>(float*)", Some("x: T*")),
            ("none()", Some("")),
            ("yax_part", None),
            ("other", None),
            ("", None),
        ] {
            assert_eq!(found(kernel).as_deref(), expected, "{kernel}");
        }
        for cut in 0..source.len() {
            declared(&source[..cut], "yax");
        }
    }
}

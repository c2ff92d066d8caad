//! Functions of a C++ source: where their bodies are, and which kernels those launch.
//!
//! This is not a parser: comments, texts and branches of the preprocessor are passed over, and braces are counted. Whoever takes a body
//! out lets the compiler say whether that was the host's.

use std::ops::Range;

/// A function at file, namespace or class level.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Function {
    /// From the end of what is before it to the closing brace, bytes.
    pub(super) whole: Range<usize>,
    /// Between its braces, bytes.
    pub(super) body: Range<usize>,
    /// Its name as written.
    pub(super) name: String,
    /// It says itself that it runs on the GPU.
    pub(super) is_device: bool,
}

/// Block that a brace opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    /// `namespace` and `extern "C"`: what is in it is at the level around.
    Namespace,
    /// A class, or the values of an initialiser.
    Other,
    /// The value of a member, before the body of a constructor.
    Member,
    Function,
}

/// Place of a byte of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place<'a> {
    /// In a function, head or body.
    Function(&'a Function),
    /// In a class or an initialiser.
    Other,
    /// At file or namespace level.
    Open,
}

/// Functions and further blocks of a source.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Outline {
    pub(super) functions: Vec<Function>,
    /// Classes and initialisers.
    others: Vec<Range<usize>>,
}

impl Outline {
    /// Reads a source; braces that do not match end it.
    pub(super) fn of(text: &str) -> Outline {
        let code = masked(text);
        let mut outline = Outline::default();
        // Level, beginning of its head, beginning of its inside.
        let mut open: Vec<(Level, usize, usize)> = Vec::new();
        let mut branches: Vec<Vec<(Level, usize, usize)>> = Vec::new();
        let (mut head, mut round, mut at) = (0, 0usize, 0);
        while at < code.len() {
            let inside = open.last().is_some_and(|it| it.0 == Level::Function);
            match code[at] {
                b'#' => {
                    let line = &code[at..];
                    let line = &line[..line.iter().position(|it| *it == b'\n').unwrap_or(line.len())];
                    let word = String::from_utf8_lossy(&line[1..]).trim_start().to_owned();
                    if word.starts_with("if") {
                        branches.push(open.clone());
                    } else if word.starts_with("el") {
                        // Each branch begins where the first did.
                        open = branches.last().cloned().unwrap_or_default();
                    } else if word.starts_with("endif") {
                        branches.pop();
                    }
                    at += line.len();
                    if !open.iter().any(|it| it.0 == Level::Function) {
                        (head, round) = (at, 0);
                    }
                    continue;
                }
                b'(' => round += 1,
                b')' => round = round.saturating_sub(1),
                b';' if round == 0 && !inside => head = at + 1,
                b'{' => {
                    let level = if inside { Level::Function } else { level(&code[head..at]) };
                    let head_of = if inside { at } else { head };
                    open.push((level, head_of, at + 1));
                    (head, round) = (at + 1, 0);
                }
                b'}' => {
                    let Some((level, began, body)) = open.pop() else { break };
                    let is_nested = open.last().is_some_and(|it| it.0 == Level::Function);
                    if level == Level::Function && !is_nested {
                        outline.add(text, &code, began, body..at);
                    } else if level == Level::Other {
                        outline.others.push(began..at);
                    }
                    // Behind the value of a member the head goes on.
                    (head, round) = (if level == Level::Member { began } else { at + 1 }, 0);
                }
                _ => {}
            }
            at += 1;
        }
        outline
    }

    fn add(&mut self, text: &str, code: &[u8], began: usize, body: Range<usize>) {
        let head = String::from_utf8_lossy(&code[began..body.start]).into_owned();
        let plain = without_attributes(&head);
        let before = plain.split('(').next().unwrap_or_default().trim_end();
        let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | ':' | '~');
        let name = before.rsplit(|it| !is_name(it)).next().unwrap_or_default().to_owned();
        let is_device = ["__global__", "__device__"].iter().any(|it| head.contains(it));
        if text.is_char_boundary(body.start) && text.is_char_boundary(body.end) {
            self.functions.push(Function { whole: began..body.end, body, name, is_device });
        }
    }

    /// Where a byte is.
    pub(super) fn place(&self, at: usize) -> Place<'_> {
        match self.functions.iter().find(|it| it.whole.contains(&at)) {
            Some(function) => Place::Function(function),
            None if self.others.iter().any(|it| it.contains(&at)) => Place::Other,
            None => Place::Open,
        }
    }
}

/// Block that a brace after these words opens.
fn level(head: &[u8]) -> Level {
    let head = String::from_utf8_lossy(head);
    let head = without_attributes(head.trim());
    let words: Vec<&str> = head.split(|it: char| !it.is_alphanumeric() && it != '_').collect();
    let has = |word: &str| words.contains(&word);
    if has("namespace") || head.starts_with("extern") && !head.contains('(') {
        return Level::Namespace;
    }
    // Outside the brackets of a template, and no type of a parameter.
    let is_class = ["class", "struct", "union", "enum"].iter().any(|it| has(it)) && !head.contains('(');
    match (is_class, head.split_once('(')) {
        (true, _) | (_, None) => Level::Other,
        (false, Some((_, behind))) if begins_member(behind) => Level::Member,
        (false, Some(_)) => Level::Function,
    }
}

/// Whether the head of a function, from its parameters on, ends with the name of a member that a constructor initialises.
fn begins_member(head: &str) -> bool {
    let mut depth = 1;
    let end = head.char_indices().find_map(|(at, it)| {
        depth += i32::from(it == '(') - i32::from(it == ')');
        (depth == 0).then_some(at)
    });
    let members =
        end.and_then(|it| head[it..].replace("::", "").split_once(':').map(|it| it.1.trim_end().to_owned()));
    members.is_some_and(|it| it.ends_with(|it: char| it.is_alphanumeric() || matches!(it, '_' | '>')))
}

/// A head without `template <...>`, `__attribute__((...))` and their like.
fn without_attributes(head: &str) -> String {
    let mut rest = head.to_owned();
    for (word, open, close) in [
        ("template", '<', '>'),
        ("__attribute__", '(', ')'),
        ("__launch_bounds__", '(', ')'),
        ("alignas", '(', ')'),
        ("__align__", '(', ')'),
    ] {
        while let Some(at) = rest.find(word) {
            let after = &rest[at + word.len()..];
            let mut depth = 0;
            let end = after.char_indices().find_map(|(at, it)| {
                depth += i32::from(it == open) - i32::from(it == close);
                (it == close && depth == 0).then_some(at + 1)
            });
            rest = format!("{} {}", &rest[..at], &after[end.unwrap_or(0)..]);
        }
    }
    rest.trim().to_owned()
}

/// The source with blanks in place of comments, texts, characters and lines of the preprocessor but for their first words.
fn masked(text: &str) -> Vec<u8> {
    let mut code = text.as_bytes().to_vec();
    let mut at = 0;
    let mut line_begins = true;
    while at < code.len() {
        let rest = &text.as_bytes()[at..];
        let end = match rest[0] {
            b'/' if rest.starts_with(b"//") => line_end(rest),
            b'/' if rest.starts_with(b"/*") => find(&rest[2..], b"*/").map_or(rest.len(), |it| it + 4),
            b'R' if rest.starts_with(b"R\"") => raw_end(rest),
            b'"' => quoted_end(rest, b'"'),
            b'\'' if !code[..at].last().is_some_and(u8::is_ascii_alphanumeric) => quoted_end(rest, b'\''),
            b'#' if line_begins => {
                // The word stays, its arguments go.
                let end = line_end(rest);
                let word =
                    rest[1..].iter().take_while(|it| it.is_ascii_whitespace() && **it != b'\n').count() + 1;
                let word = word + rest[word..].iter().take_while(|it| it.is_ascii_alphabetic()).count();
                blank(&mut code[at + word.min(end)..at + end]);
                at += end;
                continue;
            }
            _ => 0,
        };
        if end > 0 {
            blank(&mut code[at..at + end.min(rest.len())]);
            at += end;
            continue;
        }
        line_begins = rest[0] == b'\n' || line_begins && rest[0].is_ascii_whitespace();
        at += 1;
    }
    code
}

fn blank(code: &mut [u8]) {
    code.iter_mut().filter(|it| **it != b'\n').for_each(|it| *it = b' ');
}

/// Bytes to the end of a line, which a backslash continues.
fn line_end(rest: &[u8]) -> usize {
    let mut from = 0;
    while let Some(at) = rest[from..].iter().position(|it| *it == b'\n') {
        let before = rest[..from + at].strip_suffix(b"\r").unwrap_or(&rest[..from + at]);
        if !before.ends_with(b"\\") {
            return from + at;
        }
        from += at + 1;
    }
    rest.len()
}

fn quoted_end(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote && rest[at] != b'\n' {
        at += 1 + usize::from(rest[at] == b'\\');
    }
    (at + 1).min(rest.len())
}

fn raw_end(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().position(|it| *it == b'(') else { return rest.len() };
    let mark = [b")", &rest[2..open], b"\""].concat();
    find(&rest[open..], &mark).map_or(rest.len(), |it| open + it + mark.len())
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, what)
}

/// Kernels that a body launches, as written: `scale<float, 4>`.
pub(super) fn launches(body: &str) -> Vec<String> {
    let code = String::from_utf8_lossy(&masked(body)).into_owned();
    let mut found: Vec<String> = Vec::new();
    let mut keep = |name: &str| {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    };
    for (at, _) in code.match_indices("<<<") {
        keep(named_before(&code[..at]));
    }
    for call in ["hipLaunchKernelGGL", "hipExtLaunchKernelGGL"] {
        for (at, _) in code.match_indices(call) {
            let Some(arguments) = code[at + call.len()..].trim_start().strip_prefix('(') else { continue };
            let first = first_argument(arguments).trim();
            let first = first.strip_prefix("HIP_KERNEL_NAME").unwrap_or(first).trim();
            let first = first.strip_prefix('(').and_then(|it| it.strip_suffix(')')).unwrap_or(first);
            keep(first.trim());
        }
    }
    found
}

/// The name at the end of a text, with the arguments of a template.
fn named_before(text: &str) -> &str {
    let text = text.trim_end();
    let mut depth = 0i32;
    let begin = text.char_indices().rev().find(|(_, it)| {
        depth += i32::from(matches!(it, '>' | ')' | ']')) - i32::from(matches!(it, '<' | '(' | '['));
        let is_in = depth > 0 || matches!(it, '<' | ')' | ']');
        depth < 0 || !(is_in || it.is_alphanumeric() || matches!(it, '_' | ':'))
    });
    text[begin.map_or(0, |(at, it)| at + it.len_utf8())..].trim()
}

/// The text to the first comma outside brackets.
fn first_argument(text: &str) -> &str {
    let mut depth = 0i32;
    let end = text.find(|it: char| {
        depth +=
            i32::from(matches!(it, '(' | '<' | '[' | '{')) - i32::from(matches!(it, ')' | '>' | ']' | '}'));
        depth < 0 || it == ',' && depth == 0
    });
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_a_source() {
        let text = r#"
#include <x.h> // {
namespace a { extern "C" {
struct S { int x = 3; S() : x(2) {} void m(int) const { if (x) { y(); } } };
struct V : public S { V(int a) : S{}, b::c<int>{{a}, 2}, d(a) { e(); } auto n() noexcept -> ::a::T { return {}; } };
template <class T, int N = 2> __global__ __launch_bounds__(256) void k(T *p) { p[0] = '{'; }
#ifdef ONE
static int f(int a) {
#else
static int f(long a) {
#endif
  const char *t = "}\"}"; auto r = R"x(}})x";
  return a;
}
} }
int table[] = {1, 2};
int main() { for (int i = 0; i < 3; i++) { a::k<float><<<1, 64>>>(p); } }
"#;
        let outline = Outline::of(text);
        let names: Vec<(&str, bool)> =
            outline.functions.iter().map(|it| (it.name.as_str(), it.is_device)).collect();
        let expected = ["S", "m", "V", "n", "k", "f", "main"].map(|it| (it, it == "k"));
        assert_eq!(names, expected);
        assert!(
            matches!(outline.place(text.find("e();").unwrap_or_default()), Place::Function(it) if it.name == "V")
        );
        let at = |what: &str| outline.place(text.find(what).unwrap_or_default());
        assert!(matches!(at("return a"), Place::Function(it) if it.name == "f"));
        assert!(matches!(at("y();"), Place::Function(it) if it.name == "m"));
        assert_eq!(at("int x = 3"), Place::Other);
        assert_eq!(at("1, 2}"), Place::Other);
        assert_eq!(at("namespace a"), Place::Open);
    }

    #[test]
    fn what_does_not_match_is_passed_over() {
        for text in [
            "",
            "}",
            "{",
            "void f() {",
            "\"",
            "R\"",
            "R\"(",
            "/*",
            "#",
            "#if",
            "#else\n}",
            "'",
            "void f(){}}}",
            "é{é}",
        ] {
            let outline = Outline::of(text);
            assert!(outline.functions.len() <= 1, "{text}");
            launches(text);
        }
    }

    /// Texts of the pieces that matter, in any order.
    #[test]
    fn any_text_can_be_read() {
        const PIECES: [&str; 24] = [
            "{",
            "}",
            "(",
            ")",
            "<",
            ">",
            ";",
            "\"",
            "'",
            "\n",
            "#if\n",
            "#else\n",
            "#endif\n",
            "/*",
            "*/",
            "//",
            "R\"(",
            ")\"",
            "<<<",
            "template ",
            "é",
            "\\",
            "hipLaunchKernelGGL(",
            "__global__ void f",
        ];
        let mut random = testkit::Random(7);
        for _ in 0..3000 {
            let text: String = (0..random.below(40)).map(|_| PIECES[random.below(PIECES.len())]).collect();
            let outline = Outline::of(&text);
            for function in &outline.functions {
                assert!(function.whole.contains(&function.body.start) || function.body.is_empty(), "{text}");
                launches(&text[function.body.clone()]);
            }
            launches(&text);
            super::super::diagnostics::faults(&text);
        }
    }

    #[test]
    fn launches_of_a_body() {
        let body = "a::k<float, 4><<<grid, 64>>>(p); g <<<1, 2>>>(); // h<<<1, 2>>>()\n\
            hipLaunchKernelGGL((scale<double, 2>), dim3(1), 2, 0, 0, p);\n\
            hipLaunchKernelGGL(HIP_KERNEL_NAME(add<int>), 1, 2, 0, 0); hipLaunchKernelGGL(plain, 1, 2, 0, 0);";
        assert_eq!(launches(body), ["a::k<float, 4>", "g", "scale<double, 2>", "add<int>", "plain"]);
    }
}

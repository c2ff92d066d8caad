//! Kernel names that fit a column.
//!
//! Instantiations differ in their outermost template arguments, so parameters go first, then the deepest
//! nested arguments, and only then the middle of the name.

use std::borrow::Cow;

/// Shortens a demangled name to at most `room` characters.
pub fn shorten(name: &str, room: usize) -> Cow<'_, str> {
    let fits = |text: &str| text.chars().count() <= room;
    if fits(name) {
        return Cow::Borrowed(name);
    }
    let name = name.strip_prefix("void ").unwrap_or(name);
    if fits(name) {
        return Cow::Borrowed(name);
    }
    let mut short = without_parameters(name);
    let steps: [fn(&str) -> String; 3] =
        [|text| without_casts(&text.replace("> >", ">>")), |text| unqualified(text, 1), elide_deep];
    for step in steps {
        if fits(&short) {
            return Cow::Owned(short);
        }
        short = step(&short);
    }
    let deepest = depth(&short);
    for level in (2..=deepest).rev() {
        if fits(&short) {
            return Cow::Owned(short);
        }
        short = elide_below(&short, level);
    }
    if !fits(&short) {
        short = unqualified(&short, 0);
    }
    if !fits(&short) {
        short = short.trim_end_matches("(…)").to_owned();
    }
    Cow::Owned(cut_middle(&short, room))
}

/// `k<(unsigned int)16, (bool)1>` becomes `k<16, 1>`.
fn without_casts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let (before, tail) = rest.split_at(open);
        let cast = tail.find(')').filter(|close| {
            let kind = &tail[1..*close];
            let value = tail[close + 1..].chars().next();
            before.ends_with(['<', ' '])
                && !kind.is_empty()
                && kind.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | ':'))
                && value.is_some_and(|c| c.is_ascii_digit() || c == '-')
        });
        out.push_str(before);
        match cast {
            Some(close) => rest = &tail[close + 1..],
            None => {
                out.push('(');
                rest = &tail[1..];
            }
        }
    }
    out + rest
}

/// Template arguments nested deeper than three levels say nothing to a reader.
fn elide_deep(text: &str) -> String {
    elide_below(text, 4)
}

/// Drops `a::b::` before names at nesting `level` or deeper.
fn unqualified(text: &str, level: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut now = 0usize;
    // Where the name being read starts in `out`.
    let mut start = 0;
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let bracket = matches!(c, '<' | '>') && !is_operator(text, at);
        if c == ':' && text[at..].starts_with("::") && now >= level {
            rest.next();
            // `a<b>::c` needs its first part: the name before the bracket says what `c` is.
            if out.ends_with('>') {
                out.push_str("::");
                start = out.len();
                continue;
            }
            let anonymous = "(anonymous namespace)";
            if out.ends_with(anonymous) {
                start = start.min(out.len() - anonymous.len());
            }
            out.truncate(start);
            continue;
        }
        out.push(c);
        if bracket {
            now = if c == '<' { now + 1 } else { now.saturating_sub(1) };
        }
        if !(c.is_alphanumeric() || matches!(c, '_' | '$' | '~')) {
            start = out.len();
        }
    }
    out
}

/// `f<int>(float*, int)` becomes `f<int>(…)`.
fn without_parameters(name: &str) -> String {
    let body = name.trim_end_matches(" const");
    if !body.ends_with(')') {
        return name.to_owned();
    }
    let mut open = 0usize;
    for (at, c) in body.char_indices().rev() {
        match c {
            ')' => open += 1,
            '(' => {
                open = open.saturating_sub(1);
                if open == 0 {
                    let inside = &body[at + 1..body.len() - 1];
                    // `(anonymous namespace)` alone is a part of the name.
                    if at == 0 || inside.is_empty() || inside == "anonymous namespace" {
                        return name.to_owned();
                    }
                    return format!("{}(…)", &body[..at]);
                }
            }
            _ => {}
        }
    }
    name.to_owned()
}

/// Whether the angle bracket at `at` is part of an operator or arrow rather than of an argument list.
fn is_operator(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(['<', '>', '=']);
    before.ends_with("operator") || (text[at..].starts_with('>') && text[..at].ends_with('-'))
}

fn depth(text: &str) -> usize {
    let (mut now, mut most) = (0usize, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '<' if !is_operator(text, at) => {
                now += 1;
                most = most.max(now);
            }
            '>' if !is_operator(text, at) => now = now.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Replaces text at nesting `level` or deeper by `…`.
fn elide_below(text: &str, level: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut now = 0usize;
    for (at, c) in text.char_indices() {
        let bracket = matches!(c, '<' | '>') && !is_operator(text, at);
        if bracket && c == '>' {
            now = now.saturating_sub(1);
        }
        if now < level {
            out.push(c);
        }
        if bracket && c == '<' {
            now += 1;
            if now == level {
                out.push('…');
            }
        }
    }
    out
}

/// Keeps both ends.
fn cut_middle(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    let keep = room.saturating_sub(1);
    let head = keep.div_ceil(2);
    let tail = keep - head;
    let mut out: String = text.chars().take(head).collect();
    out.push('…');
    out.extend(text.chars().skip(count - tail));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_then_deep_arguments_then_the_middle() {
        let name = "void ns::gemm<ns::Tile<std::array<int, 4>, float>, 256u>(float const*, float*, int)";
        for (room, expected) in [
            (200, name),
            (80, "ns::gemm<ns::Tile<std::array<int, 4>, float>, 256u>(float const*, float*, int)"),
            (60, "ns::gemm<ns::Tile<std::array<int, 4>, float>, 256u>(…)"),
            (50, "ns::gemm<Tile<array<int, 4>, float>, 256u>(…)"),
            (40, "ns::gemm<Tile<array<…>, float>, 256u>(…)"),
            (28, "ns::gemm<Tile<…>, 256u>(…)"),
            (24, "gemm<Tile<…>, 256u>(…)"),
            (20, "gemm<Tile<…>, 256u>"),
            (12, "gemm<T…256u>"),
            (1, "…"),
            (0, "…"),
        ] {
            assert_eq!(shorten(name, room), expected, "room {room}");
        }
    }

    #[test]
    fn odd_names_keep_their_sense() {
        for (name, room, expected) in [
            ("_Z6kernelPfi", 40, "_Z6kernelPfi"),
            ("kernel_name_that_is_long_without_brackets", 20, "kernel_nam…_brackets"),
            ("operator<<(a, b, c, d, e, f)", 20, "operator<<(…)"),
            ("void k<(unsigned int)16, (bool)1, (a::E)-2, f(int)>(int)", 30, "k<16, 1, -2, f(int)>(…)"),
            ("x::operator-><int, float, double>(int)", 40, "x::operator-><int, float, double>(int)"),
            (")))>>><<<(((", 4, "))……"),
            ("void (anonymous namespace)::k<int>(float*)", 40, "(anonymous namespace)::k<int>(float*)"),
            ("void (anonymous namespace)::k<int>(float*)", 34, "(anonymous namespace)::k<int>(…)"),
            ("größe<äöü, ß>(ü)", 10, "größe…, ß>"),
            (
                "(anonymous namespace)::x::k<(anonymous namespace)::T, b::c<int>::d>(int)",
                24,
                "k<T, c<…>::d>(…)",
            ),
        ] {
            let short = shorten(name, room);
            assert!(short.chars().count() <= room.max(1), "{short}");
            assert_eq!(short, expected, "{name}");
        }
    }
}

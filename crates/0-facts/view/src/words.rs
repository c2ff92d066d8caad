//! Formatting of lists, counts, times and shell words.
//!
//! Wording of numbers, defined once so that all outputs agree.

use std::borrow::Cow;

/// `HBM`, `HBM or L2`, `HBM, L2 or LDS`.
pub fn listed<T: AsRef<str>>(items: &[T], last: &str) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match &items[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [all @ .., end] => format!("{} {last} {end}", all.join(", ")),
    }
}

/// At most three known names that a misspelled one may stand for, the likeliest first.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let name = name.to_lowercase();
    let likeness = |it: &'a str| (strsim::jaro_winkler(&name, &it.to_lowercase()), it);
    let mut near: Vec<_> = known.map(likeness).filter(|(likeness, _)| *likeness > 0.85).collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup();
    near.into_iter().take(3).map(|it| it.1).collect()
}

/// The noun in the grammatical number of a count: `wave` for 1, `waves` for 2.
pub fn noun_of(count: impl TryInto<u64>, noun: &str) -> Cow<'_, str> {
    // Fractions take the plural.
    if count.try_into().is_ok_and(|count| count == 1) { Cow::Borrowed(noun) } else { plural(noun).into() }
}

/// `1 workgroup`, `2 workgroups`, `0 dispatches`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", noun_of(count, noun))
}

/// `1 kernel`, `25,182 kernels`.
pub fn thousands_of(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{} {}", thousands(count), noun_of(count, noun))
}

/// The plural of an English noun, formed on its last word.
fn plural(noun: &str) -> String {
    let hisses = ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'i', 'o', 'u']));
    match stem {
        Some(stem) => format!("{stem}ies"),
        None if hisses => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// `25,182`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The date of a day, counted from 1970-01-01: `2026-11-28`.
pub fn date(days: i64) -> String {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Years are counted from March, so that a leap day is the last of its year.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + next)
}

/// A time in a suitable unit, with three digits: `870 ns`, `17.4 us`, `3.36 ms`.
pub fn duration(ns: f64) -> String {
    // Units change where rounding would make a fourth digit.
    let (value, unit) = match ns.abs() {
        size if size < 999.5 => return format!("{ns:.0} ns"),
        size if size < 999.5e3 => (ns / 1e3, "us"),
        size if size < 999.5e6 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    let decimals = match value.abs() {
        size if size < 9.995 => 2,
        size => usize::from(size < 99.95),
    };
    format!("{value:.decimals$} {unit}")
}

/// A word for a POSIX shell, quoted if necessary.
pub fn shell_word(word: &str) -> Cow<'_, str> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(harmless) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// The words of a command line, without their quotes; `None` if a shell would do more with it than start one program.
pub fn shell_words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // A word that has begun, perhaps with empty quotes.
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(begun), _) if begun == c => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().push(chars.next()?),
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | '~' | '#' | '\n') => {
                return None;
            }
            (None | Some('"'), '$' | '`') => return None,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// A word with its article: `a load`, `an atomic`.
pub fn with_article(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_taken_apart() {
        for word in ["workloads/a-2/MI300X", "my runs/a", "it's", "", "$(rm -rf ~)", "a\"b", "a\\b"] {
            let line = format!("-k {} -- rest", shell_word(word));
            let expected = ["-k", word, "--", "rest"].map(str::to_owned).to_vec();
            assert_eq!(shell_words(&line), Some(expected), "{line}");
        }
        assert_eq!(shell_words(r#"  a"b c"\ d '' "#), Some(vec!["ab c d".to_owned(), String::new()]));
        for line in ["tune > tune.toml", "a | b", "a; b", "echo $HOME", "\"`a`\"", "'open", "ls *.hip", "a\\"]
        {
            assert_eq!(shell_words(line), None, "{line}");
        }
    }

    #[test]
    fn misspelled_names_have_neighbours() {
        let known = ["TCC_HIT", "TCC_MISS", "SQ_WAVES", "l2.hit_rate"];
        let cases = [("TCC_HITS", "TCC_HIT"), ("sq_wavess", "SQ_WAVES"), ("l2_hit_rate", "l2.hit_rate")];
        for (name, expected) in cases {
            assert_eq!(nearest(name, known.into_iter()).first(), Some(&expected), "{name}");
        }
        assert!(nearest("quux", known.into_iter()).is_empty());
    }

    #[test]
    fn durations_have_three_digits() {
        for (ns, text) in [
            (0.0, "0 ns"),
            (870.0, "870 ns"),
            (999.0, "999 ns"),
            (999.6, "1.00 us"),
            (1234.0, "1.23 us"),
            (9_996.0, "10.0 us"),
            (17_440.0, "17.4 us"),
            (52_320.0, "52.3 us"),
            (99_960.0, "100 us"),
            (999_700.0, "1.00 ms"),
            (3_353_042.0, "3.35 ms"),
            (812e6, "812 ms"),
            (1.25e9, "1.25 s"),
            (4321e9, "4321 s"),
            (-17_440.0, "-17.4 us"),
            (-5.0, "-5 ns"),
        ] {
            assert_eq!(duration(ns), text);
        }
    }

    #[test]
    fn lists_are_english() {
        for (items, text) in [
            (&[][..], ""),
            (&["HBM"], "HBM"),
            (&["HBM", "L2"], "HBM or L2"),
            (&["HBM", "L2", "LDS"], "HBM, L2 or LDS"),
        ] {
            assert_eq!(listed(items, "or"), text);
        }
    }

    #[test]
    fn nouns_bend_with_their_counts() {
        for (count, noun, text) in [
            (0_u64, "wave", "0 waves"),
            (1, "wave", "1 wave"),
            (304, "wave", "304 waves"),
            (2, "dispatch", "2 dispatches"),
            (1, "dispatch", "1 dispatch"),
            (2, "branch", "2 branches"),
            (2, "address", "2 addresses"),
            (3, "entry", "3 entries"),
            (3, "array", "3 arrays"),
            (2, "library call", "2 library calls"),
            (2_518_200, "byte", "2518200 bytes"),
        ] {
            assert_eq!(counted(count, noun), text);
        }
        // Whatever holds a whole number counts; what is below none is no 1.
        assert_eq!(
            (counted(1_usize, "GPU"), counted(2_u8, "GPU")),
            ("1 GPU".to_owned(), "2 GPUs".to_owned())
        );
        assert_eq!((noun_of(-1, "wave"), noun_of(1, "wave")), ("waves".into(), "wave".into()));
    }

    #[test]
    fn thousands_have_commas() {
        for (value, text) in [
            (0, "0 kernels"),
            (1, "1 kernel"),
            (999, "999 kernels"),
            (1000, "1,000 kernels"),
            (25182, "25,182 kernels"),
            (1_234_567, "1,234,567 kernels"),
            (u64::MAX, "18,446,744,073,709,551,615 kernels"),
        ] {
            assert_eq!(thousands_of(value, "kernel"), text);
        }
    }

    #[test]
    fn words_survive_a_shell() {
        for (word, text) in [
            ("", "''"),
            ("a/b-c_d.csv", "a/b-c_d.csv"),
            ("E=8,N=14336", "E=8,N=14336"),
            ("app+1@host:2%", "app+1@host:2%"),
            ("my file", "'my file'"),
            ("it's", r"'it'\''s'"),
            ("a;b", "'a;b'"),
            ("$HOME", "'$HOME'"),
            ("~", "'~'"),
            ("[0]", "'[0]'"),
            ("gemm.*", "'gemm.*'"),
            ("größe", "'größe'"),
            ("line\nend", "'line\nend'"),
        ] {
            assert_eq!(shell_word(word), text);
        }
    }

    #[test]
    fn dates() {
        for (days, expected) in [
            (-1, "1969-12-31"),
            (0, "1970-01-01"),
            (59, "1970-03-01"),
            (11_016, "2000-02-29"),
            (20_785, "2026-11-28"),
            (20_819, "2027-01-01"),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}

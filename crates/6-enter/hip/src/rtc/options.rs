//! Options of a compilation at run time, brought to what clang knows.
//!
//! Most are clang's and pass through; only the options of the interface are translated.

use std::ffi::OsString;

/// Parsed options.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Options {
    /// Target, if given.
    pub(super) target: Option<String>,
    /// Code that is linked later: the result is bitcode.
    pub(super) is_relocatable: bool,
    /// Arguments for clang.
    pub(super) rest: Vec<OsString>,
}

/// Options that name the target.
const TARGETS: [&str; 4] = ["--gpu-architecture", "-gpu-architecture", "--offload-arch", "-arch"];

impl Options {
    /// Reads options.
    pub(super) fn parse(texts: &[String]) -> Options {
        let mut options = Options::default();
        let mut texts = texts.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
        while let Some(text) = texts.next() {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (text, None),
            };
            match name {
                _ if TARGETS.contains(&name) => {
                    let target = value.or_else(|| texts.next());
                    options.target = target.filter(|it| it.starts_with("gfx")).map(str::to_owned);
                }
                "-fgpu-rdc" => options.is_relocatable = true,
                "-fno-gpu-rdc" => options.is_relocatable = false,
                "--use_fast_math" | "-use_fast_math" => options.rest.push("-ffast-math".into()),
                "--include-path" => options.rest.extend(value.map(|it| format!("-I{it}").into())),
                _ => options.rest.push(joined(text).into()),
            }
        }
        options
    }
}

/// `-I DIR` and `-D NAME` in one piece are meant without the space.
fn joined(text: &str) -> String {
    match (text.get(..2), text.get(2..)) {
        (Some(flag @ ("-I" | "-D" | "-U")), Some(rest)) => format!("{flag}{}", rest.trim_start()),
        _ => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_interface_are_translated() {
        let options = |target: Option<&str>, is_relocatable, rest: &[&str]| Options {
            target: target.map(str::to_owned),
            is_relocatable,
            rest: rest.iter().map(OsString::from).collect(),
        };
        for (given, expected) in [
            (&[][..], options(None, false, &[])),
            (&["--gpu-architecture=gfx90a", "-O1", " "], options(Some("gfx90a"), false, &["-O1"])),
            (
                &["--offload-arch=gfx942:sramecc+:xnack-", "-I dir", "-DN=3", "-D", "M"],
                options(Some("gfx942:sramecc+:xnack-"), false, &["-Idir", "-DN=3", "-D", "M"]),
            ),
            (&["-arch", "gfx950", "--std=c++14"], options(Some("gfx950"), false, &["--std=c++14"])),
            (&["-arch=sm_70", "--use_fast_math"], options(None, false, &["-ffast-math"])),
            (&["-fgpu-rdc", "--include-path=a"], options(None, true, &["-Ia"])),
        ] {
            let texts: Vec<String> = given.iter().map(|it| (*it).to_string()).collect();
            assert_eq!(Options::parse(&texts), expected, "{given:?}");
        }
    }
}

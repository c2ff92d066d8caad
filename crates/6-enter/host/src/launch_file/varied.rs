//! Other contents of buffers whose contents are files, such as the buffers of a captured launch.

use super::{Bytes, Contents, LaunchFile};
use anyhow::Result;
use buffers::{Element, Fixed, Variation};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

/// The buffers that get other contents, and those that keep theirs.
#[derive(Clone, Debug)]
pub(crate) struct Variations {
    variation: Variation,
    /// Names of buffers with other contents.
    pub(crate) varied: BTreeSet<String>,
    /// Names of the others, each with the reason.
    pub(crate) kept: Vec<(String, &'static str)>,
}

/// Other contents of one buffer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Other {
    variation: Variation,
    seed: u64,
}

impl Other {
    /// The contents by a seed; the given ones where others do not exist.
    pub(super) fn contents(self, name: &str, element: Element, bytes: Vec<u8>) -> Vec<u8> {
        let mut hasher = DefaultHasher::new();
        (name, self.seed).hash(&mut hasher);
        buffers::varied(&bytes, element, self.variation, hasher.finish()).unwrap_or(bytes)
    }
}

impl LaunchFile {
    /// Whether contents of a buffer are in a file.
    pub(crate) fn has_data(&self) -> bool {
        self.parts().any(|it| it.file.is_some())
    }

    /// Which buffers can have other contents. Those named in `keep` have none.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn variations(&self, variation: Variation, keep: &[String]) -> Result<Variations> {
        let contents = self.contents()?;
        let mut all = Variations { variation, varied: BTreeSet::new(), kept: Vec::new() };
        let ranges: Vec<Range<u64>> = self
            .parts()
            .filter_map(|it| {
                let address = it.address?;
                Some(address..address.saturating_add(it.bytes_of_buffer()?))
            })
            .collect();
        let span = ranges.iter().fold(Range { start: u64::MAX, end: 0 }, |span, it| {
            span.start.min(it.start)..span.end.max(it.end)
        });
        let leads = |bytes: &[u8]| {
            let words = buffers::words_within(bytes, &span);
            words.iter().any(|word| ranges.iter().any(|it| it.contains(word)))
        };
        for (part, contents) in self.parts().zip(contents) {
            let (Contents::Buffer(Bytes::Given(bytes)), true) = (contents, part.file.is_some()) else {
                continue;
            };
            let element = part.element;
            let is_known = !part.guessed || element != Element::BYTE && Element::likely(&[bytes]) == element;
            let why = if keep.contains(&part.name) {
                Some("by --keep")
            } else if element.size() == 8 && leads(bytes) {
                Some("holds addresses")
            } else if !is_known {
                Some("type unknown")
            } else {
                buffers::varied(bytes, element, variation, 0).err().map(Fixed::words)
            };
            match why {
                Some(why) => all.kept.push((part.name.clone(), why)),
                None => {
                    all.varied.insert(part.name.clone());
                }
            }
        }
        Ok(all)
    }

    /// Gives buffers other contents. Expected values, which belong to the contents as they were, are dropped.
    pub(crate) fn vary(&mut self, by: &Variations, seed: u64) {
        self.made = std::sync::OnceLock::new();
        for part in self.argument.iter_mut().chain(&mut self.memory) {
            part.other = by.varied.contains(&part.name).then_some(Other { variation: by.variation, seed });
            part.expected_file = None;
        }
    }

    /// Notes the names of buffers that the kernel writes, though a launch left them as they were.
    pub(crate) fn rewrites(&mut self, names: &BTreeSet<String>) {
        for part in self.argument.iter_mut().chain(&mut self.memory) {
            part.rewritten = names.contains(&part.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_that_may_lead_somewhere_keep_their_contents() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = "code = \"a\"\ngrid = [1]\nworkgroup = [1]\n".to_owned();
        let bytes = |words: &[u64]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>();
        let floats = |by: f32| {
            (0..16).flat_map(|it| (by * it as f32 + 0.5).to_bits().to_le_bytes()).collect::<Vec<u8>>()
        };
        for (name, element, more, contents) in [
            ("x", "f32", "address = 0x300000000000", floats(1.5)),
            ("table", "u64", "address = 0x300000001000", bytes(&[0x3000_0000_0010, 5, 0])),
            ("numbers", "u64", "address = 0x300000002000", bytes(&[7, 0x2fff_0000_0000, 0])),
            ("likely", "f32", "guessed = true\naddress = 0x300000003000", floats(2.5)),
            (
                "mixed",
                "f32",
                "guessed = true\naddress = 0x300000004000",
                [floats(1.5), vec![1; 400]].concat(),
            ),
            ("bytes", "u8", "guessed = true\naddress = 0x300000005000", vec![3, 1, 2]),
            ("pixels", "u8", "address = 0x300000006000", vec![3, 1, 2]),
            ("kept", "f32", "address = 0x300000007000", floats(1.5)),
        ] {
            let count = contents.len() / Element::by_name(element).unwrap().size();
            std::fs::write(folder.path().join(name), contents).unwrap();
            text += &format!(
                "[[argument]]\nname = \"{name}\"\ntype = \"{element}\"\nshape = [{count}]\nfile = \"{name}\"\n{more}\n"
            );
        }
        text += "[[argument]]\nname = \"output\"\ntype = \"f32\"\nshape = [4]\n";
        let mut file = LaunchFile::of(&text, &folder.path().join("LAUNCH.toml")).unwrap();
        let all = file.variations(Variation::Drawn, &["kept".to_owned()]).unwrap();
        let varied: Vec<&str> = all.varied.iter().map(String::as_str).collect();
        assert_eq!(varied, ["likely", "numbers", "pixels", "x"]);
        let kept: Vec<(&str, &str)> = all.kept.iter().map(|(name, why)| (name.as_str(), *why)).collect();
        let [unknown, address] = ["type unknown", "holds addresses"];
        assert_eq!(kept, [("table", address), ("mixed", unknown), ("bytes", unknown), ("kept", "by --keep")]);
        let contents = |file: &LaunchFile| format!("{:?}", file.contents().unwrap());
        let given = contents(&file);
        file.vary(&all, 1);
        let first = contents(&file);
        file.vary(&all, 2);
        assert!(given != first && first != contents(&file));
    }
}

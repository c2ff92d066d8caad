//! Arguments of the kernel, from `/proc/cmdline`.
//!
//! Arguments are whole words and the last of a name counts; a test for a substring takes `myiommu=pthello`
//! for `iommu=pt`.

/// Arguments of the kernel, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BootArguments {
    words: Vec<String>,
}

/// Reads `/proc/cmdline`. Arguments after `--` are for the first process.
pub fn boot_arguments(text: &str) -> BootArguments {
    BootArguments {
        words: text.split_whitespace().take_while(|word| *word != "--").map(str::to_owned).collect(),
    }
}

impl BootArguments {
    /// The last value of an argument.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.words
            .iter()
            .rev()
            .find_map(|word| word.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value))
    }

    /// True if one of the comma-separated values of an argument is `wanted`.
    pub fn lists(&self, name: &str, wanted: &str) -> bool {
        let of = |word: &String| {
            word.split_once('=')
                .is_some_and(|(key, value)| key == name && value.split(',').any(|part| part == wanted))
        };
        self.words.iter().any(of)
    }

    /// All words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole_and_the_last_counts() {
        for (text, iommu, realloc, blacklist) in [
            ("ro iommu=pt pci=realloc=off", Some("pt"), true, false),
            ("myiommu=pthello amd_iommu=pt", None, false, false),
            ("iommu=pt iommu=soft pci=noats,realloc=off", Some("soft"), true, false),
            ("modprobe.blacklist=nouveau,amdgpu", None, false, true),
            ("quiet -- iommu=pt", None, false, false),
            ("", None, false, false),
        ] {
            let arguments = boot_arguments(text);
            assert_eq!(arguments.last("iommu"), iommu, "{text}");
            assert_eq!(arguments.lists("pci", "realloc=off"), realloc, "{text}");
            assert_eq!(arguments.lists("modprobe.blacklist", "amdgpu"), blacklist, "{text}");
        }
    }
}

//! Names of code objects: URIs, and the names of files that the debug agent saves them under.
//!
//! The saved name is lossy (`/a/b` and `/a_b` give one name), so a file is matched by the size and offset at
//! its end, never by undoing the rule.

/// A code object's URI.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CodeObjectUri {
    /// Original text.
    pub uri: String,
    /// Path of a `file://`, percent signs decoded.
    pub path: Option<String>,
    /// Offset in the file, or the address in the process.
    pub offset: Option<u64>,
    /// Size, bytes.
    pub size: Option<u64>,
}

impl CodeObjectUri {
    /// Reads `file://PATH#offset=N&size=N` or `memory://PID#offset=0xN&size=N`.
    pub fn parse(uri: &str) -> Option<CodeObjectUri> {
        let (scheme, rest) = uri.trim().split_once("://")?;
        if scheme != "file" && scheme != "memory" {
            return None;
        }
        let (path, fragment) = rest.split_once(['#', '?']).unwrap_or((rest, ""));
        let field = |name: &str| {
            let mut fields = fragment.split('&').filter_map(|it| it.split_once('='));
            fields.find(|(key, _)| *key == name).and_then(|(_, value)| number(value))
        };
        Some(CodeObjectUri {
            uri: uri.trim().to_owned(),
            path: (scheme == "file").then(|| decoded(path)),
            offset: field("offset"),
            size: field("size"),
        })
    }

    /// Whether a file of this name can be this code object, saved.
    pub fn may_be(&self, file_name: &str) -> bool {
        saved_name(&self.uri) == file_name
            || size_and_offset(file_name)
                .is_some_and(|(offset, size)| Some(offset) == self.offset && Some(size) == self.size)
    }
}

/// The file name under which the debug agent saves a code object.
pub fn saved_name(uri: &str) -> String {
    uri.chars().map(|c| if matches!(c, ':' | '/' | '#' | '?' | '&' | '=') { '_' } else { c }).collect()
}

/// Offset and size at the end of a saved name: `..._offset_4096_size_10`.
pub fn size_and_offset(file_name: &str) -> Option<(u64, u64)> {
    let (rest, size) = file_name.rsplit_once("_size_")?;
    let (_, offset) = rest.rsplit_once("_offset_")?;
    Some((number(offset)?, number(size)?))
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn decoded(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let hex = (*byte == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()) {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_saved_names() {
        let uri = "file:///opt/a%20b/lib%23x.so#offset=4096&size=10";
        let it = CodeObjectUri::parse(uri).unwrap();
        assert_eq!(
            (it.path.as_deref(), it.offset, it.size),
            (Some("/opt/a b/lib#x.so"), Some(4096), Some(10))
        );
        assert_eq!(saved_name(uri), "file____opt_a%20b_lib%23x.so_offset_4096_size_10");
        assert!(it.may_be("file____opt_a%20b_lib%23x.so_offset_4096_size_10"));
        assert!(it.may_be("renamed_offset_4096_size_10") && !it.may_be("x_offset_1_size_10"));
        let memory = CodeObjectUri::parse("memory://908#offset=0x55ac72058080&size=32648").unwrap();
        assert_eq!((memory.path, memory.offset, memory.size), (None, Some(0x55ac_7205_8080), Some(32648)));
        assert_eq!(
            size_and_offset("memory___908_offset_0x55ac72058080_size_32648"),
            Some((0x55ac_7205_8080, 32648))
        );
        assert!(CodeObjectUri::parse("http://x").is_none() && CodeObjectUri::parse("").is_none());
    }
}

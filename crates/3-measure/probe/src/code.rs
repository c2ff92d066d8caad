//! The code object that a kernel belongs to, kept with the recording.
//!
//! A recording stays readable after its program is rebuilt, because the folder has a copy of the executed
//! code, named by its hash.

use std::fmt;
use std::sync::OnceLock;
use workload::code_object_file;

/// Bytes of a code object; the hash is computed at its first use.
pub struct Code {
    bytes: Vec<u8>,
    hash: OnceLock<String>,
}

impl Code {
    /// A code object.
    pub fn new(bytes: Vec<u8>) -> Code {
        Code { bytes, hash: OnceLock::new() }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Hash of the bytes: FNV-1a, 64 bits, as 16 hexadecimal digits.
    pub fn hash(&self) -> &str {
        self.hash.get_or_init(|| {
            let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            format!("{:016x}", self.bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
        })
    }

    /// Name of its copy in the folder of a recording.
    pub fn file(&self) -> String {
        code_object_file(self.hash())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Code({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        for (bytes, hash) in
            [("", "cbf29ce484222325"), ("a", "af63dc4c8601ec8c"), ("foobar", "85944171f73967e8")]
        {
            assert_eq!(Code::new(bytes.as_bytes().to_vec()).hash(), hash);
        }
        assert_eq!(Code::new(Vec::new()).file(), "code_cbf29ce484222325.hsaco");
    }
}

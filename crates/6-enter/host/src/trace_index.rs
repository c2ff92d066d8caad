//! Indices of large traces in the user's cache folder, so that a second look at a trace does not read it
//! again.
//!
//! An index is used only for the very file it was made of: same path, size, time of change, and the same
//! bytes at its begin, middle and end. Whatever goes wrong with an index, the trace is read.

use crate::Contents;
use sorting::Sort;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use trace::Timeline;

/// Smaller files are read as fast as their index.
const LARGE: u64 = 32 << 20;
/// Bytes looked at in each part of a file.
const PART: usize = 1 << 16;
/// Indices kept.
const KEPT: usize = 16;
/// Ending of an index.
const ENDING: &str = "traceindex";

/// Path of a file's index, and the header it must begin with.
pub struct Place {
    path: PathBuf,
    stamp: Vec<u8>,
}

/// Location of a file's index; `None` for small files and without a cache folder.
pub fn place(file: &Path) -> Option<Place> {
    place_in(&folder()?, file)
}

/// The user's folder for what can be made again.
fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    base.is_absolute().then(|| base.join("rockhound"))
}

fn place_in(folder: &Path, file: &Path) -> Option<Place> {
    let metadata = std::fs::metadata(file).ok().filter(|it| it.is_file() && it.len() >= LARGE)?;
    let whole = std::fs::canonicalize(file).ok()?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    let mut hash = DefaultHasher::new();
    whole.hash(&mut hash);
    let path = folder.join(format!("{:016x}.{ENDING}", hash.finish()));
    let mut stamp =
        format!("{} {} {} {changed} ", env!("CARGO_PKG_VERSION"), whole.display(), metadata.len())
            .into_bytes();
    stamp.extend_from_slice(&parts(&whole, metadata.len())?.to_le_bytes());
    Some(Place { path, stamp })
}

/// A hash of the begin, the middle and the end of a file.
fn parts(path: &Path, length: u64) -> Option<u64> {
    let mut file = File::open(path).ok()?;
    let mut bytes = vec![0; PART];
    let mut hash = DefaultHasher::new();
    for from in [0, length / 2, length.saturating_sub(PART as u64)] {
        file.seek(SeekFrom::Start(from)).ok()?;
        let mut read = 0;
        while read < PART {
            match file.read(&mut bytes[read..]).ok()? {
                0 => break,
                count => read += count,
            }
        }
        bytes[..read].hash(&mut hash);
    }
    Some(hash.finish())
}

impl Place {
    /// The timeline of the index; `None` if no index matches this file.
    pub fn read(&self) -> Option<Timeline> {
        let contents = Contents::open(&self.path).ok()?;
        Timeline::from_index(contents.bytes().strip_prefix(self.stamp.as_slice())?)
    }

    /// Writes the index. A timeline whose trace was read only in part is not worth one; a folder that cannot
    /// be written is none.
    pub fn write(&self, timeline: &Timeline) {
        let whole = timeline.problems.iter().all(|it| it.kind != view::NoteKind::Error);
        let (true, Some(folder), Some(index)) = (whole, self.path.parent(), timeline.to_index()) else {
            return;
        };
        if std::fs::create_dir_all(folder).is_ok() {
            let _ = crate::tunings::replace(&self.path, &[self.stamp.as_slice(), &index].concat());
            keep_few(folder);
        }
    }
}

/// Removes the oldest indices beyond those kept.
fn keep_few(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut indices: Vec<_> = entries
        .flatten()
        .filter(|it| it.path().extension().is_some_and(|ending| ending == ENDING))
        .filter_map(|it| Some((it.metadata().ok()?.modified().ok()?, it.path())))
        .collect();
    indices.in_order();
    let old = indices.len().saturating_sub(KEPT);
    indices.into_iter().take(old).for_each(|(_, path)| drop(std::fs::remove_file(path)));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trace large enough for an index, with one kernel.
    fn made(name: &str) -> Vec<u8> {
        let mut text = format!(
            "{{\"traceEvents\": [{{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"{name}\", \"ts\": 1, \"dur\": 2, \"args\": {{\"device\": 0, \"stream\": 0}}}}],\n"
        );
        text.push_str(&" ".repeat(LARGE as usize));
        text.push_str("\"end\": 1}");
        text.into_bytes()
    }

    fn first(timeline: &Timeline) -> String {
        timeline.names.get(timeline.gpu.name[0]).to_owned()
    }

    #[test]
    fn an_index_serves_its_very_file() {
        let scratch = testkit::Scratch::new("trace-index");
        let cache = scratch.path("cache");
        let file = scratch.write("a.json", &made("copy"));
        let read = || trace::read("a.json", &mut File::open(&file).unwrap()).unwrap();
        let place = place_in(&cache, &file).unwrap();
        assert!(place.read().is_none(), "nothing is there yet");
        place.write(&read());
        assert_eq!(first(&place_in(&cache, &file).unwrap().read().unwrap()), "copy");
        // Another content of the same length and time is another file.
        let time = std::fs::metadata(&file).unwrap().modified().unwrap();
        std::fs::write(&file, made("fill")).unwrap();
        File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        assert!(place_in(&cache, &file).unwrap().read().is_none());
        place_in(&cache, &file).unwrap().write(&read());
        assert_eq!(first(&place_in(&cache, &file).unwrap().read().unwrap()), "fill");
        // Every damage is as if there were none.
        let place = place_in(&cache, &file).unwrap();
        let whole = std::fs::read(&place.path).unwrap();
        for end in [0, 10, place.stamp.len(), whole.len() - 1] {
            std::fs::write(&place.path, &whole[..end]).unwrap();
            assert!(place.read().is_none(), "{end}");
        }
        assert!(place_in(&cache, &scratch.write("small.json", b"{}")).is_none());
    }

    #[test]
    fn few_indices_are_kept() {
        let scratch = testkit::Scratch::new("trace-indices");
        for at in 0..KEPT + 3 {
            scratch.write(&format!("{at}.{ENDING}"), b"x");
        }
        scratch.write("other", b"x");
        keep_few(&scratch.path(""));
        assert_eq!(std::fs::read_dir(scratch.path("")).unwrap().count(), KEPT + 1);
    }
}

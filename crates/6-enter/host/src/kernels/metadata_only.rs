//! Code for targets without instruction tables, in a file that has no other: its metadata is read.

use super::companion::Companion;
use super::{Run, Watch, some};
use crate::Contents;
use crate::kernels::Judged;
use anyhow::Result;
use codeobj::{Kind, Target, Wanted};
use std::collections::BTreeSet;

impl<T: Send, W: Fn(Judged<'_, '_>) -> T + Sync, K: FnMut(T) -> Result<()>, P: Watch> Run<'_, T, W, K, P> {
    /// Reads the code that was passed over if `objects`, the code objects read, are none and no target was asked
    /// for. Returns the code objects read then, whose targets are not passed over any more.
    pub(super) fn metadata_only(
        &mut self,
        name: &str,
        contents: &Contents,
        companion: &Companion,
        objects: u64,
        passed: &mut BTreeSet<String>,
    ) -> Result<u64> {
        if objects > 0 || self.selection.explicit || self.selection.recorded.is_some() || passed.is_empty() {
            return Ok(0);
        }
        let wanted = Wanted::targets(passed.iter().filter_map(|it| Target::parse(it)).collect());
        let before = self.objects;
        // What cannot be read was reported at the first reading.
        let _ = match codeobj::recognise(contents.bytes()) {
            Some(Kind::Assembly) => self.text(name, contents.bytes(), companion, &wanted)?,
            _ => self.binary(name, contents, companion, &wanted)?,
        };
        let read = self.objects - before;
        if read > 0 {
            self.watch.say(&format!(
                "note: {name}: no instruction tables for {}: registers, memory and occupancy only",
                some(passed)
            ));
            passed.clear();
        }
        Ok(read)
    }
}

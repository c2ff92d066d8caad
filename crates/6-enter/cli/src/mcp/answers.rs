//! Documents of the latest answers, so that a second question can open what the first left out.

use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Arc;

/// Answers kept.
const KEPT: usize = 32;
/// Bytes of their documents as text, together.
const BYTES: usize = 256 << 20;

/// One answer.
#[derive(Clone)]
pub(super) struct Kept {
    /// `a1`, `a2`, …
    pub(super) id: String,
    pub(super) document: Arc<Value>,
    /// Bytes of the document as text.
    size: usize,
    /// The recording that it is about, of which all metrics can be opened.
    pub(super) recording: Option<Recording>,
    /// The metrics of the recording that were asked for, by the kernels selected.
    further: Vec<(Option<String>, Arc<Value>)>,
    /// Words by which `inspect` finds the code, whose listings can be opened.
    pub(super) code: Vec<String>,
}

/// A recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Recording {
    pub(super) path: String,
    /// Kernels selected: number, name or regular expression.
    pub(super) kernel: Option<String>,
}

impl Kept {
    /// The metrics of these kernels, if they were asked for.
    pub(super) fn further(&self, kernel: Option<&str>) -> Option<Arc<Value>> {
        self.further.iter().find(|it| it.0.as_deref() == kernel).map(|it| it.1.clone())
    }
}

/// The latest answers.
#[derive(Default)]
pub(super) struct Latest {
    kept: VecDeque<Kept>,
    count: usize,
}

impl Latest {
    /// Keeps a document with its size as text, and returns the answer's id. Old ones make room.
    pub(super) fn keep(
        &mut self,
        document: Arc<Value>,
        size: usize,
        recording: Option<Recording>,
        code: Vec<String>,
    ) -> String {
        self.count += 1;
        let id = format!("a{}", self.count);
        self.kept.push_back(Kept { id: id.clone(), document, size, recording, further: Vec::new(), code });
        self.make_room();
        id
    }

    /// Keeps metrics of the recording behind an answer.
    pub(super) fn extend(&mut self, id: &str, kernel: Option<&str>, further: Arc<Value>, size: usize) {
        if let Some(kept) = self.kept.iter_mut().find(|it| it.id == id) {
            kept.further.push((kernel.map(str::to_owned), further));
            kept.size += size;
        }
        self.make_room();
    }

    fn make_room(&mut self) {
        let size = |it: &VecDeque<Kept>| it.iter().map(|it| it.size).sum::<usize>();
        while self.kept.len() > 1 && (self.kept.len() > KEPT || size(&self.kept) > BYTES) {
            self.kept.pop_front();
        }
    }

    /// The answer that an id names, `a2/finding:…`, or all, the latest first, and the id without the answer.
    ///
    /// # Errors
    /// Says which answers there are.
    pub(super) fn find<'a>(&self, id: &'a str) -> Result<(Vec<Kept>, &'a str), String> {
        let named = id.split_once('/').filter(|(answer, _)| is_answer(answer));
        let is_meant = |it: &&Kept| named.is_none_or(|(answer, _)| it.id == answer);
        let found: Vec<Kept> = self.kept.iter().rev().filter(is_meant).cloned().collect();
        let rest = named.map_or(id, |it| it.1);
        let known = || match (self.kept.front(), self.kept.back()) {
            (Some(first), Some(last)) => format!("there are {} to {}", first.id, last.id),
            _ => "ask `inspect`, `profile`, `judge`, `guide`, `compare` or `triage` first".to_owned(),
        };
        if found.is_empty() {
            let answer = named.map_or("an earlier answer", |it| it.0);
            return Err(format!("{answer} is not kept; {}", known()));
        }
        Ok((found, rest))
    }
}

fn is_answer(text: &str) -> bool {
    text.strip_prefix('a').is_some_and(|it| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept_and_named() {
        let mut latest = Latest::default();
        assert!(latest.find("table:1").is_err());
        for at in 0..40 {
            latest.keep(Arc::new(at.into()), 10, None, Vec::new());
        }
        let found = |id: &str| latest.find(id).map(|(it, rest)| (it[0].document.as_i64(), rest.to_owned()));
        assert_eq!(found("table:1"), Ok((Some(39), "table:1".to_owned())));
        assert_eq!(found("a12/at:/x/y"), Ok((Some(11), "at:/x/y".to_owned())));
        assert_eq!(found("at:/x/y"), Ok((Some(39), "at:/x/y".to_owned())));
        let oldest = latest.find("a1/at:").map(|_| ()).unwrap_err();
        assert!(oldest.contains("a9") && oldest.contains("a40"), "{oldest}");
        latest.keep(Arc::new(Value::Null), BYTES, None, Vec::new());
        assert!(latest.find("a40/at:").is_err());
    }
}

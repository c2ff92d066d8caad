//! Types as written, each read once per module.

use crate::layout::Layout;
use crate::split::Aliases;
use crate::split::{closing, commas};
use crate::types::{Element, Tensor, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// The types met so far.
#[derive(Default)]
pub(super) struct Interner<'a> {
    pub(super) types: Vec<Type>,
    by_text: HashMap<&'a str, usize>,
    layouts: HashMap<&'a str, Option<Arc<Layout>>>,
}

impl<'a> Interner<'a> {
    /// Index of a type.
    pub(super) fn intern(&mut self, text: &'a str, aliases: &Aliases<'a>) -> usize {
        if let Some(&known) = self.by_text.get(text) {
            return known;
        }
        let ty = self.read(text, aliases);
        let index = self.add(ty);
        self.by_text.insert(text, index);
        index
    }

    /// Adds a type that the text does not spell out, and returns its index.
    pub(super) fn add(&mut self, ty: Type) -> usize {
        self.types.push(ty);
        self.types.len() - 1
    }

    fn read(&mut self, text: &'a str, aliases: &Aliases<'a>) -> Type {
        let text = aliases.get(text).copied().filter(|_| text.starts_with('!')).unwrap_or(text);
        let other = || Type::Other(text.to_owned());
        let (name, body) = match text.find('<') {
            Some(open) => (text.get(..open).unwrap_or_default(), inner(text.get(open..).unwrap_or_default())),
            None => (text, None),
        };
        match (name, body) {
            ("tensor", Some(body)) => self.shaped(body, aliases).map_or_else(other, Type::Tensor),
            ("!ttg.memdesc" | "!tt.memdesc" | "!triton_gpu.memdesc", Some(body)) => {
                self.shaped(body, aliases).map_or_else(other, Type::Memory)
            }
            ("!tt.ptr", Some(body)) => Type::Pointer(pointee(body)),
            // `buffer_load_to_local` writes pointer and buffer without their names.
            ("", Some(body)) if body.contains(',') => {
                self.shaped(body, aliases).map_or_else(other, Type::Memory)
            }
            ("", Some(body)) => Type::Pointer(pointee(body)),
            (_, None) => match scalar(text) {
                Some(element) => Type::Scalar(element),
                None => other(),
            },
            _ => other(),
        }
    }

    /// `128x64xf16, #layout, …`.
    fn shaped(&mut self, body: &'a str, aliases: &Aliases<'a>) -> Option<Tensor> {
        let mut parts = commas(body);
        let text = parts.next()?;
        let (shape, element) = extents(text)?;
        let layout = parts.next().and_then(|it| self.layout(it, aliases));
        Some(Tensor { shape, element, layout, text: text.to_owned() })
    }

    fn layout(&mut self, text: &'a str, aliases: &Aliases<'a>) -> Option<Arc<Layout>> {
        let read = || Layout::read(text, aliases).map(Arc::new);
        self.layouts.entry(text).or_insert_with(read).clone()
    }
}

/// Text inside the brackets at the beginning.
fn inner(text: &str) -> Option<&str> {
    text.get(1..closing(text)? - 1)
}

/// Extents and element of `64x1x!tt.ptr<f16>`.
fn extents(text: &str) -> Option<(Vec<u64>, Element)> {
    let mut shape = Vec::new();
    let mut rest = text;
    while let Some((extent, next)) = rest.split_once('x') {
        let Ok(extent) = extent.parse::<u64>() else { break };
        shape.push(extent);
        rest = next;
    }
    let element = match rest.strip_prefix("!tt.ptr") {
        Some(body) => pointee(inner(body)?),
        None => scalar(rest)?,
    };
    Some((shape, element))
}

fn pointee(body: &str) -> Element {
    let name = commas(body).next().unwrap_or_default();
    Element { name: name.to_owned(), pointer: true }
}

fn scalar(text: &str) -> Option<Element> {
    let word = !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    word.then(|| Element { name: text.to_owned(), pointer: false })
}

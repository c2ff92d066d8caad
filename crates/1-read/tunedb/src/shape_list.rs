//! Plain lists of matrix products: `M,N,K` or `M N K` or `MxNxK` on a line, then a batch, a transposition and
//! a type where they are known.
//!
//! Sizes are PyTorch's, as in AITER's tables: M is the number of rows of the first matrix.

use crate::error::Error;
use crate::format::Format;
use crate::lines::lines;
use crate::model::{FlawKind, GemmShape, Kind, Row, Said, Shape, Tunings};
use crate::types::element;
use std::borrow::Cow;
use std::collections::HashMap;

/// Number of lines examined to distinguish a list from other texts.
const HEAD: usize = 100;

/// One product of a list.
#[derive(PartialEq, Debug)]
struct Item<'a> {
    shape: Said<GemmShape>,
    layout: Option<&'a str>,
    types: Option<&'a str>,
}

/// The text of a line without its comment.
fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim()
}

/// A header names the sizes and no product.
fn is_header(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
    ["m", "n", "k"].iter().all(|name| words.next().is_some_and(|it| it.eq_ignore_ascii_case(name)))
}

fn item(text: &str) -> Option<Item<'_>> {
    let mut numbers = Vec::new();
    let (mut layout, mut types) = (None, None);
    for word in text.split([',', ';', ' ', '\t']).filter(|it| !it.is_empty()) {
        let sizes: Option<Vec<u64>> = word.split(['x', '*']).map(|it| it.parse().ok()).collect();
        match sizes {
            Some(sizes) => numbers.extend(sizes),
            None if word.len() == 2 && word.bytes().all(|it| b"nNtT".contains(&it)) => layout = Some(word),
            None if element(word).is_some() && types.is_none() => types = Some(word),
            None => return None,
        }
        if numbers.len() > 4 {
            return None;
        }
    }
    let (m, n, k, batch) = match *numbers {
        [m, n, k] => (m, n, k, 1),
        [m, n, k, batch] => (m, n, k, batch),
        _ => return None,
    };
    let shape = GemmShape::of_long([m, n, k, batch], None);
    [m, n, k, batch].iter().all(|it| *it > 0).then_some(Item { shape, layout, types })
}

/// Whether the first lines are products.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    let mut items = 0;
    for line in lines(bytes).take(HEAD) {
        let text = content(line.text);
        if text.is_empty() && !line.invalid || items == 0 && is_header(text) {
            continue;
        }
        item(text)?;
        items += 1;
    }
    (items > 0).then_some(Format::ShapeList)
}

/// Reads a list. A product that occurs again is one more call.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut tunings = Tunings::new(name, Format::ShapeList, bytes);
    let mut seen: HashMap<&'a str, usize> = HashMap::new();
    for line in lines(bytes) {
        tunings.bounded(line.number)?;
        let text = content(line.text);
        if text.is_empty() && !line.invalid || tunings.rows.is_empty() && is_header(text) {
            continue;
        }
        if let Some(at) = seen.get(text) {
            tunings.rows[*at].calls += 1;
            continue;
        }
        let Some(item) = item(text) else {
            tunings.bad_row(line.number, FlawKind::Malformed, format!("`{text}` is no product `M,N,K`"));
            continue;
        };
        let mut row = Row::new(line.number, line.span.clone(), Kind::Gemm, "gemm");
        row.key = Cow::Borrowed(text);
        row.shape = item.shape.map(Shape::Gemm);
        row.layout = item.layout.map(Cow::Borrowed).ok_or("the line names no transposition");
        row.types = item.types.map(Cow::Borrowed).ok_or("the line names no type");
        row.candidate = Err("a list of sizes has none");
        row.time_us = Err("a list of sizes has no times");
        seen.insert(text, tunings.rows.len());
        tunings.rows.push(row);
    }
    Ok(tunings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_every_spelling() {
        for (text, count, calls) in [
            ("4096,1024,7168\n", 1, 1),
            ("# of the model\nm n k\n4096 1024 7168\n4096 1024 7168\n8x16x32\n", 2, 2),
            ("m n k\n4096 1024 7168\n4096 1024 7168\n\n8x16x32 TN bf16 # last\n", 2, 2),
            ("M,N,K,batch\n1,2,3,4\n", 1, 1),
        ] {
            let found = recognize(text.as_bytes()).map(|_| read("list.txt", text.as_bytes()).unwrap());
            let rows = found.as_ref().map_or(&[][..], |it| &it.rows);
            assert_eq!(rows.len(), count, "{text}");
            assert_eq!(rows.first().map_or(0, |it| it.calls), calls, "{text}");
        }
        let row = &read("l", b"8x16x32 2 tn f16").unwrap().rows[0];
        assert_eq!(row.shape.as_ref().unwrap().to_string(), "8x16x32 batch 2");
        assert_eq!((row.layout.as_deref(), row.types.as_deref()), (Ok("tn"), Ok("f16")));
        for text in ["1,2\n", "1,2,3,4,5\n", "a,b,c\n", "1,2,0\n", "1,2,3 gemm\n", "\n"] {
            assert_eq!(recognize(text.as_bytes()), None, "{text}");
        }
    }
}

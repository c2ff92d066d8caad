//! Columns of numbers in an index: the bytes of all values, little-endian, which are read faster than values one by one.

use crate::names::Name;
use serde::de::{Error, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// A value of a column.
pub(crate) trait Cell: Sized {
    /// Bytes of a column.
    fn bytes(column: &[Self]) -> Vec<u8>;

    /// A column of these bytes; `None` if the last value is cut off.
    fn column(bytes: &[u8]) -> Option<Vec<Self>>;
}

macro_rules! cells {
    ($($cell:ty: $number:ty, $of:expr, $to:expr;)*) => {$(
        impl Cell for $cell {
            fn bytes(column: &[Self]) -> Vec<u8> {
                let mut bytes = vec![0; size_of::<$number>() * column.len()];
                let places = bytes.as_chunks_mut::<{ size_of::<$number>() }>().0;
                for (place, cell) in places.iter_mut().zip(column) {
                    *place = $to(*cell).to_le_bytes();
                }
                bytes
            }

            fn column(bytes: &[u8]) -> Option<Vec<Self>> {
                let (values, cut) = bytes.as_chunks::<{ size_of::<$number>() }>();
                cut.is_empty().then(|| values.iter().map(|it| $of(<$number>::from_le_bytes(*it))).collect())
            }
        }
    )*};
}

cells! {
    i64: i64, |it| it, |it: i64| it;
    u64: u64, |it| it, |it: u64| it;
    u32: u32, |it| it, |it: u32| it;
    Name: u32, Name, |it: Name| it.0;
}

pub(crate) fn serialize<T: Cell, S: Serializer>(column: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(&T::bytes(column))
}

pub(crate) fn deserialize<'de, T: Cell, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_bytes(Bytes(PhantomData))
}

/// Reads the bytes of a column.
struct Bytes<T>(PhantomData<T>);

impl<T: Cell> Visitor<'_> for Bytes<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the bytes of a column of numbers")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<T>, E> {
        T::column(bytes).ok_or_else(|| E::invalid_length(bytes.len(), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back_and_cut_ones_do_not() {
        let times = [i64::MIN, -1, 0, 7, i64::MAX];
        assert_eq!(i64::column(&i64::bytes(&times)).unwrap(), times);
        let names = [Name(0), Name(1), Name(u32::MAX)];
        assert_eq!(Name::column(&Name::bytes(&names)).unwrap(), names);
        assert!(u32::column(&[]).unwrap().is_empty());
        assert!(u64::column(&u64::bytes(&[3])[1..]).is_none());
    }
}

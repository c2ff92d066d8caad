//! Numbers of names. Rows of names are never removed, so a known number stays valid.

use super::blobs::{Digest, digest};
use super::statements::{inserted, placeholders};
use crate::engine::{Cell, Dialect, Statements};
use crate::error::StoreError;
use std::collections::{BTreeMap, HashMap};
use view::{KernelRun, StoredQuantity};

/// Most names of one statement.
const AT_ONCE: usize = 500;
/// Most names kept in memory.
const MOST: usize = 1 << 20;

/// A table of names, with its columns after `hash`.
struct NameTable {
    table: &'static str,
    columns: &'static [&'static str],
}

const KERNELS: NameTable = NameTable { table: "kernels", columns: &["name", "base_name"] };
const QUANTITIES: NameTable = NameTable { table: "quantities", columns: &["kind", "name", "unit"] };
const SETS: NameTable = NameTable { table: "quantity_sets", columns: &[] };
const MACHINES: NameTable = NameTable { table: "machines", columns: &["gpu", "facts"] };

/// Numbers by hash of the name and its table.
#[derive(Default)]
pub(super) struct Names(HashMap<Digest, i64>);

/// Hash of a kernel's name.
pub(super) fn kernel_hash(name: &str) -> Digest {
    digest([b"kernel", name.as_bytes()])
}

impl Names {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Numbers of kernels, in their order.
    pub(super) fn kernels(
        &mut self,
        statements: &mut dyn Statements,
        dialect: &Dialect,
        kernels: &[KernelRun],
    ) -> Result<Vec<i64>, StoreError> {
        let row = |it: &KernelRun| (kernel_hash(&it.name), vec![plain(&it.name), plain(&it.base_name)]);
        self.ids(statements, dialect, &KERNELS, kernels.iter().map(row).collect())
    }

    /// Number of a machine.
    pub(super) fn machine(
        &mut self,
        statements: &mut dyn Statements,
        dialect: &Dialect,
        gpu: Option<&str>,
        facts: &BTreeMap<String, String>,
    ) -> Result<i64, StoreError> {
        let text = facts_text(facts);
        let hash = digest([b"machine", gpu.unwrap_or_default().as_bytes(), text.as_bytes()]);
        let ids = self.ids(statements, dialect, &MACHINES, vec![(hash, vec![gpu.into(), text.into()])])?;
        Ok(ids[0])
    }

    /// Number of a set of quantities, with its members.
    pub(super) fn set(
        &mut self,
        statements: &mut dyn Statements,
        dialect: &Dialect,
        quantities: &[StoredQuantity],
    ) -> Result<i64, StoreError> {
        let rows: Vec<(Digest, Vec<Cell>)> = quantities
            .iter()
            .map(|it| {
                let parts = [it.kind.word(), it.name.as_str(), it.unit.as_str()];
                (digest(parts.map(str::as_bytes)), parts.map(plain).to_vec())
            })
            .collect();
        let hash = digest([b"set" as &[u8]].into_iter().chain(rows.iter().map(|(hash, _)| &hash[..])));
        // A set and its members are added in one transaction: where the set is known, its members are.
        if !self.0.contains_key(&hash) {
            self.look_up(statements, dialect, &SETS, &[hash])?;
        }
        if let Some(id) = self.0.get(&hash) {
            return Ok(*id);
        }
        let members = self.ids(statements, dialect, &QUANTITIES, rows)?;
        let set = self.ids(statements, dialect, &SETS, vec![(hash, Vec::new())])?[0];
        let rows: Vec<Vec<Cell>> = (0i64..)
            .zip(members)
            .map(|(position, quantity)| vec![set.into(), position.into(), quantity.into()])
            .collect();
        let begin = "INSERT INTO {s}quantity_set_members (quantity_set, position, quantity) VALUES ";
        inserted(statements, dialect, begin, &rows, " ON CONFLICT (quantity_set, position) DO NOTHING")?;
        Ok(set)
    }

    fn ids(
        &mut self,
        statements: &mut dyn Statements,
        dialect: &Dialect,
        table: &NameTable,
        rows: Vec<(Digest, Vec<Cell>)>,
    ) -> Result<Vec<i64>, StoreError> {
        if self.0.len() > MOST {
            self.0.clear();
        }
        // Processes add names in the order of hashes, so that two that add the same names cannot deadlock.
        let mut unknown: BTreeMap<Digest, &Vec<Cell>> = rows
            .iter()
            .filter(|(hash, _)| !self.0.contains_key(hash))
            .map(|(hash, row)| (*hash, row))
            .collect();
        self.look_up(statements, dialect, table, &unknown.keys().copied().collect::<Vec<_>>())?;
        unknown.retain(|hash, _| !self.0.contains_key(hash));
        if !unknown.is_empty() {
            let columns: String = table.columns.iter().map(|it| format!(", {it}")).collect();
            let begin = format!("INSERT INTO {{s}}{} (hash{columns}) VALUES ", table.table);
            let rows: Vec<Vec<Cell>> =
                unknown.iter().map(|(hash, row)| [&[Cell::from(&hash[..])], &row[..]].concat()).collect();
            inserted(statements, dialect, &begin, &rows, " ON CONFLICT (hash) DO NOTHING")?;
            self.look_up(statements, dialect, table, &unknown.keys().copied().collect::<Vec<_>>())?;
        }
        let found = |(hash, _): &(Digest, Vec<Cell>)| {
            let why = || format!("a name of `{}` is not there after it was added", table.table);
            self.0.get(hash).copied().ok_or_else(|| StoreError::Damaged { why: why() })
        };
        rows.iter().map(found).collect()
    }

    fn look_up(
        &mut self,
        statements: &mut dyn Statements,
        dialect: &Dialect,
        table: &NameTable,
        hashes: &[Digest],
    ) -> Result<(), StoreError> {
        for some in hashes.chunks(AT_ONCE) {
            let text = format!(
                "SELECT id, hash FROM {{s}}{} WHERE hash IN {}",
                table.table,
                placeholders(1, some.len())
            );
            let cells: Vec<Cell> = some.iter().map(|hash| Cell::from(&hash[..])).collect();
            for row in statements.rows(&dialect.sql(&text), &cells)? {
                if let [Cell::Integer(id), Cell::Bytes(hash)] = &row[..]
                    && let Ok(hash) = Digest::try_from(&hash[..])
                {
                    self.0.insert(hash, *id);
                }
            }
        }
        Ok(())
    }
}

/// A text without zero bytes, which PostgreSQL does not accept.
fn without_zero(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

pub(super) fn plain(text: &str) -> Cell {
    Cell::Text(without_zero(text))
}

/// Facts as an object of JSON.
fn facts_text(facts: &BTreeMap<String, String>) -> String {
    let facts: BTreeMap<String, String> =
        facts.iter().map(|(name, value)| (without_zero(name), without_zero(value))).collect();
    serde_json::to_string(&facts).unwrap_or_default()
}

/// Facts from their text.
pub(super) fn facts_of(text: &str) -> Option<BTreeMap<String, String>> {
    serde_json::from_str(text).ok()
}

//! What a page across shards costs.
//!
//! What it is: rows that all shards together have to send for a page by offset, which is shards x page x rows, beside a
//! page behind a key (keyset), which is shards x rows whatever its number. What it promises: exact integers. What it does
//! not: count rows that a shard reads and does not send. Cost: none. Source: founding article 004, 8.5.

use serde::Serialize;

/// Rows fetched for one page.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct PageCost {
    /// The page's number, from 1.
    pub page: u64,
    /// Rows that each shard sends for it by offset.
    pub offset_rows_each: u64,
    /// Rows that all shards send for it by offset.
    pub offset_rows: u64,
    /// Rows that all shards send for it by keyset.
    pub keyset_rows: u64,
}

impl PageCost {
    /// The cost of a page; `None` where it is beyond what a number holds.
    #[must_use]
    pub fn new(shards: u64, rows: u64, page: u64) -> Option<Self> {
        let offset_rows_each = page.checked_mul(rows)?;
        Some(Self {
            page,
            offset_rows_each,
            offset_rows: offset_rows_each.checked_mul(shards)?,
            keyset_rows: rows.checked_mul(shards)?,
        })
    }
}

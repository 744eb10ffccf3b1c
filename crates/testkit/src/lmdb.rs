//! Small LMDB files, for what reads such files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::{Path, PathBuf};

/// An LMDB file of one page of data, as the reference implementation writes it: two meta pages and one leaf.
///
/// # Panics
/// When the entries do not fit into one page, or the file cannot be written.
pub fn file(folder: &Path, name: &str, entries: &[(&str, &[u8])]) -> PathBuf {
    const PAGE: usize = 4096;
    let mut leaf = vec![0u8; PAGE];
    let mut sorted = entries.to_vec();
    sorted.sort_unstable();
    let mut upper = PAGE;
    for (index, (key, value)) in sorted.iter().enumerate() {
        let size = 8 + key.len() + value.len();
        upper -= size + size % 2;
        let node = &mut leaf[upper..];
        node[..2].copy_from_slice(&u16::try_from(value.len()).unwrap().to_le_bytes());
        node[6..8].copy_from_slice(&u16::try_from(key.len()).unwrap().to_le_bytes());
        node[8..8 + key.len()].copy_from_slice(key.as_bytes());
        node[8 + key.len()..size].copy_from_slice(value);
        leaf[16 + 2 * index..18 + 2 * index].copy_from_slice(&u16::try_from(upper).unwrap().to_le_bytes());
    }
    leaf[..8].copy_from_slice(&2u64.to_le_bytes());
    leaf[10..12].copy_from_slice(&0x02u16.to_le_bytes());
    leaf[12..14].copy_from_slice(&u16::try_from(16 + 2 * sorted.len()).unwrap().to_le_bytes());
    leaf[14..16].copy_from_slice(&u16::try_from(upper).unwrap().to_le_bytes());
    let mut bytes = meta(0, 0);
    bytes.extend(meta(1, sorted.len()));
    bytes.extend(leaf);
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A meta page; of the two, the one with the higher transaction counts.
fn meta(page: u8, entries: usize) -> Vec<u8> {
    let mut bytes = vec![0u8; 4096];
    bytes[0] = page;
    bytes[10] = 0x08;
    let mut put = |at: usize, value: u64, len: usize| {
        bytes[16 + at..16 + at + len].copy_from_slice(&value.to_le_bytes()[..len]);
    };
    put(0, 0xBEEF_C0DE, 4);
    put(4, 1, 4);
    put(16, 1 << 20, 8);
    // the free list: its page size, and no root
    put(24, 4096, 4);
    put(24 + 40, u64::MAX, 8);
    // the database: depth, leaves, entries and root
    let filled = u64::from(page) * u64::try_from(entries).unwrap();
    put(72 + 6, u64::from(filled > 0), 2);
    put(72 + 16, u64::from(filled > 0), 8);
    put(72 + 32, filled, 8);
    put(72 + 40, if filled > 0 { 2 } else { u64::MAX }, 8);
    put(120, 2, 8);
    put(128, u64::from(page), 8);
    bytes
}

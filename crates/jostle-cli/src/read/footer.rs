//! Checks the schema of a Parquet file before it is read. The crate `parquet` runs out of stack or memory if the schema
//! nests without end, or says that it has more columns than there are.

use ::parquet::file::reader::ChunkReader;
use anyhow::{Result, ensure};

use super::pages::{take, varint};

/// Most groups within each other.
const DEPTH_MOST: usize = 100;

/// Most lists and structures within each other that are passed over.
const SKIPPED_MOST: usize = 64;

/// Refuses a file whose schema cannot be read. The crate reports all other faults.
pub(super) fn check(file: &impl ChunkReader) -> Result<()> {
    let children = footer(file).map_or_else(Vec::new, |footer| schema(&footer));
    // For each open group, how many of its children are still to come.
    let mut open = Vec::new();
    for &count in &children {
        ensure!(count <= children.len(), "damaged: a group of more columns than the file has");
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        open.push(count);
        while open.pop_if(|left| *left == 0).is_some() {}
        ensure!(open.len() <= DEPTH_MOST, "damaged: groups within more than {DEPTH_MOST} groups");
    }
    Ok(())
}

/// Returns the footer, which stands at the end of a file, before its length and a mark.
fn footer(file: &impl ChunkReader) -> Option<::bytes::Bytes> {
    let end = file.len().checked_sub(8)?;
    let length = u32::from_le_bytes(*file.get_bytes(end, 8).ok()?.first_chunk()?);
    file.get_bytes(end.checked_sub(length.into())?, length as usize).ok()
}

/// Returns how many children each element of the schema has, in order, as far as that can be told. The kinds of known
/// fields are not looked at, nor does the crate look at them.
fn schema(mut footer: &[u8]) -> Vec<usize> {
    let mut children = Vec::new();
    let _whole = fields(&mut footer, &mut |id, kind, bytes| {
        if id != 2 {
            return skip(bytes, kind, 0);
        }
        for _ in 0..list(bytes)?.0 {
            let mut count = 0;
            fields(bytes, &mut |id, kind, bytes| {
                if id != 5 {
                    return skip(bytes, kind, 0);
                }
                count = usize::try_from(signed(bytes)?).unwrap_or(0);
                Some(())
            })?;
            children.push(count);
        }
        Some(())
    });
    children
}

/// Takes the bytes of a field, given by its number and kind.
type Field<'a> = dyn FnMut(i16, u8, &mut &[u8]) -> Option<()> + 'a;

/// Visits the fields of a structure (Thrift's compact protocol).
fn fields(bytes: &mut &[u8], visit: &mut Field<'_>) -> Option<()> {
    let mut id = 0_i16;
    loop {
        let header = *bytes.split_off_first()?;
        if header & 15 == 0 {
            return Some(());
        }
        id = if header >> 4 == 0 { signed(bytes)? as i16 } else { id.wrapping_add((header >> 4).into()) };
        visit(id, header & 15, bytes)?;
    }
}

/// Passes over a value of some kind.
fn skip(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    match kind {
        1 | 2 => Some(()),
        3 => take(bytes, 1).ok().map(drop),
        4..=6 => varint(bytes).ok().map(drop),
        7 => take(bytes, 8).ok().map(drop),
        8 => {
            let length = varint(bytes).ok()?;
            take(bytes, usize::try_from(length).ok()?).ok().map(drop)
        }
        9 | 10 if depth < SKIPPED_MOST => {
            let (count, kind) = list(bytes)?;
            // The crate, too, reads truth values in a list as no bytes.
            if kind < 3 { Some(()) } else { (0..count).try_for_each(|_| skip(bytes, kind, depth + 1)) }
        }
        11 if depth < SKIPPED_MOST => {
            let count = varint(bytes).ok()?;
            let kinds = if count > 0 { *bytes.split_off_first()? } else { 0 };
            if kinds >> 4 < 3 && kinds & 15 < 3 {
                return Some(());
            }
            (0..count).try_for_each(|_| {
                skip(bytes, kinds >> 4, depth + 1)?;
                skip(bytes, kinds & 15, depth + 1)
            })
        }
        12 if depth < SKIPPED_MOST => fields(bytes, &mut |_, kind, bytes| skip(bytes, kind, depth + 1)),
        _ => None,
    }
}

/// The number of elements of a list, and their kind.
fn list(bytes: &mut &[u8]) -> Option<(u64, u8)> {
    let header = *bytes.split_off_first()?;
    let count = if header >> 4 == 15 { varint(bytes).ok()? } else { u64::from(header >> 4) };
    Some((count, header & 15))
}

/// A number whose lowest bit is its sign.
fn signed(bytes: &mut &[u8]) -> Option<i64> {
    varint(bytes).ok().map(|number| (number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::{DEPTH_MOST, check, schema};

    const COLUMN: &[u8] = b"\x15\x02\x25\x00\x18\x01x\x00";

    /// Makes a file of so many groups, each within the one before, and columns. Its root says that it has `first`
    /// children.
    fn file(groups: usize, first: &[u8]) -> bytes::Bytes {
        // The root, the groups and 127 columns: a number of two bytes.
        let mut footer = [b"\x15\x02\x19\xFC", &[groups as u8 & 127 | 128, (groups >> 7) as u8 + 1][..]].concat();
        footer.extend([b"\x48\x01m\x15", first, b"\0"].concat());
        footer.extend(b"\x35\x00\x18\x01g\x15\x02\x00".repeat(groups));
        footer.extend(COLUMN.repeat(127));
        footer.extend(b"\x16\x00\x19\x0C\x00");
        let length = (footer.len() as u32).to_le_bytes();
        [b"PAR1", &footer[..], &length, b"PAR1"].concat().into()
    }

    #[test]
    fn schemas_without_end_are_refused() {
        let told = |groups, first: &[u8]| check(&file(groups, first)).map_err(|error| error.to_string());
        let children = schema(&file(3, b"\x02")[4..]);
        assert_eq!((children.len(), &children[..5]), (131, &[1, 1, 1, 1, 0][..]));
        assert_eq!(told(DEPTH_MOST - 1, b"\x02"), Ok(()));
        let deep = format!("damaged: groups within more than {DEPTH_MOST} groups");
        assert_eq!([told(DEPTH_MOST, b"\x02"), told(3_000, b"\x02")], [Err(deep.clone()), Err(deep)]);
        let many = "damaged: a group of more columns than the file has".to_owned();
        assert_eq!(told(3, b"\xFE\xFF\xFF\xFF\x0F"), Err(many));
        // Damage that cannot be told is left to the crate.
        let whole = file(3, b"\x02");
        for length in 0..whole.len() {
            assert!(check(&whole.slice(..length)).is_ok());
        }
    }
}

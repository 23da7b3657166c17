//! Pages of a set of projects in an order that does not depend on a query.

use std::hash::Hasher;

use lexical::{Fnv, OrdinalSet};
use schemas::picture::Colour;

use super::MAX_PAGE_SIZE;
use super::browse::NewestPage;
use super::columns::chunk::{Chunk, LAST_YEAR};
use super::columns::oklab::{self, Oklab};
use super::cursor::{Cursor, InvalidCursor};
use super::order::{Day, SortKey};
use super::snapshot::Snapshot;

/// Projects to which a list is restricted.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// Their ordinals.
    pub set: &'a OrdinalSet,
    /// A hash of what the set was made from: cursors belong to it.
    pub fingerprint: u64,
}

/// An order of projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// By the day of publication, else of selection, else of the first event, the newest first; within a day the last selected first.
    Newest,
    /// The reverse of [`Order::Newest`].
    Oldest,
    /// By the folded name, then by the order of creation.
    Name,
    /// By the year, the first year first, those without one last; within a year as [`Order::Newest`].
    YearAscending,
    /// By the year, the last year first, those without one last; within a year as [`Order::Newest`].
    YearDescending,
    /// By the distance of the nearest colour of the palettes to one of these colours, then the last selected first. Projects without a
    /// colour near to them are last.
    Nearest(Vec<Colour>),
}

impl Order {
    /// Returns whether it is an order of years.
    pub fn is_by_year(&self) -> bool {
        matches!(self, Order::YearAscending | Order::YearDescending)
    }

    fn code(&self) -> u8 {
        match self {
            Order::Newest => 1,
            Order::Oldest => 2,
            Order::Name => 3,
            Order::Nearest(_) => 4,
            Order::YearAscending => 5,
            Order::YearDescending => 6,
        }
    }
}

/// What is sorted after every year.
const LAST: u16 = u16::MAX;

/// What projects are sorted by, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    /// In the orders of years; 0 in the others.
    year: u16,
    primary: u32,
    name: &'a str,
    tie: u64,
}

/// A project of a page.
struct Found<'a> {
    key: Key<'a>,
    ordinal: u64,
}

/// Returns a page of the projects of a selection.
pub(super) fn page(
    snapshot: &Snapshot,
    selection: Selection<'_>,
    order: &Order,
    limit: usize,
    after: Option<Cursor>,
) -> Result<NewestPage, InvalidCursor> {
    let fingerprint = list_fingerprint(selection.fingerprint, order);
    let after = Cursor::check(after, fingerprint)?;
    let limit = limit.clamp(1, MAX_PAGE_SIZE);
    let wanted: Vec<Oklab> = match order {
        Order::Nearest(colours) => colours.iter().map(|Colour(rgb)| Oklab::of(*rgb)).collect(),
        Order::Newest | Order::Oldest | Order::Name | Order::YearAscending | Order::YearDescending => {
            Vec::new()
        }
    };
    let is_by_year = order.is_by_year();
    let last = after.as_ref().map(|cursor| {
        let SortKey { day, slug, ordinal } = cursor.sort_key();
        let primary = u32::from_be_bytes(day.to_bytes());
        match is_by_year {
            // A cursor of this list has a number there.
            true => Key { year: slug.parse().unwrap_or(LAST), primary, name: "", tie: ordinal },
            false => Key { year: 0, primary, name: slug, tie: ordinal },
        }
    });
    let mut best: Vec<Found<'_>> = Vec::with_capacity(limit + 1);
    let mut total = 0;
    for chunk in snapshot.columns.chunks() {
        chunk.for_each_in(selection.set, |row| {
            total += 1;
            let key = key(chunk, row, order, &wanted);
            let is_too_late = best.len() > limit && best.last().is_some_and(|worst| worst.key <= key);
            if is_too_late || last.is_some_and(|last| key <= last) {
                return;
            }
            let at = best.partition_point(|other| other.key < key);
            best.insert(at, Found { key, ordinal: chunk.ordinal(row) });
            best.truncate(limit + 1);
        });
    }
    let has_more = best.len() > limit;
    best.truncate(limit);
    let next = best.last().filter(|_| has_more).map(|last| {
        let Key { year, primary, name, tie } = last.key;
        let year = is_by_year.then(|| year.to_string());
        let slug = year.as_deref().unwrap_or(name);
        Cursor::new(
            fingerprint,
            0,
            SortKey { day: Day::from_bytes(primary.to_be_bytes()), slug, ordinal: tie },
        )
    });
    Ok(NewestPage { ordinals: best.iter().map(|found| found.ordinal).collect(), total, next })
}

fn key<'a>(chunk: &'a Chunk, row: usize, order: &Order, wanted: &[Oklab]) -> Key<'a> {
    let ordinal = chunk.ordinal(row);
    // Shifted, so that days before 1970 stay before the others.
    let day = || chunk.newest(row).cast_unsigned() ^ 1 << 31;
    let newest =
        |year: Option<u16>| Key { year: year.unwrap_or(LAST), primary: !day(), name: "", tie: !ordinal };
    match order {
        Order::Newest => newest(Some(0)),
        Order::Oldest => Key { year: 0, primary: day(), name: "", tie: ordinal },
        Order::Name => Key { year: 0, primary: 0, name: chunk.name(row), tie: ordinal },
        Order::YearAscending => newest(chunk.year(row)),
        Order::YearDescending => newest(chunk.year(row).map(|year| LAST_YEAR - year)),
        Order::Nearest(_) => {
            let distance = oklab::nearest(chunk.palette(row), wanted).unwrap_or(u32::MAX);
            Key { year: 0, primary: distance, name: "", tie: !ordinal }
        }
    }
}

fn list_fingerprint(set: u64, order: &Order) -> u64 {
    let mut hash = Fnv::default();
    hash.write(b"sorted");
    hash.write(&[order.code()]);
    hash.write(&set.to_be_bytes());
    if let Order::Nearest(colours) = order {
        colours.iter().for_each(|Colour(rgb)| hash.write(rgb));
    }
    hash.finish()
}

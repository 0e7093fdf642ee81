//! What is kept of every request and of every interval of garbage collection: one row each.
//!
//! ```text
//! requests        request, arrival_ns, finish_ns, response_ns, operation, offset, length,
//!                 the parts of blame in ns, and among them gc_affected, gc_member, met_gc
//! gc_intervals    device, start_ns, end_ns
//! ```
//!
//! Files (`--parquet`) and tables in memory (Python) have the same columns because both take them from here. A row is
//! plain integers, which each of them stores as the column's [`Kind`] says.

use harmonia_types::{Completion, Counters, DeviceId, Operation, SimTime};

use crate::blame::BlameSum;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A signed integer of 64 bits.
    Integer,
    /// An integer below 2^64.
    Unsigned,
    /// An integer, or null, which rows have as [`NULL`].
    Optional,
    /// 0 or 1.
    Flag,
    /// An index into [`OPERATIONS`].
    Operation,
    /// Text; in no row, but in front of them where several runs share a table.
    Text,
}

/// What a row has where an optional column has nothing.
pub const NULL: i64 = -1;

/// Names of operations, by the number that a row has.
pub const OPERATIONS: [&str; 4] = ["read", "write", "trim", "flush"];

/// A kind of rows.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    /// What the table is called.
    pub name: &'static str,
    /// The file of `--parquet` that has it.
    pub file: &'static str,
    /// Names and kinds of its columns.
    pub columns: &'static [(&'static str, Kind)],
}

/// What tables of several runs have in front of each run's own columns.
pub const OF_RUN: [(&str, Kind); 2] = [("run", Kind::Text), ("seed", Kind::Unsigned)];

/// Every measured request.
pub const REQUESTS: Rows = Rows {
    name: "requests",
    file: "requests.parquet",
    columns: &in_order(
        [
            ("request", Kind::Integer),
            ("arrival_ns", Kind::Integer),
            ("finish_ns", Kind::Integer),
            ("response_ns", Kind::Integer),
            ("operation", Kind::Operation),
            ("offset", Kind::Unsigned),
            ("length", Kind::Unsigned),
        ],
        PARTS,
        [("gc_affected", Kind::Flag), ("gc_member", Kind::Optional), ("met_gc", Kind::Flag)],
    ),
};

/// Columns with the parts of blame.
const PARTS: [(&str, Kind); BlameSum::TABLE.len()] = {
    let (mut columns, mut part) = ([("", Kind::Integer); BlameSum::TABLE.len()], 0);
    while part < columns.len() {
        columns[part].0 = BlameSum::TABLE[part].column;
        part += 1;
    }
    columns
};

/// Places the parts behind what comes first. Each of the others stands behind the parts that there were when it was added.
const fn in_order<T: Copy>(
    first: [T; 7],
    parts: [T; BlameSum::TABLE.len()],
    others: [T; 3],
) -> [T; BlameSum::TABLE.len() + 10] {
    const BEFORE: [usize; 3] = [7, 8, 11];
    let mut row = [first[0]; BlameSum::TABLE.len() + 10];
    let (mut place, mut part, mut other) = (0, 0, 0);
    while place < row.len() {
        row[place] = if place < first.len() {
            first[place]
        } else if other < others.len() && part == BEFORE[other] {
            other += 1;
            others[other - 1]
        } else {
            part += 1;
            parts[part - 1]
        };
        place += 1;
    }
    row
}

/// Every interval in which a member collected.
pub const GC_INTERVALS: Rows = Rows {
    name: "gc_intervals",
    file: "gc_intervals.parquet",
    columns: &[("device", Kind::Integer), ("start_ns", Kind::Integer), ("end_ns", Kind::Integer)],
};

/// Puts a row at the end of its columns.
///
/// # Panics
/// If it has more values than there are columns.
pub fn append(columns: &mut [Vec<i64>], row: &[i64]) {
    for (number, value) in row.iter().enumerate() {
        columns[number].push(*value);
    }
}

/// The row of a request, in the order of [`REQUESTS`].
pub fn request(completion: &Completion) -> [i64; REQUESTS.columns.len()] {
    let operation = match completion.operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Trim => 2,
        Operation::Flush => 3,
    };
    let member = completion.gc_wait.map_or(NULL, |wait| wait.member.0.into());
    let (arrival, finish) = (completion.arrival.0, completion.finish.0);
    let response = completion.response().as_ns();
    // No part is longer than the response.
    let parts = BlameSum::of(&completion.blame).parts().map(|ns| ns as u64);
    let row = in_order(
        [completion.id, arrival, finish, response, operation, completion.offset, completion.length],
        parts,
        [u64::from(completion.is_gc_affected()), member.cast_unsigned(), u64::from(completion.met_gc)],
    );
    row.map(u64::cast_signed)
}

/// The row of an interval of garbage collection, in the order of [`GC_INTERVALS`].
pub fn gc_interval(member: DeviceId, start: SimTime, end: SimTime) -> [i64; GC_INTERVALS.columns.len()] {
    [u64::from(member.0), start.0, end.0].map(u64::cast_signed)
}

#[cfg(test)]
mod tests {
    use harmonia_types::{GcWait, RequestBlame};

    use super::*;
    use crate::blame::tests::every_part;

    /// A degraded write that waited for everything there is.
    fn completion(gc_wait: Option<GcWait>) -> Completion {
        let blame = every_part();
        Completion {
            id: 7,
            operation: Operation::Write,
            offset: 4096,
            length: 512,
            arrival: SimTime(1_000),
            finish: SimTime(1_000 + blame.total()),
            blame,
            met_gc: false,
            gc_wait,
        }
    }

    fn value(row: &[i64], name: &str) -> i64 {
        row[REQUESTS.columns.iter().position(|(column, _)| *column == name).expect("a column")]
    }

    #[test]
    fn each_part_stands_in_its_column_and_all_sum_to_the_response() {
        let done = completion(Some(GcWait { member: DeviceId(3), ns: 200 }));
        let row = request(&done);
        let parts = BlameSum::of(&done.blame).parts();
        let told = BlameSum::TABLE.iter().map(|part| value(&row, part.column)).collect::<Vec<_>>();
        assert_eq!(told, parts.map(|ns| ns as i64));
        assert_eq!(told.iter().sum::<i64>(), value(&row, "response_ns"));
        let others = ["gc_affected", "met_gc", "gc_member", "length"].map(|name| value(&row, name));
        assert_eq!(others, [1, 0, 3, 512]);
        let calm = Completion { met_gc: true, blame: RequestBlame::NONE, ..completion(None) };
        let calm = request(&Completion { finish: calm.arrival, ..calm });
        let flags = ["gc_affected", "met_gc"].map(|name| value(&calm, name));
        assert_eq!(flags, [0, 1], "it met a collection and did not wait");
    }

    #[test]
    fn who_waited_for_no_collection_has_no_member() {
        assert_eq!(value(&request(&completion(None)), "gc_member"), NULL);
    }

    /// Readers by position find what they found before there were more parts.
    #[test]
    fn columns_stay_where_they_were() {
        let names = REQUESTS.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        assert_eq!(
            names[..21],
            [
                "request",
                "arrival_ns",
                "finish_ns",
                "response_ns",
                "operation",
                "offset",
                "length",
                "service_ns",
                "transfer_ns",
                "queue_host_ns",
                "queue_gc_ns",
                "parity_ns",
                "reconstruct_ns",
                "link_ns",
                "gc_affected",
                "stripe_wait_ns",
                "gc_member",
                "queue_rebuild_ns",
                "restart_ns",
                "depth_wait_ns",
                "met_gc",
            ]
        );
    }
}

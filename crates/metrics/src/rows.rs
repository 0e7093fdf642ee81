//! What is kept of every request and of every interval of garbage collection: one row each.
//!
//! ```text
//! requests        request, arrival_ns, finish_ns, response_ns, operation, offset, length,
//!                 the parts of blame in ns, gc_affected, stripe_wait_ns, gc_member,
//!                 queue_rebuild_ns, restart_ns, depth_wait_ns, met_gc
//! gc_intervals    device, start_ns, end_ns
//! ```
//!
//! Files (`--parquet`) and tables in memory (Python) have the same columns because both take them from here. A row is
//! plain integers, which each of them stores as the column's [`Kind`] says.

use harmonia_types::{Completion, DeviceId, Operation, SimTime};

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
    columns: &[
        ("request", Kind::Integer),
        ("arrival_ns", Kind::Integer),
        ("finish_ns", Kind::Integer),
        ("response_ns", Kind::Integer),
        ("operation", Kind::Operation),
        ("offset", Kind::Unsigned),
        ("length", Kind::Unsigned),
        ("service_ns", Kind::Integer),
        ("transfer_ns", Kind::Integer),
        ("queue_host_ns", Kind::Integer),
        ("queue_gc_ns", Kind::Integer),
        ("parity_ns", Kind::Integer),
        ("reconstruct_ns", Kind::Integer),
        ("link_ns", Kind::Integer),
        ("gc_affected", Kind::Flag),
        ("stripe_wait_ns", Kind::Integer),
        ("gc_member", Kind::Optional),
        ("queue_rebuild_ns", Kind::Integer),
        ("restart_ns", Kind::Integer),
        ("depth_wait_ns", Kind::Integer),
        ("met_gc", Kind::Flag),
    ],
};

/// Every interval in which a member collected.
pub const GC_INTERVALS: Rows = Rows {
    name: "gc_intervals",
    file: "gc_intervals.parquet",
    columns: &[("device", Kind::Integer), ("start_ns", Kind::Integer), ("end_ns", Kind::Integer)],
};

/// The row of a request, in the order of [`REQUESTS`].
pub fn request(completion: &Completion) -> [i64; REQUESTS.columns.len()] {
    let blame = &completion.blame;
    let operation = match completion.operation {
        Operation::Read => 0,
        Operation::Write => 1,
        Operation::Trim => 2,
        Operation::Flush => 3,
    };
    let member = completion.gc_wait.map_or(NULL, |wait| wait.member.0.into());
    let row = [
        completion.id,
        completion.arrival.0,
        completion.finish.0,
        completion.response().as_ns(),
        operation,
        completion.offset,
        completion.length,
        blame.data.service,
        blame.data.transfer,
        blame.data.queue_host,
        blame.queue_gc(),
        blame.parity.without_gc_and_rebuild(),
        blame.reconstruct.without_gc_and_rebuild(),
        blame.data.link,
        u64::from(completion.is_gc_affected()),
        blame.stripe_wait,
        member.cast_unsigned(),
        blame.queue_rebuild(),
        blame.restart,
        blame.depth_wait,
        u64::from(completion.met_gc),
    ];
    row.map(u64::cast_signed)
}

/// The row of an interval of garbage collection, in the order of [`GC_INTERVALS`].
pub fn gc_interval(member: DeviceId, start: SimTime, end: SimTime) -> [i64; GC_INTERVALS.columns.len()] {
    [u64::from(member.0), start.0, end.0].map(u64::cast_signed)
}

#[cfg(test)]
mod tests {
    use harmonia_types::{Blame, GcWait, RequestBlame};

    use super::*;

    /// A degraded write that waited for everything there is.
    fn completion(gc_wait: Option<GcWait>) -> Completion {
        let blame = RequestBlame {
            data: Blame {
                service: 1,
                transfer: 2,
                queue_host: 4,
                queue_gc: 8,
                queue_rebuild: 1_024,
                link: 16,
            },
            parity: Blame { service: 32, queue_gc: 64, queue_rebuild: 2_048, ..Blame::default() },
            reconstruct: Blame { transfer: 128, queue_gc: 256, ..Blame::default() },
            stripe_wait: 512,
            restart: 4_096,
            depth_wait: 8_192,
        };
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

    #[test]
    fn each_part_stands_in_its_column_and_all_sum_to_the_response() {
        let row = request(&completion(Some(GcWait { member: DeviceId(3), ns: 200 })));
        let value = |name: &str| {
            let column = REQUESTS.columns.iter().position(|(column, _)| *column == name);
            row[column.expect("a column")]
        };
        let parts = [
            ("service_ns", 1),
            ("transfer_ns", 2),
            ("queue_host_ns", 4),
            ("queue_gc_ns", 8 + 64 + 256),
            ("parity_ns", 32),
            ("reconstruct_ns", 128),
            ("link_ns", 16),
            ("stripe_wait_ns", 512),
            ("queue_rebuild_ns", 1_024 + 2_048),
            ("restart_ns", 4_096),
            ("depth_wait_ns", 8_192),
        ];
        assert_eq!(parts.map(|(name, _)| value(name)), parts.map(|(_, expected)| expected));
        assert_eq!(parts.map(|(name, _)| value(name)).iter().sum::<i64>(), value("response_ns"));
        assert_eq!((value("gc_affected"), value("met_gc"), value("gc_member")), (1, 0, 3));
        let calm = Completion { met_gc: true, blame: RequestBlame::default(), ..completion(None) };
        let calm = request(&Completion { finish: calm.arrival, ..calm });
        let flag =
            |name: &str| calm[REQUESTS.columns.iter().position(|(of, _)| *of == name).expect("a column")];
        assert_eq!((flag("gc_affected"), flag("met_gc")), (0, 1), "it met a collection and did not wait");
    }

    #[test]
    fn who_waited_for_no_collection_has_no_member() {
        let member = REQUESTS.columns.iter().position(|(column, _)| *column == "gc_member");
        assert_eq!(request(&completion(None))[member.expect("a column")], NULL);
    }
}

//! What an array counts, and reports as it is.

crate::counters! {
    /// The report's `array.redundancy`: what parity and copies make of writes. A row is the same 4 KiB of every member (one page
    /// where pages are larger), the piece in which parity is made.
    pub struct RedundancyCounters {
        /// Writes and discards that waited because another one held one of their rows.
        pub stripe_waits: u64 = Sum, "count";
        /// Rows whose new parity was made from the old data and the old parity.
        pub rows_read_modify_write: u64 = Sum, "rows";
        /// Rows whose new parity was made from the units that were not written, read for it.
        pub rows_reconstruct_write: u64 = Sum, "rows";
        /// Rows written as a whole, whose parity needs no reads.
        pub rows_full: u64 = Sum, "rows";
        /// Length of what was read so that parity could be made.
        pub pre_read_bytes: u64 = Sum, "bytes";
        /// Pages programmed for further copies of what the host wrote; `host_pages_written` counts one.
        pub copy_pages_written: u64 = Sum, "pages";
        /// Length of the parts of discards that covered a stripe in part and were ignored.
        pub trims_ignored_bytes: u64 = Sum, "bytes";
    }

    /// The report's `array.stripe_cache`: what the stripe cache saved, and who waited for it.
    pub struct CacheCounters {
        /// Entries, each a row of all members.
        pub entries: u64 = Latest, "rows";
        /// Most entries in use at a time since the run began, warm-up included.
        pub high_water: u64 = Peak, "rows";
        /// Units that writes did not have to read first, counted row by row.
        pub hits: u64 = Sum, "rows of a member";
        /// Writes that became part of another one.
        pub merged: u64 = Sum, "count";
        /// Rows that became full stripes by that.
        pub rows_filled: u64 = Sum, "rows";
        /// Writes that were put off because others read first.
        pub delays: u64 = Sum, "count";
        /// Writes that waited because all entries were in use.
        pub entry_waits: u64 = Sum, "count";
    }

    /// The report's `array.reconstruct`: reads that do without members that collect.
    pub struct ReadCounters {
        /// Pages read from another copy, or rebuilt from the other members.
        pub rebuilt_pages: u64 = Sum, "pages";
        /// Pages read from other members for that.
        pub extra_pages: u64 = Sum, "pages";
        /// Rows read while none, one, two, three or more of their members collected.
        pub rows_by_busy_members: [u64; 4] = Sum, "rows";
        /// Reads sent a second way because the first took too long.
        pub hedges: u64 = Sum, "count";
        /// Those of them that were answered first.
        pub hedges_won: u64 = Sum, "count";
        /// Pages that waited for a member that collected although their read was to avoid it.
        pub waited_pages: u64 = Sum, "pages";
    }

    /// The report's `array.bounds`: page operations of reads and writes, beside the most that a scheme promises for them. A read
    /// that goes around nobody is one operation. Any other request is one for each stripe that it covers in part, and one for all whole
    /// ones behind one another. A page is a row of a member.
    pub struct BoundCounters {
        /// Operations for which the scheme promises a bound.
        pub promised: u64 = Sum, "count";
        /// Those of them that took as many page operations as that allows.
        pub reached: u64 = Sum, "count";
        /// Those that took more.
        pub exceeded: u64 = Sum, "count";
        /// Most pages that a read which holds its rows takes for each of them: of several rows the mean, rounded up. Since the run
        /// began, warm-up included.
        pub most_pages_of_read: u64 = Peak, "pages";
        /// The same of one that writes: pages read and written.
        pub most_pages_of_write: u64 = Peak, "pages";
    }

    /// The report's `array.nvram`: writes parked for members that collect.
    pub struct NvramCounters {
        /// What it holds.
        pub size_bytes: u64 = Latest, "bytes";
        /// Pages parked in it.
        pub parked_pages: u64 = Sum, "pages";
        /// The most it ever held at once, warm-up included.
        pub high_water_bytes: u64 = Peak, "bytes";
        /// Writes that waited because it was full.
        pub full_waits: u64 = Sum, "count";
        /// Pages written to their member later.
        pub destaged_pages: u64 = Sum, "pages";
        /// Pages dropped because the host wrote them again while they were parked.
        pub superseded_pages: u64 = Sum, "pages";
        /// Pages that reads were answered with from it.
        pub answered_pages: u64 = Sum, "pages";
        /// Pages dropped because the member that they were parked for failed.
        pub given_up_pages: u64 = Sum, "pages";
        /// Pages parked at the end.
        pub pages_left: u64 = Latest, "pages";
    }

    /// The numbers of the report's `array.write_hole`: what a log costs, and what it is good for.
    pub struct LogCounters {
        /// Parts of writes that were logged, each of rows in which the same units are written.
        pub log_writes: u64 = Sum, "count";
        /// Pages written for that, headers included.
        pub log_pages: u64 = Sum, "pages";
        /// Times that such a part waited because the log was full.
        pub full_waits: u64 = Sum, "count";
        /// Rows that were made consistent again after losses of power.
        pub replayed_rows: u64 = Sum, "rows";
        /// Pages written to members for that.
        pub replayed_pages: u64 = Sum, "pages";
        /// Time from losses of power until that was done; requests wait meanwhile.
        pub replay_ns: u64 = Sum, "ns";
    }

    /// The report's `array.bitmap`: what a write-intent bitmap costs, and what it is good for.
    pub struct BitmapCounters {
        /// What a bit stands for.
        pub chunk_bytes: u64 = Latest, "bytes of a member";
        /// Times that blocks of the bitmap were written, each to all members.
        pub writes: u64 = Sum, "count";
        /// Pages written to members for that.
        pub pages: u64 = Sum, "pages";
        /// Parts of writes that waited until a bit was set.
        pub waits: u64 = Sum, "count";
        /// Bits that were cleared on the members.
        pub cleared: u64 = Sum, "count";
        /// Chunks that had to be gone through after losses of power.
        pub dirty_chunks: u64 = Sum, "count";
    }
}

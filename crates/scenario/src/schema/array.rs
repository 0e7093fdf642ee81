//! Keys of `[array]`: members, level, failures, coordination.

use super::Form::{
    Any, Flag, Like, List, Number, OneOf, Policy, Preset, Rate, Size, Table, Tables, Text, Time, Whole,
};
use super::{Key, MOST, MOST_REQUESTS, POSITIVE_TIME, TIME, key};
use crate::presets::Kind;

/// In the order in which they are documented.
pub(super) const KEYS: &[Key] = &[
    key("array.devices", Whole(1, 1024), "a whole number, 1 to 1024", "8", "member devices"),
    key(
        "array.level",
        Any(&[OneOf(&["raid0", "raid1", "raid10", "raid4", "raid5", "raid6"]), Text]),
        "\"raid0\", \"raid1\", \"raid10\", \"raid4\", \"raid5\", \"raid6\", or declustered parity as OpenZFS writes it, such as \
         \"draid1:4d:1s\": one or two parities, data units of a group, distributed spares",
        "raid0",
        "RAID level; raid1 keeps a copy on every member; draid spreads groups narrower than the array over all members, which \
         must be whole groups and spares",
    ),
    key(
        "array.layout",
        Text,
        "raid5: a rotation of md such as \"left-symmetric\" or \"right-asymmetric\"; raid6: these and \"left-symmetric-6\" and \
         the like; raid10: \"near-2\", \"far-2\", \"offset-2\", or with up to 8 copies",
        "left-symmetric; raid10: near-2",
        "where parity or copies lie, by the names of Linux md (raid5, raid6, raid10)",
    ),
    key(
        "array.parity_shares",
        List(&Whole(0, 1000)),
        "a list of whole numbers from 0 to 1000, one for each member, two of them or more above 0, such as [70, 10, 10, 10]; \
         divided by what divides all of them they sum to at most 1024 and at most the stripes of a member (raid5)",
        "equal shares",
        "the shares of parity that members have, in proportion, so that they do not wear out at one time; equal shares are the \
         rotation of `array.layout`",
    ),
    key(
        "array.small_write",
        OneOf(&["fewest", "read-modify-write", "reconstruct"]),
        "\"fewest\", \"read-modify-write\" or \"reconstruct\"",
        "fewest",
        "how parity is made for a stripe written in part: by the way that reads fewer units, as md does, or always by \
         one way (raid4, raid5, raid6)",
    ),
    key(
        "array.degraded_writes",
        OneOf(&["md", "fewest"]),
        "\"md\" or \"fewest\"",
        "md",
        "how a write makes the parity of a row of which something is missing: as Linux md does, or by the way that reads the \
         fewest units (raid4, raid5, raid6)",
    ),
    key(
        "array.stripe_cache",
        Whole(0, 32768),
        "0, or a whole number, 17 to 32768",
        "0",
        "entries of a stripe cache as in Linux md, each a row of parity: what small writes read and write is kept, writes that \
         wait for one row are merged, pre-reads are put off so that more can join; none with 0 (raid4, raid5, raid6)",
    ),
    key(
        "array.delay_pre_reads",
        Flag,
        "true or false",
        "true",
        "whether a write that has to read first is put off while another one reads, as md does with writes that are not \
         synchronous (with stripe_cache)",
    ),
    key(
        "array.stripe_unit",
        Size,
        "a size, a multiple of the page size, at most a member's logical size",
        "4KiB, or one page where pages are larger; raid4, raid5, raid6: 512KiB, or as much of it as a member holds in whole \
         pages",
        "bytes that lie together on one member, md's chunk; raid1 has none and ignores this",
    ),
    key(
        "array.queue_depth",
        Whole(1, 65535),
        "a whole number, 1 to 65535",
        "none",
        "operations that all members together have at once at most, each an operation on one member and of any length; of the \
         rest the first to come goes next whose member takes one more by ssd.link.queue_depth. The array's own work counts and \
         waits as the host's does. DiskSim's controllers take 100; RAID-0 there joins all that a request has on one device, as \
         RAID-0 does here, so a request counts once for each member that it touches",
    ),
    key(
        "array.link.bandwidth",
        Rate,
        "a rate such as \"2147MB/s\", at least 1KB/s",
        "none",
        "a link between the controller and all members, beside each member's own, and its bandwidth; without it members have \
         only their own. The pages of one operation of a member cross it at a time, in either direction and as a whole, and the \
         first that has come goes first: those of a write before its member is given it, those of a read after its member is \
         done. Trims and flushes take no time on it, but go in their turn. The array's own work and its parity cross it as the host's data does. The time \
         counts as link, and an operation on it or waiting for it still counts for queue_depth. DiskSim's bus between the \
         controller and the devices is such a link",
    ),
    key(
        "array.interface",
        OneOf(&["nothing", "log", "window", "busy", "command"]),
        "\"nothing\", \"log\", \"window\", \"busy\" or \"command\"",
        "command",
        "what members reveal and accept, each with all that comes before it: only how long answers take; a status that can be \
         asked for; windows to collect in; operations refused at once instead of waiting for collection; word of when they \
         collect, and orders to do so",
    ),
    key(
        "array.poll",
        Time,
        POSITIVE_TIME,
        "10ms",
        "how often members are asked for their status so that reads can avoid those that collect (interface = \"log\")",
    ),
    key(
        "array.reads",
        OneOf(&["wait", "avoid"]),
        "\"wait\" or \"avoid\"; \"avoid\" needs redundancy, and interface = \"log\", \"busy\" or \"command\"",
        "wait",
        "what a read does when its member is known to collect: it waits, or its data is read from another copy or rebuilt from \
         the other members; a policy with a rule of its own for reads goes by that",
    ),
    key(
        "array.nvram",
        Size,
        "a size such as \"64MiB\", a multiple of the page size; \"0B\": none",
        "0B",
        "room in which writes to members that collect are kept until these have time",
    ),
    key(
        "array.free_stripes",
        Whole(0, MOST),
        "a whole number from 0 to below the stripes of a member (raid4, raid5, raid6)",
        "0",
        "stripes at the end of the members that hold nothing of the host's, so that the policy gaftl can write there what belongs \
         to a member that collects; they are taken from the capacity under every policy",
    ),
    key(
        "array.failure",
        Tables,
        "an array of at most 64 tables: [[array.failure]] with `device`, and `at` or `request`",
        "none",
        "what happens to members; a coordinator hears of it, and the next spare takes the place of a member that failed",
    ),
    key(
        "array.failure.device",
        Whole(0, MOST),
        "a whole number below `array.devices`",
        "required",
        "which member",
    ),
    key(
        "array.failure.at",
        Time,
        "a time such as \"10s\"; not together with `request`",
        "required, or `request`",
        "when it happens, counted from the run's start, warm-up included",
    ),
    key(
        "array.failure.request",
        Whole(1, MOST_REQUESTS),
        "a whole number of requests, 1 to 10^12; not together with `at`",
        "required, or `at`",
        "it happens as that request arrives, counted from the run's start, warm-up included",
    ),
    key(
        "array.failure.kind",
        OneOf(&["failure", "slow", "replace"]),
        "\"failure\", \"slow\" or \"replace\"; \"replace\" needs a spare",
        "failure",
        "whether the member fails, and all it holds is lost, or its flash becomes slow, or the next spare begins to take its \
         place while it works",
    ),
    key(
        "array.failure.factor",
        Number(1.0, 1000.0),
        "a number from 1 to 1000, with kind = \"slow\" only",
        "required with kind = \"slow\"",
        "reads, programs and erases of the member take so many times as long from then on; 1 ends it",
    ),
    key(
        "array.power_loss",
        Tables,
        "an array of at most 16 tables: [[array.power_loss]] with `at` or `request`",
        "none",
        "when the array loses power; it is back at once, and the host submits again what was not acknowledged",
    ),
    key(
        "array.power_loss.at",
        Time,
        "a time such as \"10s\"; not together with `request`",
        "required, or `request`",
        "when it happens, counted from the run's start, warm-up included",
    ),
    key(
        "array.power_loss.request",
        Whole(1, MOST_REQUESTS),
        "a whole number of requests, 1 to 10^12; not together with `at`",
        "required, or `at`",
        "it happens as that request arrives, counted from the run's start, warm-up included",
    ),
    key(
        "array.write_hole",
        OneOf(&["resync", "bitmap", "journal", "ppl"]),
        "\"resync\", on a level with redundancy; \"bitmap\", on one but draid; \"journal\", on a level with parity; \"ppl\", on raid5",
        "resync",
        "what the array does about rows that were being written when power was lost, whose parity or copies need not agree: it \
         goes through all of the array while requests go on, or through what a write-intent bitmap says, or has logged what it was about to write, in a journal or in a \
         partial parity log",
    ),
    key(
        "array.journal",
        Table,
        "a table with `preset`, `size` and `state`, with write_hole = \"journal\"",
        "a device like most members",
        "the device that data and parity are written to before the members; nobody coordinates when it collects",
    ),
    key(
        "array.journal.preset",
        Preset(Kind::Device),
        "a preset with pages like those of the members, see `harmonia presets`",
        "as most members",
        "what kind of device it is",
    ),
    key(
        "array.journal.size",
        Size,
        "a size such as \"1GiB\", a multiple of the page size, at least two stripes, at most the device",
        "the whole device",
        "bytes of it that are written, around and around; writes wait while the journal is full",
    ),
    key(
        "array.journal.state",
        OneOf(&["new", "aged"]),
        "\"new\", or \"aged\" without a preset of its own",
        "new",
        "whether it was never written, or is in the state in which members begin the run",
    ),
    key(
        "array.ppl_size",
        Size,
        "a size such as \"1MiB\", a multiple of the page size, at least a stripe unit and a block, at most half of a member; \
         with write_hole = \"ppl\"",
        "1MiB",
        "bytes at the end of each member that the partial parity log takes; writes wait while it is full",
    ),
    key(
        "array.bitmap_chunk",
        Size,
        "a size such as \"1MiB\", a multiple of the stripe unit, at most 1,048,576 of them in a member; with \
         write_hole = \"bitmap\"",
        "a 1024th of a member in whole stripe units, at most 64MiB",
        "bytes of a member that a bit of the write-intent bitmap stands for; the first write to them waits until it is set on all \
         members",
    ),
    key(
        "array.bitmap_delay",
        Time,
        "a duration such as \"5s\", at least 1ms; with write_hole = \"bitmap\"",
        "5s",
        "from one pass that looks for bits to clear to the next; a bit is cleared by the third one after the last write",
    ),
    key(
        "array.page_errors",
        Number(0.0, 1.0),
        "a number from 0 to below 1",
        "0",
        "share of page reads that find the page unreadable; with redundancy it is read from the other members and written anew",
    ),
    key(
        "array.spares",
        Whole(0, 64),
        "a whole number, 0 to 64, on a level with redundancy and without distributed spares",
        "0",
        "devices that stand by, like most members; the next one takes the place of a member that fails and is rebuilt",
    ),
    key(
        "array.spare_state",
        OneOf(&["new", "aged"]),
        "\"new\" or \"aged\"",
        "new",
        "whether spares were never written, or are in the state in which members begin the run",
    ),
    key(
        "array.rebuild",
        Table,
        "a table with `min_rate`, `max_rate`, `depth`, `step` and `delay`, on a level with redundancy",
        "md's rates",
        "how fast replacements are rebuilt; scrubbing goes by the same",
    ),
    key(
        "array.rebuild.min_rate",
        Rate,
        "a rate such as \"1MB/s\", at least 1KB/s, at most `max_rate`",
        "1000KiB/s",
        "bytes of a member a second while requests are under way; md's sync_speed_min",
    ),
    key(
        "array.rebuild.max_rate",
        Rate,
        "a rate such as \"200MB/s\", at least 1KB/s",
        "200000KiB/s",
        "bytes of a member a second while there are no requests; md's sync_speed_max",
    ),
    key("array.rebuild.depth", Whole(1, 256), "a whole number, 1 to 256", "4", "steps under way at a time"),
    key(
        "array.rebuild.step",
        Size,
        "a size such as \"512KiB\", a multiple of the page size, at most 64MiB",
        "512KiB",
        "bytes of a member that are rebuilt at a time, during which requests for them wait",
    ),
    key(
        "array.rebuild.delay",
        Time,
        "a time such as \"30s\"",
        "0s",
        "time from a failure until a spare is in its place, besides two messages to it",
    ),
    key(
        "array.scrub",
        Table,
        "a table with `at` and `mode`, on a level with redundancy",
        "none",
        "all of the array is read once, and parity or copies compared",
    ),
    key(
        "array.scrub.at",
        Time,
        "a time such as \"10s\"",
        "required",
        "when it begins, counted from the run's start, warm-up included",
    ),
    key(
        "array.scrub.mode",
        OneOf(&["check", "repair"]),
        "\"check\" or \"repair\"",
        "check",
        "whether what does not agree is left, or written anew; nothing ever disagrees in a simulation, so both cost the same",
    ),
    key(
        "array.coordination",
        Table,
        "a table with `policy`, `message_latency` and the policy's own keys",
        "local",
        "which members collect when",
    ),
    key("array.coordination.policy", Policy, "the name of a policy", "local", "coordination policy"),
    key(
        "array.coordination.message_latency",
        Time,
        TIME,
        "0us",
        "time of a message between controller and device, one way",
    ),
    key(
        "array.member",
        Tables,
        "an array of tables: [[array.member]] with `index`, `capable` and [ssd] overrides",
        "none: all members alike",
        "members that differ from [ssd]",
    ),
    key(
        "array.member.index",
        Whole(0, MOST),
        "a whole number below `array.devices`",
        "required",
        "which member",
    ),
    key(
        "array.member.capable",
        Flag,
        "true or false",
        "true",
        "whether the member understands the coordinator's messages",
    ),
    key(
        "array.member.ssd",
        Like("ssd"),
        "a table like [ssd]",
        "[ssd]",
        "the member's overrides of [ssd]; a preset replaces [ssd] altogether",
    ),
];

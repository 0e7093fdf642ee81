//! Keys of `[ssd]`: one member device.

use super::Form::{
    AboveHard, Any, Flag, List, OneOf, Policy, Preset, Rate, Share, Size, Table, Text, Time, Transfers, Whole,
};
use super::{Key, MOST, POSITIVE_TIME, TIME, key};
use crate::presets::Kind;

const SUSPEND: &str = "\"none\" (it cannot) or a time such as \"20us\", at most 1h";
const PAGE_TIMES: &str = "a time above 0 such as \"25us\", or a list of 2 (MLC) or 3 (TLC) such as [\"50us\", \"78us\", \"106us\"]; each at most 1h";
const THRESHOLD: &str = "blocks (5), a share (\"5%\"), or relative to hard (\"hard\", \"hard+1\")";

/// In the order in which they are documented.
pub(super) const KEYS: &[Key] = &[
    key(
        "ssd.preset",
        Preset(Kind::Device),
        "the name of a device preset",
        "msr-slc-32g",
        "device preset, which the keys below change",
    ),
    key(
        "ssd.geometry.channels",
        Whole(1, 1024),
        "a whole number, 1 to 1024",
        "preset",
        "channels of the device",
    ),
    key(
        "ssd.geometry.chips_per_channel",
        Whole(1, 1024),
        "a whole number, 1 to 1024",
        "preset",
        "chips on a channel",
    ),
    key(
        "ssd.geometry.dies_per_chip",
        Whole(1, 1024),
        "a whole number, 1 to 1024",
        "preset",
        "dies in a chip",
    ),
    key("ssd.geometry.planes_per_die", Whole(1, 64), "a whole number, 1 to 64", "preset", "planes in a die"),
    key(
        "ssd.geometry.blocks_per_plane",
        Whole(1, 1048576),
        "a whole number, 1 to 2^20",
        "preset",
        "raw blocks in a plane",
    ),
    key(
        "ssd.geometry.pages_per_block",
        Whole(1, 8191),
        "a whole number, 1 to 8191",
        "preset",
        "raw pages in a block",
    ),
    key(
        "ssd.geometry.page_size",
        Size,
        "a size such as \"4KiB\", a multiple of 512B, at most 1MiB",
        "preset",
        "size of a page",
    ),
    key(
        "ssd.geometry.summary_pages",
        Whole(0, MOST),
        "a whole number below `pages_per_block`",
        "preset",
        "last pages of a block, which hold its summary and no data",
    ),
    key(
        "ssd.geometry.own_pins",
        Flag,
        "true or false",
        "preset",
        "whether every die has its own pins; if so, dies share no bus",
    ),
    key(
        "ssd.timing.read",
        Any(&[Time, List(&Time)]),
        PAGE_TIMES,
        "preset",
        "array read of a page; a list: by the type of the page, least significant bits first. Of two types pages have one after \
         the other. Of three, pages 0 to 5 have the first, 6 and 7 the second, and then two pages each in turn (MQSim)",
    ),
    key(
        "ssd.timing.program",
        Any(&[Time, List(&Time)]),
        PAGE_TIMES,
        "preset",
        "program of a page; a list as for `read`. With lists, a blocking collection goes page by page",
    ),
    key("ssd.timing.erase", Time, POSITIVE_TIME, "preset", "erase of a block"),
    key(
        "ssd.timing.transfer",
        Any(&[Time, Transfers]),
        "a time per page (\"105.6us\") or a rate, one byte a transfer (\"166MT/s\")",
        "preset",
        "time to move a page between die and controller",
    ),
    key(
        "ssd.timing.command",
        Any(&[Time, Table]),
        "a time such as \"290ns\", or a table such as { read = \"290ns\", program = \"361ns\", erase = \"220ns\" }; \
         at most 1h",
        "preset",
        "time that a command and its address occupy the bus, of every kind or each kind apart",
    ),
    key(
        "ssd.timing.command.read",
        Time,
        TIME,
        "preset",
        "command and address of a read, before the array works; once for each plane of a multi-plane read",
    ),
    key(
        "ssd.timing.command.program",
        Time,
        TIME,
        "preset",
        "command and address of a program, on the bus together with the page; alone where collection copies a page back",
    ),
    key("ssd.timing.command.erase", Time, TIME, "preset", "command and address of an erase"),
    key(
        "ssd.timing.command.order",
        OneOf(&["fifo", "after-data"]),
        "\"fifo\" or \"after-data\"",
        "preset",
        "what a command waits for on a shared bus, programs and their pages included. fifo: what asked before it; \
         after-data: also every page that was read and waits to go out. Priorities (ssd.ftl.priority) hold among each",
    ),
    key(
        "ssd.timing.copyback",
        OneOf(&["none", "plane", "die"]),
        "\"none\", \"plane\" or \"die\"",
        "preset",
        "how far garbage collection can move a page without transferring it",
    ),
    key(
        "ssd.timing.suspend_program",
        Any(&[OneOf(&["none"]), Time]),
        SUSPEND,
        "preset",
        "suspending a program: time until the die takes another command",
    ),
    key(
        "ssd.timing.suspend_erase",
        Any(&[OneOf(&["none"]), Time]),
        SUSPEND,
        "preset",
        "suspending an erase: time until the die takes another command",
    ),
    key(
        "ssd.timing.suspend_host_program",
        Any(&[OneOf(&["none"]), Time]),
        SUSPEND,
        "none",
        "suspending a program of the host for a read of the host, under any schedule: time until the die takes the read",
    ),
    key(
        "ssd.timing.resume",
        Time,
        TIME,
        "preset",
        "time added to the rest of a suspended operation when it continues",
    ),
    key(
        "ssd.link.bandwidth",
        Rate,
        "a rate such as \"300MB/s\", at least 1KB/s",
        "preset",
        "bandwidth of the host link",
    ),
    key(
        "ssd.link.latency",
        Time,
        TIME,
        "preset",
        "latency of the host link, added once to every sub-request",
    ),
    key(
        "ssd.link.order",
        OneOf(&["ready", "arrival"]),
        "\"ready\" or \"arrival\"",
        "ready",
        "when an operation queues at its die. ready: a write when its data is over the link, a read at once, so that it may \
         overtake earlier writes; arrival: not before the data of every earlier write is over the link, as on a SCSI bus",
    ),
    key(
        "ssd.link.queue_depth",
        Whole(1, 65535),
        "a whole number, 1 to 65535",
        "none",
        "operations that the device has at once at most, each of any length; the rest wait in the array, in the order in which \
         they came, and an operation makes room when its last page is over the link; the array's own work, such as rebuild, \
         scrub and resync, counts and waits as the host's does (DiskSim's SSD model: 20)",
    ),
    key(
        "ssd.ftl.reserved_blocks",
        Any(&[Share, Whole(0, MOST)]),
        "a share of the raw blocks (\"15%\") or a number of blocks per allocation unit",
        "preset",
        "over-provisioning, (T - U)/T of all T blocks",
    ),
    key(
        "ssd.ftl.allocation",
        Text,
        "\"dynamic\", or the letters c, w, d, p or c, w, d in any order, such as \"cwdp\", \"pdwc\" or \"cwd\"",
        "preset",
        "which die a logical page goes to; dynamic: the die with the shortest queue among those that do not collect; \
         letters: by page number, through channels, ways (chips), dies and planes, the first letter fastest (where \
         dies own their blocks, p has no effect); without p a write goes to the plane of that die with the most free \
         pages (where planes own their blocks)",
    ),
    key(
        "ssd.ftl.allocation_unit",
        OneOf(&["die", "plane"]),
        "\"die\" or \"plane\"",
        "preset",
        "what owns a write frontier and free blocks",
    ),
    key(
        "ssd.ftl.frontiers",
        OneOf(&["shared", "separate"]),
        "\"shared\" or \"separate\"",
        "preset",
        "whether host pages and collected pages share a write frontier",
    ),
    key(
        "ssd.ftl.priority",
        OneOf(&["fifo", "reads-first"]),
        "\"fifo\" or \"reads-first\"",
        "preset",
        "order of host operations at a die, and of transfers on a shared bus; at a die collection goes before both",
    ),
    key(
        "ssd.ftl.multi_plane",
        Flag,
        "true or false",
        "preset",
        "whether host reads and programs of sibling planes with the same page offset share a multi-plane command",
    ),
    key(
        "ssd.ftl.open_blocks",
        Whole(1, 64),
        "a whole number, 1 to 64",
        "2",
        "partly written blocks that a unit may have, for schedules that open one when they collect",
    ),
    key(
        "ssd.gc.domain",
        OneOf(&["die", "device", "channel", "plane"]),
        "\"die\", \"device\", \"channel\" or \"plane\" (where planes own their blocks)",
        "preset",
        "what collects together",
    ),
    key(
        "ssd.gc.trigger",
        OneOf(&["foreground", "background"]),
        "\"foreground\" or \"background\"",
        "preset",
        "when thresholds are checked",
    ),
    key(
        "ssd.gc.hard_threshold",
        Any(&[Share, Whole(0, MOST)]),
        "blocks per allocation unit (5) or a share, floored (\"5%\")",
        "preset",
        "a unit collects when it has this many free blocks or fewer",
    ),
    key(
        "ssd.gc.soft_threshold",
        Any(&[Share, Whole(0, MOST), AboveHard]),
        THRESHOLD,
        "preset",
        "free blocks at or below which a device registers",
    ),
    key(
        "ssd.gc.stop_threshold",
        Any(&[Share, Whole(0, MOST), AboveHard]),
        THRESHOLD,
        "preset",
        "an event ends when free exceeds this",
    ),
    key(
        "ssd.gc.begins_at",
        OneOf(&["schedule", "soft"]),
        "\"schedule\" or \"soft\"",
        "preset",
        "threshold at which collection begins. schedule: hard, or soft under schedules that let the host go first until hard; \
         the device is aged at hard. soft: soft under every schedule, and the device is aged there",
    ),
    key(
        "ssd.gc.min_victims",
        Whole(1, 65536),
        "a whole number, 1 to 65536",
        "preset",
        "victims an event takes at least",
    ),
    key(
        "ssd.gc.victim",
        Any(&[Policy, Table]),
        "the name of a victim policy, or a table with `policy` and the policy's own keys",
        "preset",
        "which block to collect",
    ),
    key("ssd.gc.victim.policy", Policy, "the name of a victim policy", "preset", "victim policy"),
    key(
        "ssd.gc.victim_d",
        Whole(1, 1000),
        "a whole number, 1 to 1000",
        "none",
        "older spelling of ssd.gc.victim.d, of d-choices",
    ),
    key(
        "ssd.gc.schedule",
        Any(&[Policy, Table]),
        "the name of a schedule, or a table with `policy` and the schedule's own keys",
        "preset",
        "whether a die serves the host or collects next",
    ),
    key("ssd.gc.schedule.policy", Policy, "the name of a schedule", "preset", "schedule"),
    key("ssd.gc.slack", Time, TIME, "none", "older spelling of ssd.gc.schedule.slack, of the schedule slack"),
    key(
        "ssd.gc.destination",
        OneOf(&["unit", "device"]),
        "\"unit\" or (with allocation \"dynamic\") \"device\"",
        "preset",
        "where moved pages go: to their own allocation unit, or to the unit of the device with the most free blocks",
    ),
    key(
        "ssd.gc.concurrency",
        Any(&[Policy, Table]),
        "the name of a policy, or a table with `policy` and the policy's own keys",
        "preset",
        "how many channels may collect at once",
    ),
    key("ssd.gc.concurrency.policy", Policy, "the name of a policy", "preset", "concurrency policy"),
];

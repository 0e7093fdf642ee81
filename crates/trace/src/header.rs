//! What the words of a table's header say of its columns.
//!
//! A word is compared without case, blanks, underscores and brackets. It may end in a unit (`time_us`, `LATms`) or have
//! one in brackets (`Time (us)`). Some names imply a unit: a sector, block or LBA has 512 bytes. A word that is not known
//! says nothing, and one that is known to be something else (a process, a completion time) is never taken for a role.

use harmonia_types::Bytes;

use crate::columns::Role;

/// What a header says of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It has this role. The unit is in ns or bytes; `None` where the name leaves it open.
    Role(Role, Option<u64>),
    /// 0 and 1 in it tell writes from reads: the value that means read.
    Bit(u8),
    /// It is known to be something else.
    Other,
    /// It may belong to the name of a volume, such as the host in front of a disk's number.
    Host,
    /// The word is not known.
    Unknown,
}

const SECTOR: Bytes = 512;

/// Names without a unit of their own.
const NAMES: [(Role, &[&str]); 8] = [
    (
        Role::Time,
        &[
            "time",
            "timestamp",
            "ts",
            "arrival",
            "arrivaltime",
            "arrivaltimestamp",
            "start",
            "starttime",
            "starttimestamp",
            "stime",
            "issue",
            "issuetime",
            "inittime",
            "ioinittime",
            "issued",
            "submit",
            "submittime",
            "submissiontime",
            "requesttime",
            "reqtime",
            "begin",
            "begintime",
            "datetime",
        ],
    ),
    (
        Role::Operation,
        &[
            "op",
            "operation",
            "opcode",
            "optype",
            "opname",
            "operationtype",
            "type",
            "iotype",
            "requesttype",
            "reqtype",
            "rw",
            "rwflag",
            "readwrite",
            "rwbs",
            "kind",
            "request",
            "command",
            "cmd",
            "t",
            "d",
            "iotyp",
            "direction",
        ],
    ),
    (Role::Offset, &["address", "addr", "pos", "position", "startaddress", "location"]),
    (Role::Size, &["count", "reqcount", "iocount", "pages", "npages"]),
    (
        Role::Volume,
        &[
            "volume",
            "volumeid",
            "vol",
            "volid",
            "volumeno",
            "disk",
            "diskid",
            "diskno",
            "disknum",
            "disknumber",
            "diskname",
            "device",
            "deviceid",
            "dev",
            "devid",
            "devno",
            "devicename",
            "lun",
            "lunid",
            "asu",
            "drive",
            "driveid",
            "nsid",
        ],
    ),
    // Not stream_id or write_hint: 0 of these is that nothing was said, and of handles it is one of them.
    (Role::Handle, &["handle", "placementhandle", "fdphandle"]),
    (
        Role::Response,
        &[
            "response",
            "responsetime",
            "resp",
            "resptime",
            "rt",
            "lat",
            "latency",
            "iolatency",
            "duration",
            "servicetime",
            "svctime",
            "elapsed",
            "elapsedtime",
        ],
    ),
    (Role::Nothing, &[]),
];

/// Names that count bytes.
const IN_BYTES: [(Role, &[&str]); 2] = [
    (
        Role::Offset,
        &["offset", "byteoffset", "diskoffset", "startoffset", "startbyte", "minoffset", "offsetbytes"],
    ),
    (
        Role::Size,
        &[
            "size",
            "length",
            "len",
            "bytes",
            "nbytes",
            "iosize",
            "iolength",
            "requestsize",
            "reqsize",
            "transfersize",
            "xfersize",
            "iobytes",
            "byte",
        ],
    ),
];

/// Names that count sectors of 512 bytes.
const IN_SECTORS: [(Role, &[&str]); 2] = [
    (
        Role::Offset,
        &[
            "lba",
            "lbn",
            "slba",
            "startlba",
            "sector",
            "sectornumber",
            "sectorno",
            "startsector",
            "sectoroffset",
            "block",
            "blkno",
            "blocknumber",
            "blockno",
            "blocknum",
            "startblock",
            "blockaddress",
            "blkaddr",
        ],
    ),
    (
        Role::Size,
        &[
            "sectors",
            "nsectors",
            "nsector",
            "nrsectors",
            "nrsector",
            "numsectors",
            "numberofsectors",
            "sectorcount",
            "blocks",
            "nblocks",
            "nblk",
            "blockcount",
            "numblocks",
        ],
    ),
];

/// Known, and no role of a request.
const OTHERS: &[&str] = &[
    "pid",
    "tid",
    "ppid",
    "tgid",
    "uid",
    "gid",
    "process",
    "processname",
    "processid",
    "proc",
    "comm",
    "commandname",
    "thread",
    "threadid",
    "task",
    "cpu",
    "cpuid",
    "core",
    "que",
    "queue",
    "queuetime",
    "qd",
    "queuedepth",
    "qid",
    "cmdid",
    "cid",
    "priority",
    "prio",
    "iopri",
    "ioprio",
    "flags",
    "flag",
    "ioflags",
    "irpflags",
    "irpptr",
    "irp",
    "status",
    "error",
    "errno",
    "ret",
    "result",
    "user",
    "username",
    "version",
    "sn",
    "seq",
    "sequence",
    "seqno",
    "sequencenumber",
    "id",
    "reqid",
    "requestid",
    "ioid",
    "index",
    "idx",
    "no",
    "md5",
    "hash",
    "checksum",
    "pattern",
    "end",
    "endtime",
    "etime",
    "finish",
    "finishtime",
    "completion",
    "completiontime",
    "complete",
    "completetime",
    "completed",
    "donetime",
    "ctime",
    "mtime",
    "atime",
    "delta",
    "dtime",
    "disksvctime",
    "fileobject",
    "endlba",
    "endsector",
    "endoffset",
    "nlb",
    "readcount",
    "readbytes",
    "readtime",
    "writecount",
    "writebytes",
    "writetime",
    "flushes",
    "flushtime",
    "rawait",
    "wawait",
    "fawait",
    "dawait",
    "await",
    "aqusz",
    "avgqusz",
    "avgrqsz",
    "rareqsz",
    "wareqsz",
    "dareqsz",
    "svctm",
];

/// Parts of a volume's name.
const HOSTS: &[&str] = &[
    "host", "hostname", "hostid", "server", "serverid", "node", "nodeid", "vm", "vmid", "tenant", "machine",
];

/// Units of time at the end of a name or in brackets, in ns.
const TIMES: [(&str, u64); 14] = [
    ("nanoseconds", 1),
    ("nsec", 1),
    ("ns", 1),
    ("microseconds", 1_000),
    ("usec", 1_000),
    ("us", 1_000),
    ("milliseconds", 1_000_000),
    ("msec", 1_000_000),
    ("ms", 1_000_000),
    ("seconds", 1_000_000_000),
    ("secs", 1_000_000_000),
    ("sec", 1_000_000_000),
    ("100ns", 100),
    ("s", 1_000_000_000),
];

/// Units of addresses and sizes, in bytes.
const SIZES: [(&str, u64); 10] = [
    ("bytes", 1),
    ("byte", 1),
    ("kib", 1 << 10),
    ("kb", 1 << 10),
    ("mib", 1 << 20),
    ("512bytes", SECTOR),
    ("512b", SECTOR),
    ("sectors", SECTOR),
    ("sector", SECTOR),
    ("b", 1),
];

impl Meaning {
    /// What a header means by `word`.
    pub(crate) fn of(word: &str) -> Meaning {
        // A rate or a share of many requests.
        if word.contains('%') || word.trim_end().ends_with("/s") {
            return Meaning::Other;
        }
        let (name, bracket) = match word.split_once(['(', '[']) {
            Some((name, rest)) => (name, Some(rest)),
            None => (word, None),
        };
        let name = plain(name);
        let unit = bracket.map(|unit| plain(&unit.replace('\u{b5}', "u")));
        match (known(&name), unit) {
            (Meaning::Unknown, None) => with_suffix(&name),
            (Meaning::Role(role, own), Some(unit)) if !unit.is_empty() => Meaning::Role(
                role,
                unit_of(role, &unit).filter(|unit| own.is_none_or(|own| own == 1 || own == *unit)),
            ),
            (Meaning::Unknown, Some(_)) => match with_suffix(&name) {
                Meaning::Role(role, _) => Meaning::Role(role, None),
                other => other,
            },
            (meaning, _) => meaning,
        }
    }

    /// Whether `word` is a name of operations that other things have too: a process, a time, a distance.
    pub(crate) fn is_vague(word: &str) -> bool {
        matches!(plain(word).as_str(), "command" | "cmd" | "kind" | "request" | "t" | "d")
    }

    /// The role, if the header says one.
    pub(crate) fn role(self) -> Option<Role> {
        match self {
            Meaning::Role(role, _) => Some(role),
            Meaning::Bit(_) => Some(Role::Operation),
            Meaning::Other | Meaning::Host | Meaning::Unknown => None,
        }
    }
}

/// Letters and digits, in lower case.
fn plain(word: &str) -> String {
    word.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn known(name: &str) -> Meaning {
    let role_in = |table: &[(Role, &[&str])]| {
        table.iter().find(|(_, names)| names.contains(&name)).map(|(role, _)| *role)
    };
    let rows = [(role_in(&NAMES), None), (role_in(&IN_BYTES), Some(1)), (role_in(&IN_SECTORS), Some(SECTOR))];
    match rows.into_iter().find_map(|(role, unit)| Some((role?, unit))) {
        Some((role, unit)) => Meaning::Role(role, unit),
        None => match name {
            "iswrite" | "write" => Meaning::Bit(0),
            "isread" | "read" => Meaning::Bit(1),
            "filetime" => Meaning::Role(Role::Time, Some(100)),
            _ if OTHERS.contains(&name) => Meaning::Other,
            _ if HOSTS.contains(&name) => Meaning::Host,
            _ => of_a_request(name),
        },
    }
}

/// A name that begins with what it is of: `io_offset`, `req_size`. A time so named may be a duration.
fn of_a_request(name: &str) -> Meaning {
    let stem = ["io", "request", "req"].iter().find_map(|prefix| name.strip_prefix(prefix));
    match stem.map_or(Meaning::Unknown, known) {
        Meaning::Role(Role::Time | Role::Response, _) => Meaning::Unknown,
        meaning => meaning,
    }
}

/// A name that ends in a unit of what it names.
fn with_suffix(name: &str) -> Meaning {
    let suffixes = TIMES.iter().chain(&SIZES);
    for (suffix, unit) in suffixes {
        let Some(stem) = name.strip_suffix(suffix).filter(|stem| !stem.is_empty()) else { continue };
        let stem = stem.strip_suffix("in").unwrap_or(stem);
        match known(stem) {
            Meaning::Role(role, own) if unit_of(role, suffix) == Some(*unit) => {
                return Meaning::Role(
                    role,
                    Some(*unit).filter(|unit| own.is_none_or(|own| own == 1 || own == *unit)),
                );
            }
            Meaning::Other => return Meaning::Other,
            _ => {}
        }
    }
    Meaning::Unknown
}

/// What a unit is for a role, if the role can have it.
fn unit_of(role: Role, unit: &str) -> Option<u64> {
    let table: &[(&str, u64)] = match role {
        Role::Time | Role::Response => &TIMES,
        Role::Offset | Role::Size => &SIZES,
        Role::Operation | Role::Volume | Role::Fua | Role::Handle | Role::Nothing => &[],
    };
    table.iter().find(|(known, _)| *known == unit).map(|(_, unit)| *unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_headers_have_roles_and_units() {
        use Role::{Handle, Offset, Operation, Response, Size, Time, Volume};
        let table = [
            ("Timestamp", Time, None),
            ("time_us", Time, Some(1_000)),
            ("Time (ms)", Time, Some(1_000_000)),
            ("TIME(s)", Time, Some(1_000_000_000)),
            ("STARTs", Time, Some(1_000_000_000)),
            ("ts[ns]", Time, Some(1)),
            ("time (ticks)", Time, None),
            ("IOType", Operation, None),
            ("LBA", Offset, Some(512)),
            ("start_sector", Offset, Some(512)),
            ("BLOCK", Offset, Some(512)),
            ("Offset", Offset, Some(1)),
            ("io_offset", Offset, Some(1)),
            ("offset_sectors", Offset, Some(512)),
            ("address", Offset, None),
            ("size (bytes)", Size, Some(1)),
            ("size_kb", Size, Some(1024)),
            ("len (blocks)", Size, None),
            ("nr_sectors", Size, Some(512)),
            ("count", Size, None),
            ("DiskNum", Volume, None),
            ("handle", Handle, None),
            ("Placement Handle", Handle, None),
            ("fdp_handle", Handle, None),
            ("Response Time", Response, None),
            ("LATms", Response, Some(1_000_000)),
        ];
        for (word, role, unit) in table {
            assert_eq!(Meaning::of(word), Meaning::Role(role, unit), "{word}");
        }
    }

    #[test]
    fn what_is_something_else_or_not_known_has_no_role() {
        for word in
            ["PID", "COMM", "nlb", "IO Complete Time", "ENDs", "end_time", "TIDs", "QUE(ms)", "queue_us"]
        {
            assert_eq!(Meaning::of(word), Meaning::Other, "{word}");
        }
        for word in ["foo", "", "io_time", "io_zone", "columns", "items"] {
            assert_eq!(Meaning::of(word), Meaning::Unknown, "{word}");
        }
        assert_eq!((Meaning::of("is_write"), Meaning::of("hostname")), (Meaning::Bit(0), Meaning::Host));
    }
}

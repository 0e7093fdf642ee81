//! Is a table with the header of a public tool or data set read right, or is the hint right that it gets?
//!
//! The headers are those of tools' documentation and of published traces; the rows are made up. A row that is a request writes, or
//! reads a second later. Whoever follows a hint fills in what the description of the tool says.

use harmonia_trace::{Trace, TraceOptions, UnitOptions};
use harmonia_types::Operation::{self, Read, Write};

/// What becomes of a table.
enum Outcome {
    /// It is read as this format.
    Reads(&'static str),
    /// The hint names these columns and leaves nothing open.
    Hint(&'static str),
    /// The hint names these columns, and these are right once its reader has filled in what it leaves open.
    Asks(&'static str, &'static str),
    /// The hint cannot be followed: these words say so, or leave all columns open.
    Absent(&'static str),
}

use Outcome::{Absent, Asks, Hint, Reads};

/// What a request of a table should be: seconds behind the first, operation, first byte and bytes.
type Request = (u64, Operation, u64, u64);

/// The first writes 4 KiB at 8 KiB, the second reads 4 KiB at 16 KiB a second later.
const USUAL: &[Request] = &[(0, Write, 8192, 4096), (1, Read, 16_384, 4096)];
/// The same without times.
const AT_ONCE: &[Request] = &[(0, Write, 8192, 4096), (0, Read, 16_384, 4096)];

/// Header, rows, what becomes of it, and its requests if it can be read.
type Table = (&'static str, &'static str, Outcome, &'static [Request]);

const TABLES: &[Table] = &[
    // Data sets.
    (
        "device_id,opcode,offset,length,timestamp",
        "7,W,8192,4096,1577808000000626\n7,R,16384,4096,1577808001000626",
        Reads("alibaba"),
        USUAL,
    ),
    (
        "Timestamp,Offset,Size,IOType,VolumeID",
        "1538323200,16,8,1,1576\n1538323201,32,8,0,1576",
        Reads("tencent"),
        USUAL,
    ),
    (
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
        "128166372030616290,web,3,Write,8192,4096,5\n128166372040616290,web,3,Read,16384,4096,5",
        Reads("msr"),
        USUAL,
    ),
    (
        "Timestamp,Response,IOType,LUN,Offset,Size",
        "1456135200.5,0.0008,W,4,8192,4096\n1456135201.5,0.0008,R,4,16384,4096",
        Reads("systor"),
        USUAL,
    ),
    ("version,time,op,size,lbn", "1,100,2a,4096,16\n1,101,28,4096,32", Reads("cloudphysics"), USUAL),
    (
        "filename,file_offset,application,c_time,io_zone,redundancy_type,op_type,service_class,from_flash_cache,cache_hit,\
         request_io_size_bytes,disk_io_size_bytes,response_io_size_bytes,start_time,disk_time,simulated_disk_start_time,\
         simulated_latency",
        "a,8192,bigtable,1700000000,WARM,REPLICATED,WRITE,OTHER,0,-1,4096,0,0,1705276800.5,0,0,0.001\n\
         a,16384,bigtable,1700000000,WARM,REPLICATED,READ,OTHER,0,0,4096,4096,4096,1705276801.5,0,0,0.001",
        Reads("thesios"),
        USUAL,
    ),
    (
        "# block_id io_offset io_size op_time op_name user_namespace user_name host_name op_count",
        "9 8192 4096 1625032767.5 3 3 11 5 1\n9 16384 4096 1625032768.5 1 3 11 5 1",
        Reads("baleen"),
        USUAL,
    ),
    // bcc, with -P and of libbpf; bpftrace prints neither place nor size.
    (
        "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)",
        "0.500000    a b            7      sda     W 16         4096   0.40\n1.500000    a b            7      sda     R 32         4096   0.40",
        Reads("biosnoop"),
        USUAL,
    ),
    (
        "TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  PATTERN  LAT(ms)",
        "0.500000    a              7       sda       W 16         4096   R        0.40\n1.500000    a              7       sda       R 32         4096   S        0.40",
        Reads("biosnoop"),
        USUAL,
    ),
    (
        "TIME(s)     COMM           PID     DISK      T      SECTOR     BYTES   QUE(ms) LAT(ms)",
        "0.500000    a              7       sda       WS     16         4096    0.10    0.40\n1.500000    a              7       sda       RA     32         4096    0.10    0.40",
        Reads("biosnoop"),
        USUAL,
    ),
    (
        "TIME(ms)     DISK    COMM             PID    LAT(ms)",
        "611          nvme0n1 bash             4179        10\n612          nvme0n1 cksum            4179         0",
        Absent("its header names no column for op, offset and size, which every request has"),
        &[],
    ),
    (
        "TIME(s)  COMM           TID    D BYTES   LAT(ms) FILENAME",
        "0.5      a              7      W 4096    1.2     x\n1.5      a              7      R 4096    1.2     x",
        Absent("its header names no column for offset, which every request has"),
        &[],
    ),
    // The time is that of the end, and of an operation on a file.
    (
        "ENDTIME_us,TASK,PID,TYPE,BYTES,OFFSET_b,LATENCY_us,FILE",
        "500400,a,7,W,4096,8192,400,x\n1500400,a,7,R,4096,16384,400,x",
        Asks(
            "-,-,-,op,size,offset,response,? (as far as its header says; for ? among the columns write time, volume",
            "-,-,-,op,size,offset,response,-",
        ),
        AT_ONCE,
    ),
    (
        "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME",
        "06:35:01 cron           16464  R 1249    0          16.05 common\n06:35:02 cron           16463  R 1249    0          16.04 common",
        Absent("--columns ?,?,?,op,?,?,?,? with time"),
        &[],
    ),
    (
        "PID    COMM             D MAJ MIN DISK       I/O  Kbytes  AVGms",
        "7      a                W 8   16  sdb        1    4.0     0.40\n7      a                R 8   16  sdb        1    4.0     0.40",
        Absent(
            "--columns -,-,op,?,?,volume,?,?,? (as far as its header says; for ? among the columns write time, offset, size",
        ),
        &[],
    ),
    // perf-tools, and the DTraceToolkit.
    (
        "STARTs         ENDs           COMM         PID    TYPE DEV      BLOCK        BYTES     LATms",
        "5.500000       5.600000       a            7      WS   259,0    16           4096       0.80\n6.500000       6.600000       a            7      R    259,0    32           4096       0.95",
        Reads("iosnoop"),
        USUAL,
    ),
    (
        "COMM         PID    TYPE DEV      BLOCK        BYTES     LATms",
        "a            7      WS   259,0    16           4096       0.80\na            7      R    259,0    32           4096       0.95",
        Absent("found no column of times, expected one: record with iosnoop -ts"),
        &[],
    ),
    (
        "STIME        TIME         DELTA     DTIME       UID   PID D     BLOCK   SIZE       COMM PATHNAME",
        "500000       500400       400       400           0     7 W        16   4096          a /x\n1500000      1500400      400       400           0     7 R        32   4096          a /x",
        Reads("dtrace"),
        USUAL,
    ),
    // Open CAS: times in ns, sizes in sectors, and two names of a device.
    (
        "device.id,device.name,file.id,file.offset,file.size,header.sid,header.timestamp,io.error,io.flush,io.fua,io.ioClass,\
         io.latency,io.lba,io.len,io.operation,io.qd",
        "271581185,nvme0n1,,,,23,500000000,false,false,false,1,144925,16,8,Write,1\n\
         271581185,nvme0n1,,,,25,1500000000,false,false,false,1,144925,32,8,Read,1",
        Asks(
            "?,?,?,?,?,?,?,-,?,?,?,response,offset,size,op,- --address-unit 512 --size-unit ?",
            "-,volume,-,-,-,-,time,-,-,-,-,response,offset,size,op,- --time-unit 1 --address-unit 512 --size-unit 512",
        ),
        USUAL,
    ),
    // io-tracer: dates, and sizes in bytes and in sectors; of the page cache and the network.
    (
        "timestamp,pid,command,sector,operation,size,latency_ms,tid,nr_sectors,cpu_id,ppid",
        "2024-01-15 10:30:45.500000,7,python3,16,write,4096,1.2,7,8,0,1\n2024-01-15 10:30:46.500000,7,python3,32,read,4096,0.5,7,8,1,1",
        Asks(
            "time,-,?,offset,op,?,response,-,?,-,- --address-unit 512 (as far as its header says; for ? among the columns write size,",
            "time,-,-,offset,op,size,response,-,-,-,- --address-unit 512",
        ),
        USUAL,
    ),
    (
        "timestamp,pid,command,source_addr,dest_addr,source_port,dest_port,size,direction",
        "2024-01-15 10:30:45.5,7,curl,192.168.1.1,93.184.216.34,54321,443,512,send\n2024-01-15 10:30:46.5,7,curl,192.168.1.1,93.184.216.34,54321,443,1460,receive",
        Absent(
            "time,-,?,?,?,?,?,size,op --size-unit ? --ops r=?/w=? (as far as its header says; for ? among the columns write offset,",
        ),
        &[],
    ),
    // Tables made of blkparse's output.
    (
        "device_major,device_minor,cpu,seq,timestamp,pid,action,rwbs,sector,size_sectors,size_bytes,process",
        "8,16,0,1,0.5,7,D,WS,16,8,4096,a\n8,16,0,2,1.5,7,D,R,32,8,4096,a",
        Asks(
            "?,?,-,-,time,-,?,op,offset,?,?,- --time-unit ? --address-unit 512 (as far as its header says; for ? among the columns write size,",
            "-,volume,-,-,time,-,-,op,offset,-,size,- --address-unit 512",
        ),
        USUAL,
    ),
    (
        "ts,pid,action,rwbs,sector,nsectors,size_bytes,comm,dev",
        "0.5,7,D,W,16,8,4096,a,8:16\n1.5,7,D,R,32,8,4096,a,8:16",
        Asks(
            "time,-,-,op,offset,?,?,-,volume --time-unit ? --address-unit 512",
            "time,-,-,op,offset,size,-,-,volume --address-unit 512 --size-unit 512",
        ),
        USUAL,
    ),
    // Programs that measure and simulate drives.
    (
        "t_s,op,lba,nlb,lat_us,status",
        "0.5,W,16,7,100,0\n1.5,R,32,7,100,0",
        Absent("its header names no column for size, which every request has"),
        &[],
    ),
    (
        "offset,size,latency_ns,op",
        "8192,4096,100,W\n16384,4096,100,R",
        Hint("offset,size,response,op (as its header says; no column is when a request was issued"),
        AT_ONCE,
    ),
    (
        "timestamp,lba,size,operation,trace_id",
        "0,2,1,W,demo\n1000000,4,1,R,demo",
        Asks(
            "time,offset,size,op,? --time-unit ? --address-unit 512 --size-unit ?",
            "time,offset,size,op,- --time-unit 1000 --address-unit 4096 --size-unit 4096",
        ),
        USUAL,
    ),
    (
        "timestamp,process_id,type,address,size",
        "500000,7,WRITE,8192,4096\n1500000,7,READ,16384,4096",
        Asks(
            "time,-,op,offset,size --time-unit ? --address-unit ? (as far",
            "time,-,op,offset,size --time-unit 1000",
        ),
        USUAL,
    ),
    // Five columns with a letter for the operation are not those of Alibaba if they are called otherwise.
    (
        "time_us,op,lba,blocks,nsid",
        "500000,W,16,8,1\n1500000,R,32,8,1",
        Hint(
            "time,op,offset,size,volume --time-unit us --address-unit 512 --size-unit 512 (as its header says",
        ),
        USUAL,
    ),
    (
        "timestamp;op_type;block_number;block_count;device",
        "0.5;W;16;8;sda\n1.5;R;32;8;sda",
        Asks(
            "time,op,offset,size,volume --time-unit ? --address-unit 512 --size-unit 512",
            "time;op;offset;size;volume --address-unit 512 --size-unit 512",
        ),
        USUAL,
    ),
    // Windows: Performance Analyzer, xperf, DiskMon and Process Monitor.
    (
        "IO Type,Complete Time (s),Init Time (s),IO Time (us),Disk Service Time (us),Min Offset,Size (B),Disk,Process",
        "Write,0.5004,0.5,400,300,8192,4096,0,a.exe\nRead,1.5004,1.5,400,300,16384,4096,0,a.exe",
        Hint("op,-,time,-,-,offset,size,volume,- (as its header says; workload.columns)"),
        USUAL,
    ),
    (
        "IO Type, Start Time, End Time, IO Time, Disk Service Time, IO Size, Start Byte, Priority, Process, PID, Disk, Filename",
        "Write, 500000, 500400, 400, 300, 4096, 8192, Normal, a.exe, 7, 0, x\nRead, 1500000, 1500400, 400, 300, 4096, 16384, Normal, a.exe, 7, 0, x",
        Asks(
            "op,time,-,-,-,size,offset,-,-,-,volume,- --time-unit ? (as far",
            "op,time,-,-,-,size,offset,-,-,-,volume,- --time-unit 1000",
        ),
        USUAL,
    ),
    (
        "#\tTime\tDuration (s)\tDisk\tRequest\tSector\tLength",
        "0\t0.500000\t0.00030518\t0\tWrite\t16\t8\n1\t1.500000\t0.00030518\t0\tRead\t32\t8",
        Asks(
            "-,time,response,volume,op,offset,size --time-unit ? --address-unit 512 --size-unit ?",
            "-\ttime\tresponse\tvolume\top\toffset\tsize --address-unit 512 --size-unit 512",
        ),
        USUAL,
    ),
    (
        "\"Time of Day\",\"Process Name\",\"PID\",\"Operation\",\"Path\",\"Result\",\"Detail\"",
        "\"10:32:00.0010000 AM\",\"a.exe\",\"7\",\"WriteFile\",\"C:\\x\",\"SUCCESS\",\"Offset: 8192, Length: 4096\"",
        Absent("name the format to see what is wrong"),
        &[],
    ),
    // Statistics of many requests, and requests to caches of objects.
    (
        "Device            r/s     w/s     rkB/s     wkB/s   rrqm/s   wrqm/s  %rrqm  %wrqm r_await w_await aqu-sz rareq-sz wareq-sz  svctm  %util",
        "sda              1.00    2.00      3.00      4.00     0.00     0.00   0.00   0.00    0.10    0.20   0.00     4.00     4.00   0.10   0.20\n\
         sdb              1.00    2.00      3.00      4.00     0.00     0.00   0.00   0.00    0.10    0.20   0.00     4.00     4.00   0.10   0.20",
        Absent("its header names no column for op, offset and size, which every request has"),
        &[],
    ),
    (
        "TIMESTAMP,DEVICE,READ_COUNT,READ_BYTES,READ_TIME_MS,WRITE_COUNT,WRITE_BYTES,WRITE_TIME_MS,FLUSHES,FLUSH_TIME_MS",
        "2026-09-30 17:00:05,dm-0,1,4096,1,1,4096,1,0,0\n2026-09-30 17:00:06,dm-0,2,8192,1,1,4096,1,0,0",
        Absent("its header names no column for op, offset and size, which every request has"),
        &[],
    ),
    (
        "timestamp,anonymized_key,key_size,value_size,client_id,operation,TTL",
        "0,k1,8,100,1,get,0\n1,k2,8,100,1,set,0",
        Absent("time,?,?,?,?,op,? --time-unit ? --ops r=?/w=?"),
        &[],
    ),
    (
        "time,obj_id,obj_size,op",
        "0,11,4096,get\n1,12,4096,set",
        Absent("time,?,?,op --time-unit ? --ops r=?/w=?"),
        &[],
    ),
    (
        "relative_unix\thashed_host_path_query\timage_type\tresponse_size\ttime_firstbyte",
        "0\t11\tjpeg\t4096\t0.1\n1\t12\tjpeg\t4096\t0.1",
        Absent("--columns ?,?,?,?,? with time"),
        &[],
    ),
];

/// The options of a command line: columns, then flags with their values in ns and bytes.
fn options(words: &str) -> TraceOptions {
    let (columns, flags) = words.split_once(" --").unwrap_or((words, ""));
    let mut units = UnitOptions::default();
    for flag in flags.split(" --").filter(|flag| !flag.is_empty()) {
        let (name, value) = flag.split_once(' ').expect("a flag has a value");
        let value = match value {
            "us" => 1_000,
            "ms" => 1_000_000,
            value => value.parse().unwrap_or_else(|_| panic!("{name} {value}")),
        };
        let unit = match name {
            "time-unit" => &mut units.time_ns,
            "address-unit" => &mut units.address,
            "size-unit" => &mut units.size,
            _ => panic!("{name}"),
        };
        *unit = Some(value);
    }
    let columns = Some(columns.parse().unwrap_or_else(|problem| panic!("{columns}: {problem}")));
    TraceOptions { columns, units, ..TraceOptions::default() }
}

fn requests(text: &str, options: &TraceOptions) -> Result<(&'static str, Vec<Request>), String> {
    let words = |error: harmonia_trace::TraceError| error.to_string();
    let trace = Trace::from_bytes("t", text.as_bytes().to_vec(), options).map_err(words)?;
    let mut reader = trace.records().map_err(words)?;
    let mut found = Vec::new();
    while let Some(record) = reader.next_record().map_err(words)? {
        // A completion and its latency are rounded in some of them.
        let second = (record.time_ns + 200_000_000) / 1_000_000_000;
        found.push((second, record.operation, record.offset, record.length));
    }
    Ok((trace.format().name, found))
}

#[test]
fn headers_of_public_tools_are_read_or_hinted_at_right() {
    assert!(TABLES.len() >= 30);
    for (header, rows, outcome, expected) in TABLES {
        let text = format!("{header}\n{rows}\n");
        let plain = requests(&text, &TraceOptions::default());
        let said = plain.as_ref().err().cloned().unwrap_or_default();
        let hinted = |columns: &str| {
            assert!(
                said.contains(&format!("--columns {columns}")),
                "{header}\n  said: {said}\n  not:  {columns}"
            );
        };
        let follow = |words: &str| {
            let (format, found) =
                requests(&text, &options(words)).unwrap_or_else(|error| panic!("{header}: {error}"));
            assert_eq!((format, &found[..]), ("csv", *expected), "{header}");
        };
        match outcome {
            Reads(format) => {
                let (found, records) = plain.unwrap_or_else(|error| panic!("{header}: {error}"));
                assert_eq!((found, &records[..]), (*format, *expected), "{header}");
            }
            Hint(words) => {
                hinted(words);
                assert!(!said.contains('?'), "{header}: {said}");
                follow(words.split(" (").next().unwrap_or_default());
            }
            Asks(words, filled) => {
                hinted(words);
                assert!(words.contains('?'), "{header}");
                follow(filled);
            }
            Absent(words) => {
                assert!(said.contains(words), "{header}\n  said: {said}\n  not:  {words}");
                let is_open = said.split("--columns ").nth(1).is_none_or(|hint| hint.contains('?'));
                assert!(is_open && expected.is_empty(), "{header}: {said}");
            }
        }
    }
}

//! Tests of the hints for tables: what a header says is kept, what it leaves open is asked for, and a hint that can be
//! followed reads right.

use super::*;

fn hint(text: &str) -> Option<String> {
    let options = TraceOptions::default();
    suggestion(&Head { bytes: text.as_bytes(), complete: true, options: &options })
}

#[test]
fn a_header_is_kept_and_only_what_it_leaves_open_is_asked_for() {
    let table: &[(&str, &str)] = &[
        (
            "Time (us);Offset;Size;Type\n1;512;1024;R\n",
            "--columns time,offset,size,op --time-unit us (as its header says;",
        ),
        (
            "time_ms,pid,dev,rw,lba,len\n7,77,sda,W,5,512\n",
            "--columns time,-,volume,op,offset,size --time-unit ms --address-unit 512 (as its header says; \
             workload.columns, workload.time_unit, workload.address_unit)",
        ),
        (
            "# ts_ns op sector nr_sectors\n5 R 8 8\n",
            "--columns time,op,offset,size --time-unit ns --address-unit 512 --size-unit 512 (as its",
        ),
        // Since 1970 in s, ms, us and ns; since 1601 in steps of 100 ns.
        ("ts,op,offset,size\n1700000000.5,R,512,512\n", "--columns time,op,offset,size (as its header says"),
        ("ts,op,offset,size\n1700000000500,R,512,512\n", "size --time-unit ms (as"),
        ("ts,op,offset,size\n1700000000500000,R,512,512\n", "size --time-unit us (as"),
        ("ts,op,offset,size\n1700000000500000000,R,512,512\n", "size --time-unit ns (as"),
        ("ts,op,offset,size\n128166372003061629,R,512,512\n", "size --time-unit 100ns (as"),
        (
            "ts,op,offset,size\n2007-02-22 17:00:03.06,R,512,512\n",
            "--columns time,op,offset,size (as its header says",
        ),
        ("time_s,is_read,offset,size\n1,0,512,512\n", "--columns time,op,offset,size --read-is 1 (as"),
        ("time_s,is_write,offset,size\n1,0,512,512\n", "--columns time,op,offset,size (as"),
        (
            "End Time,op,offset,size\n1.5,R,512,512\n",
            "--columns -,op,offset,size (as its header says; no column is when a request was issued, so all arrive at once;",
        ),
        (
            "time_s,op,offset,size,fdp_handle\n1,W,512,512,3\n2,W,512,512,\n",
            "--columns time,op,offset,size,handle (as",
        ),
        // A handle of another kind.
        (
            "time_s,op,offset,size,handle\n1,W,512,512,0x7ffe0040\n",
            "--columns time,op,offset,size,- (as its header says; its handles are no placement handles, which are 0 to 65534, and are passed over;",
        ),
        // A completion and a process are not what they stand beside.
        (
            "STARTs,ENDs,COMM,TYPE,BLOCK,BYTES\n1.5,1.6,sh,WSM,8,512\n",
            "--columns time,-,-,op,offset,size --address-unit 512 (as",
        ),
    ];
    for (text, expected) in table {
        let said = hint(text).unwrap_or_default();
        assert!(said.contains(expected), "{text}  said: {said}\n  not:  {expected}");
        assert!(!said.contains('?'), "{said}");
    }
}

#[test]
fn what_a_header_leaves_open_is_a_question() {
    let table: &[(&str, &str)] = &[
        (
            "ts,pid,rw,lba,len\n1,77,R,5,6\n",
            "--columns time,-,op,offset,size --time-unit ? --address-unit 512 --size-unit ? (as far as",
        ),
        (
            "time_s,rw,offset,size\n1,0,512,512\n",
            "size --read-is ? (as far as its header says; say which of 0 and 1 reads; work",
        ),
        (
            "time_s,op,where,size\n1,R,512,512\n",
            "--columns time,op,?,size (as far as its header says; for ? among the columns write offset, volume, or -;",
        ),
        (
            "when,op,offset,size\n1,R,512,512\n",
            "--columns ?,op,offset,size (as far as its header says; for ? among the columns write time, volume, or -;",
        ),
        // Which of two times is the start cannot be told.
        (
            "ts,time,op,offset,size,disk\n1,2,R,512,512,a\n",
            "--columns ?,?,op,offset,size,volume (as far as its header says; for ? among the columns write time, volume, or -;",
        ),
        // Names that other things have too.
        (
            "time_s,command,offset,size\n1,0x28,512,512\n",
            "--columns time,?,offset,size (as far as its header says; for ? among the columns write op, volume, or -;",
        ),
        (
            "time_s,op,offset,size\n1,GET,512,512\n",
            "--columns time,op,offset,size --ops r=?/w=? (as far as its header says; say which of the codes GET read and",
        ),
        // Two volumes, or a host before the disk: either alone would merge others.
        ("time_s,disk,lun,op,offset,size\n1,0,0,R,512,512\n", "--columns time,?,?,op,offset,size (as far"),
        (
            "time_s,host,disk,op,offset,size\n1,a,0,R,512,512\n",
            "--columns time,?,volume,op,offset,size (as far",
        ),
        (
            "time_s,op,address,size\n1,R,512,512\n",
            "size --address-unit ? (as far as its header says; say what its addresses count;",
        ),
        (
            "time_s,op,offset,size\n1,2,512,512\n2,5,512,512\n",
            "--columns time,op,offset,size --ops r=?/w=? (as far as its header says; say which of the codes 2, 5 read and which write; workload.columns, workload.ops)",
        ),
        // Sizes of a byte or two are not bytes.
        ("time_s,op,offset,size\n1,R,512,8\n", "--size-unit ?"),
    ];
    for (text, expected) in table {
        let said = hint(text).unwrap_or_default();
        assert!(said.contains(expected), "{text}  said: {said}\n  not:  {expected}");
    }
}

/// The name of a column is never given to another that holds something like it.
#[test]
fn no_value_makes_up_for_a_name() {
    let table: &[(&str, &str)] = &[
        // No column for an address: nothing to ask for.
        (
            "time_s,pid,op,size\n1,77,R,512\n",
            "if it is a table, its header names no column for offset, which every request has",
        ),
        ("time_s,disk,pid\n1,0,77\n", "names no column for op, offset and size, which every request has"),
        // A name of a file is no address.
        ("time_s,op,size,file\n1,R,512,a\n", "names no column for offset, which every request has"),
        (
            "0.5\t81920\t4096\tR\n0.7\t0\t8192\tW\n",
            "name its 4 columns in order: --columns ?,?,?,op with time, op",
        ),
        ("5 1 7 900000\n9 0 8 100\n", "name its 4 columns in order: --columns ?,?,?,? with"),
        // Rows that cannot be read so: dates without a time of day.
        (
            "time,op,offset,size\n2026-01-01,R,512,512\n",
            "name its 4 columns in order: --columns ?,op,?,? with",
        ),
        ("a,b,c\nx,y,z\n", "name its 3 columns in order: --columns ?,?,? with"),
    ];
    for (text, expected) in table {
        let said = hint(text).unwrap_or_default();
        assert!(said.contains(expected), "{text}  said: {said}\n  not:  {expected}");
    }
}

#[test]
fn what_is_no_table_is_not_called_one() {
    for text in ["", "hello world\n", "a,b,c\nd\ne,f\n", "one two three\0\n"] {
        assert_eq!(hint(text), None, "{text}");
    }
}

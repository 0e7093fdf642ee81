//! Tests of tables with named columns: literal lines, a table of malformed input, and a slow reader as oracle.

use harmonia_types::Operation::{Flush, Read, Trim, Write};
use proptest::prelude::*;

use super::super::testing::read_with;
use super::*;
use crate::{AUTO, Trace, TraceOptions, TraceRecord, UnitOptions};

fn named(columns: &str) -> TraceOptions {
    TraceOptions { columns: Some(columns.parse().unwrap()), ..TraceOptions::default() }
}

fn records(text: &str, columns: &str) -> Result<Vec<TraceRecord>, String> {
    read_with(text.as_bytes(), &named(columns)).map(|(records, _)| records)
}

fn record(time_ns: u64, operation: Operation, offset: u64, length: u64, volume: u16) -> TraceRecord {
    TraceRecord { volume, ..TraceRecord::new(time_ns, operation, offset, length) }
}

const USUAL: &str = "time,op,offset,size";

#[test]
fn words_numbers_and_decimals_are_requests() {
    let text = "time,op,offset,size\r\n\
                0.5,R,4096,8192\r\n\
                1,Write,0,512\n\
                1.0000000019,d,8192,4096\n\
                2,TRIM,0,0\n\
                2,0,1,2\n\
                2,1,1,1073741824\n\
                3,F,,\n\
                3,flush,7,8";
    let expected = [
        record(0, Read, 4096, 8192, 0),
        record(500_000_000, Write, 0, 512, 0),
        record(500_000_001, Trim, 8192, 4096, 0),
        record(1_500_000_000, Trim, 0, 0, 0),
        record(1_500_000_000, Read, 1, 2, 0),
        record(1_500_000_000, Write, 1, 1 << 30, 0),
        record(2_500_000_000, Flush, 0, 0, 0),
        record(2_500_000_000, Flush, 0, 0, 0),
    ];
    let (records, reader) = read_with(text.as_bytes(), &named(USUAL)).unwrap();
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["disk"]);
}

#[test]
fn columns_stand_in_any_order_among_others_and_units_are_chosen() {
    let text = "java;\"sda\";R;8;2;12;0.25\njava;sdb; w ;16;2;13;\njava;sda;0;0;1;14;3\n";
    let columns = "-,volume,op,offset,size,time,response";
    let units = UnitOptions { time_ns: Some(1000), address: Some(512), size: Some(4096), read_is: Some(1) };
    let options = TraceOptions { units, ..named(columns) };
    let (records, reader) = read_with(text.as_bytes(), &options).unwrap();
    let expected =
        [record(0, Read, 4096, 8192, 0), record(1000, Write, 8192, 8192, 1), record(2000, Write, 0, 4096, 0)];
    assert_eq!(records, expected);
    assert_eq!(reader.volumes().names(), ["sda", "sdb"]);
}

#[test]
fn a_column_says_which_writes_are_with_fua() {
    let text = "op,offset,size,fua\nW,0,1,1\nW,0,1,0\nW,0,1,\nR,0,1,1\nW,0,1,True\nW,0,1,no\nWFS,0,1,0\n";
    let records = records(text, "op,offset,size,fua").unwrap();
    let fua: Vec<bool> = records.iter().map(|record| record.fua).collect();
    assert_eq!(fua, [true, false, false, false, true, false, true], "a read is never");
    let error = read_with(b"W,0,1,2\n", &named("op,offset,size,fua")).map(|_| ()).unwrap_err();
    assert_eq!(error, "t:1: found `2` in field 4 (fua), expected 0, 1, no, yes, false, true, or nothing");
}

#[test]
fn a_column_says_the_placement_handle_of_writes() {
    let text = "op,offset,size,handle\nW,0,1,0\nW,0,1,\nW,0,1,65534\nW,0,1,0x10\nR,0,1,3\nT,0,1,3\nF,,,\nWFS,0,1,7\n";
    let records = records(text, "op,offset,size,handle").unwrap();
    let handles: Vec<_> = records.iter().map(|record| record.handle.map(|handle| handle.number())).collect();
    assert_eq!(handles, [Some(0), None, Some(65_534), Some(16), None, None, None, Some(7)]);
    let refused =
        |text: &str, columns: &str| read_with(text.as_bytes(), &named(columns)).map(|_| ()).unwrap_err();
    let expected = "expected a whole number from 0 to 65534, in digits or as 0x1f, or nothing";
    for wrong in ["65535", "-1", "1.0", "hot", "18446744073709551616"] {
        let text = format!("op,offset,size,handle\nW,0,1,1\nW,0,1,{wrong}\n");
        let words = format!("t:3: found `{wrong}` in field 4 (handle), {expected}");
        assert_eq!(refused(&text, "op,offset,size,handle"), words);
    }
    let of_a_read = "x;R;0;1\n";
    assert_eq!(
        refused(of_a_read, "handle;op;offset;size"),
        format!("t:1: found `x` in field 1 (handle), {expected}"),
        "it is checked, and dropped"
    );
}

#[test]
fn what_separates_fields_is_found_or_stated() {
    let one = [record(0, Read, 8, 9, 0)];
    for text in ["5,R,8,9", "5;R;8;9", "5\tR\t8\t9", "5 R  8\t9 ", "# t op offset size\n5 R 8 9"] {
        assert_eq!(records(text, USUAL), Ok(one.to_vec()), "{text}");
    }
    // Stated, a comma is part of a field.
    let names = [("time;op;offset;size;volume", "5;R;8;9;a,b"), ("op offset size volume", "R 8 9 a,b")];
    for (columns, text) in names {
        let (records, reader) = read_with(text.as_bytes(), &named(columns)).unwrap();
        assert_eq!((&records[..], reader.volumes().names()), (&one[..], &["a,b".to_owned()][..]), "{text}");
    }
}

#[test]
fn letters_of_rwbs_and_codes_with_a_name_are_operations() {
    let text =
        "op,offset,size\nRA,0,512\nWSM,0,512\nFWFS,0,512\nWZ,0,512\nZA,0,512\nF,,\nFF,,\nN,0,0\nZO,0,0\n";
    let (records, reader) = read_with(text.as_bytes(), &named("op,offset,size")).unwrap();
    let operations: Vec<Operation> = records.iter().map(|record| record.operation).collect();
    assert_eq!(operations, [Read, Write, Write, Trim, Write, Flush, Flush]);
    let with_fua: Vec<usize> =
        (0..).zip(&records).filter(|(_, record)| record.fua).map(|(at, _)| at).collect();
    assert_eq!(with_fua, [2], "F behind the W");
    assert_eq!(reader.log().skipped.iter().map(|noted| noted.rows).collect::<Vec<_>>(), [1, 1]);
    let coded = |ops: &str| TraceOptions { ops: Some(ops.parse().unwrap()), ..named("op,offset,size") };
    let text = "1,0,512\n0x4,0,512\nget,0,512\n9,0,512\n";
    let (records, _) = read_with(text.as_bytes(), &coded("r=1,GET/w=3,4/t=9")).unwrap();
    let operations: Vec<Operation> = records.iter().map(|record| record.operation).collect();
    assert_eq!(operations, [Read, Write, Read, Trim]);
    let refused = |options: &TraceOptions| read_with(b"1,0,512\nR,0,512\n", options).map(|_| ()).unwrap_err();
    assert_eq!(
        refused(&coded("r=1/w=3")),
        "t:2: found `R` in field 1 (op), expected a code that ops = r=1/w=3 names"
    );
    let units = UnitOptions { read_is: Some(1), ..UnitOptions::default() };
    assert_eq!(
        refused(&TraceOptions { units, ..coded("r=1/w=3") }),
        "t: ops = r=1/w=3 and read_is = 1 exclude each other: ops says what each code means"
    );
    let options = TraceOptions { columns: None, format: "msr".to_owned(), ..coded("r=1") };
    assert!(refused(&options).contains("format `msr` has operations of its own"));
}

#[test]
fn numbers_may_be_hexadecimal_and_trims_of_any_length() {
    let text = "0x10,R,0x1000,0x200\n17,D,0,0x40000000000\n";
    let expected = [record(0, Read, 4096, 512, 0), record(1_000_000_000, Trim, 0, 1 << 42, 0)];
    assert_eq!(records(text, USUAL), Ok(expected.to_vec()), "the first line is no header");
}

#[test]
fn without_times_requests_arrive_together_in_the_order_of_rows() {
    let expected = [record(0, Read, 8, 9, 0), record(0, Write, 0, 1, 0), record(0, Flush, 0, 0, 0)];
    assert_eq!(records("R,8,9\nW,0,1\nF,,\n", "op,offset,size"), Ok(expected.to_vec()));
    assert_eq!(records("F,,\nR,8,9\n", "op,offset,size").unwrap().len(), 2, "a flush is no header");
}

/// (columns, content, what the error must say).
#[test]
fn malformed_input_is_refused_with_its_place() {
    let table: &[(&str, &str, &str)] = &[
        (
            USUAL,
            "1,R,0,4096\n2,X,0,4096\n",
            "t:2: found `X` in field 2 (op), expected R, W, T, F, Read, Write",
        ),
        (
            USUAL,
            "1,R,0,4096\nx,R,0,4096\n",
            "t:2: found `x` in field 1 (time), expected a number such as 12 or",
        ),
        (USUAL, "-1,R,0,4096\n", "t:1: found `-1` in field 1 (time)"),
        (USUAL, "1e9,R,0,4096\n", "t:1: found `1e9` in field 1 (time)"),
        (USUAL, "18446744074,R,0,4096\n", "found `18446744074` in field 1 (time)"),
        (USUAL, "1,R,0x1g,4096\n", "found `0x1g` in field 3 (offset), expected a whole number below 2^64"),
        (USUAL, "1,R,0,4096.0\n", "found `4096.0` in field 4 (size)"),
        (USUAL, "1,R,,4096\n", "found `` in field 3 (offset)"),
        (USUAL, "1,R,0,1073741825\n", "found a request of 1073741825 x 1 bytes, expected at most 1 GiB"),
        (USUAL, "1,R,18446744073709551615,1\n", "expected an end below 2^64 bytes"),
        (USUAL, "1,R,0,4096\n2,R,0\n", "t:2: found the end of the line `2,R,0`, expected field 4 (size)"),
        (USUAL, "1,R,0,4096,9\n", "t:1: found `9` behind the last field, expected 4 fields"),
        (
            USUAL,
            "1,R,0,4096\n2,R,0,",
            "t:2: found `` in field 4 (size), expected a whole number below 2^64, in digits or as 0x1f (the last",
        ),
        (USUAL, "1,R,0,4096\ntime,op,offset,size\n", "t:2: found `time` in field 1 (time)"),
        (USUAL, "2,R,0,4096\n1,R,0,4096\n", "t:2: found a time"),
        (USUAL, "time,op,offset,size\n", "t: has no request in it"),
        (
            "op,offset,size,response",
            "R,0,1,0.5\nR,0,1,slow\n",
            "t:2: found `slow` in field 4 (response), expected a number",
        ),
        ("op,offset,size,volume", "R,0,1,a\nR,0,1,\n", "t:2: found `` in field 4 (volume), expected a name"),
        ("op;offset;size", "R,0,1\n", "found the end of the line `R,0,1`, expected field 2 (offset)"),
    ];
    for (columns, text, expected) in table {
        match records(text, columns) {
            Ok(records) => panic!("`{text}` was read: {records:?}"),
            Err(error) => assert!(error.contains(expected), "{text}\n  said: {error}\n  not:  {expected}"),
        }
    }
}

#[test]
fn the_names_of_the_columns_say_the_format_and_are_said_to_be_missing() {
    let open = |options: &TraceOptions, text: &[u8]| {
        Trace::from_bytes("t", text.to_vec(), options).map_err(|e| e.to_string())
    };
    let trace = open(&named(USUAL), b"1,R,0,4096\n").unwrap();
    assert_eq!((trace.format().name, trace.decision()), (NAME, None));
    let error = open(&TraceOptions::of_format(NAME), b"when,kind,lba,len\n1,R,0,4096\n").unwrap_err();
    assert!(
        error.starts_with(
            "t: format `csv` needs the names of its columns: --columns NAME,NAME,.. (workload.columns); if it"
        ) && error.contains("--columns ?,op,offset,size "),
        "{error}"
    );
    let error = open(&TraceOptions { format: "msr".to_owned(), ..named(USUAL) }, b"x\n").unwrap_err();
    assert_eq!(error, "t: format `msr` has columns of its own: only those of format `csv` are named");
    let error = open(&TraceOptions::of_format(AUTO), b"ts,pid,rw,lba,len\n1,77,R,5,6\n").unwrap_err();
    assert!(
        error.contains("name the format to see what is wrong; if it is a table, name its columns: --columns time,-,op,offset,size"),
        "{error}"
    );
}

/// Reads a line by splitting it at commas.
fn oracle(line: &str) -> Option<TraceRecord> {
    let fields: Vec<&str> = line.split(',').map(|field| field.trim_matches([' ', '\t'])).collect();
    let [op, offset, size] = fields[..] else { return None };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let operation = match op.to_ascii_lowercase().as_str() {
        "r" | "read" | "0" => Read,
        "w" | "write" | "1" => Write,
        "t" | "trim" | "d" | "discard" => Trim,
        "f" | "flush" => {
            let fine = |text: &str| text.is_empty() || number(text).is_some();
            return (fine(offset) && fine(size)).then(|| record(0, Flush, 0, 0, 0));
        }
        _ => return None,
    };
    let (offset, length) = (number(offset)?, number(size)?);
    let fits = (operation == Trim || length <= 1 << 30) && offset.checked_add(length).is_some();
    fits.then(|| record(0, operation, offset, length, 0))
}

proptest! {
    /// Lines of plausible fields, some of them off: read as the oracle does, refused where it does.
    #[test]
    fn a_line_is_read_as_a_slow_reader_does(
        fields in prop::collection::vec(
            prop_oneof![
                4 => "[0-9]{1,12}", 1 => "[0-9]{18,21}", 3 => "[RWTDFrwtdf01]", 1 => "(read|Write|TRIM|flush|discard)",
                1 => "[ -+\\--~]{0,4}",
            ],
            2..5,
        ),
    ) {
        let line = fields.join(",");
        prop_assume!(!line.contains('"') && !line.contains("0x") && !line.trim().is_empty());
        // The words that the oracle does not know.
        prop_assume!(fields[0].len() == 1 || of_rwbs(fields[0].trim().as_bytes()).is_none());
        // A first row that is always one, so that no line is taken for a header.
        let text = format!("R,0,1\n{line}\n");
        // A line that is passed over, as one without data (N) is, has no record, either.
        let read = records(&text, "op,offset,size").ok().and_then(|records| records.get(1).copied());
        prop_assert_eq!(read, oracle(&line), "{}", line);
    }
}

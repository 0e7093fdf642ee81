//! Tests of the footer on bytes made by hand, such as no library writes.

use proptest::prelude::*;

use super::*;

const STOP: u8 = 0;
const PHYSICAL: [i64; NEEDED] = [2, 6, 2, 2, 6];

/// The variable-length form of a number that is not negative, as its zigzag.
fn number(value: u64) -> Vec<u8> {
    varint(value << 1)
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn structs(count: usize, bytes: &[u8]) -> Vec<u8> {
    [&[0xf0 | STRUCT][..], &varint(count as u64), bytes].concat()
}

fn parent(children: usize) -> Vec<u8> {
    [&[0x55][..], &number(children as u64), &[STOP]].concat()
}

fn leaf(name: &str, physical: i64) -> Vec<u8> {
    let name = [&[0x38, name.len() as u8][..], name.as_bytes()].concat();
    [&[0x15, (physical << 1) as u8][..], &name, &[STOP]].concat()
}

fn our_schema() -> Vec<u8> {
    let leaves = NAMES.iter().zip(PHYSICAL).flat_map(|(name, physical)| leaf(name, physical));
    structs(NEEDED + 1, &[parent(NEEDED), leaves.collect()].concat())
}

/// The shortest row group: each column has so many rows in one byte.
fn group(rows: u8, values: u8) -> Vec<u8> {
    let chunk = [0x3c, 0x56, values << 1, 0x26, 1 << 1, STOP, STOP];
    [&[0x19, (NEEDED as u8) << 4 | STRUCT][..], &chunk.repeat(NEEDED), &[0x26, rows << 1, STOP]].concat()
}

/// A file of nothing but a footer with this schema and these row groups.
fn file(schema: &[u8], groups: &[u8]) -> Vec<u8> {
    whole(&[&[0x29][..], schema, &[0x29], groups, &[STOP]].concat())
}

fn whole(footer: &[u8]) -> Vec<u8> {
    [MAGIC, footer, &(footer.len() as u32).to_le_bytes(), MAGIC].concat()
}

#[test]
fn of_millions_of_columns_the_wanted_and_a_dozen_names_are_kept() {
    let many = 8_000_000;
    let mut elements = parent(many + NEEDED);
    elements.resize(elements.len() + many, STOP);
    let error = |elements: &[u8], count| {
        Footer::read(&file(&structs(count, elements), &structs(0, &[]))).err().unwrap()
    };
    let words = error(&elements, many + 1);
    assert!(words.contains("has no column `time`") && words.len() < 200, "{words}");
    let last = NAMES.iter().zip(PHYSICAL).flat_map(|(name, physical)| leaf(name, physical));
    elements.extend(last);
    let found = Footer::read(&file(&structs(many + 1 + NEEDED, &elements), &structs(0, &[]))).unwrap();
    let places: Vec<usize> = found.columns.iter().map(|column| column.place - many).collect();
    assert_eq!(places, [0, 1, 2, 3, 4]);

    let bytes = structs(many + 1, &elements);
    let leaves = read_schema(&mut Thrift::new(&bytes), 9).unwrap();
    assert_eq!((leaves.shown.len(), leaves.wanted.iter().flatten().count()), (NAMES_SHOWN, 0));
}

#[test]
fn row_groups_are_kept_in_a_few_times_their_bytes() {
    let count = 100_000;
    let bytes = file(&our_schema(), &structs(count, &group(1, 1).repeat(count)));
    let groups = Footer::read(&bytes).unwrap().groups;
    assert_eq!(groups.len(), count);
    assert!(groups.capacity() * size_of::<Group>() < 8 * bytes.len());
    // Those without rows may be described by hardly any bytes.
    let empty = [0x19, (NEEDED as u8) << 4 | STRUCT, STOP, STOP, STOP, STOP, STOP, STOP];
    let bytes = file(&our_schema(), &structs(count, &empty.repeat(count)));
    assert_eq!(Footer::read(&bytes).unwrap().groups.capacity(), 0);
}

#[test]
fn the_first_wrong_row_group_is_named_behind_what_the_file_is() {
    let refused = |bytes: &[u8]| Footer::read(bytes).err().unwrap();
    let groups = structs(4, &[group(3, 3), group(0, 0), group(3, 2), group(1, 3)].concat());
    assert_eq!(
        refused(&file(&our_schema(), &groups)),
        "column `time` of row group 3 has 2 values, expected one for each of 3 rows"
    );
    let pair = [&[0x18, 22][..], b"harmonia.trace.version", &[0x18, 1, b'9', STOP]].concat();
    let footer =
        [&[0x29][..], &our_schema(), &[0x29], &groups, &[0x19], &structs(1, &pair), &[STOP]].concat();
    assert!(refused(&whole(&footer)).starts_with("is version 9 of the format harmonia"));
    let mut hollow = group(3, 3);
    hollow[6] = 0;
    assert_eq!(
        refused(&file(&our_schema(), &structs(1, &hollow))),
        "column `time` of row group 1 has no bytes, expected pages of 3 rows"
    );
}

#[test]
fn a_footer_has_at_most_16_mib() {
    let refused = |length| Footer::read(&whole(&vec![STOP; length])).err().unwrap();
    assert!(refused(FOOTER_MAX).starts_with("has no column `time`"));
    assert_eq!(
        refused(FOOTER_MAX + 1),
        "has a footer of 16777217 bytes, expected at most 16777216: write larger row groups or fewer columns"
    );
}

#[test]
fn a_schema_ends_where_it_says() {
    let schema = [parent(2), leaf("time", 2), parent(1), leaf("size", 2), leaf("offset", 2)];
    let read = |count| {
        let bytes = structs(count, &schema.concat());
        read_schema(&mut Thrift::new(&bytes), 9).map(|leaves| leaves.shown.len())
    };
    assert_eq!(read(4), Ok(1));
    assert!(read(5).unwrap_err().contains("more columns than it says"));
    let endless =
        [parent(1), parent(i64::MAX as usize), parent(i64::MAX as usize), parent(i64::MAX as usize)];
    let bytes = structs(4, &endless.concat());
    assert!(read_schema(&mut Thrift::new(&bytes), 9).is_ok());
}

/// A column, or a group of columns.
#[derive(Debug, Clone)]
struct Tree(Vec<Tree>);

fn trees() -> impl Strategy<Value = Vec<Tree>> {
    let tree = Just(Tree(Vec::new()))
        .prop_recursive(4, 40, 4, |inner| prop::collection::vec(inner, 0..4).prop_map(Tree));
    prop::collection::vec(tree, 1..8)
}

/// The elements of a tree; returns how many of them are columns.
fn put(tree: &Tree, name: &str, elements: &mut Vec<Vec<u8>>) -> usize {
    if tree.0.is_empty() {
        elements.push(leaf(name, 2));
        return 1;
    }
    elements.push(parent(tree.0.len()));
    tree.0.iter().map(|tree| put(tree, "size", elements)).sum()
}

proptest! {
    /// The place of a column outside of groups is the number of columns before it, wherever they are.
    #[test]
    fn groups_of_columns_are_passed_over(trees in trees()) {
        let mut elements = vec![parent(trees.len())];
        let (mut places, mut expected) = (0, None);
        for (index, tree) in trees.iter().enumerate() {
            // Of the columns outside of groups, those at even numbers; inside all have the name.
            let name = if index % 2 == 0 { "size" } else { "other" };
            if index % 2 == 0 && tree.0.is_empty() && expected.is_none() {
                expected = Some(places);
            }
            places += put(tree, name, &mut elements);
        }
        let bytes = structs(elements.len(), &elements.concat());
        let leaves = read_schema(&mut Thrift::new(&bytes), 9).map_err(TestCaseError::fail)?;
        prop_assert_eq!(leaves.wanted[NAMES.iter().position(|&name| name == "size").unwrap()].map(|(place, _)| place), expected);
    }
}

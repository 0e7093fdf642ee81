"""Plants many mutants in one tree, each behind a switch: all are built at once, and each costs only a run of the tests.

    a + b      becomes      (if crate::planted::is(7) { (a) - (b) } else { (a) + (b) })

The environment variable HARMONIA_MUTANT says which one acts; HARMONIA_REACHED names a file that gets a line for each that a program
comes by. Not every mutant can be planted like this: not in a `const fn`,
nor the `&&` of a chain of `let`s, nor a replacement of another type. `Planted.left` says which could not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tree_sitter_rust
from tree_sitter import Language, Node, Parser, Point

VARIABLE = "HARMONIA_MUTANT"
REACHED = "HARMONIA_REACHED"


def switch(count: int) -> str:
    """The module that says which of so many mutants acts."""
    return f"""
/// Which mutant acts, and which ones a program comes by.
pub(crate) mod planted {{
    use std::{{io::Write, sync::atomic::{{AtomicBool, Ordering}}}};

    pub fn is(number: usize) -> bool {{
        static ACTS: std::sync::OnceLock<Option<usize>> = std::sync::OnceLock::new();
        static SEEN: [AtomicBool; {count}] = [const {{ AtomicBool::new(false) }}; {count}];
        let acts = *ACTS.get_or_init(|| std::env::var("{VARIABLE}").ok().and_then(|number| number.parse().ok()));
        if acts.is_none() && !SEEN[number].load(Ordering::Relaxed) && !SEEN[number].swap(true, Ordering::Relaxed) {{
            reached(number);
        }}
        acts == Some(number)
    }}

    fn reached(number: usize) {{
        if let Ok(path) = std::env::var("{REACHED}") {{
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(format!("{{number}}\\n").as_bytes()).unwrap();
        }}
    }}
}}
"""


Mutant = dict[str, Any]
"""As `cargo mutants --list --json` gives it."""
Part = Callable[[Node], str]
"""The text of a node, with what is planted within."""


@dataclass
class Edit:
    """What becomes of a part of a file."""

    number: int
    node: Node
    render: Callable[[Part], str]

    @property
    def begin(self) -> int:
        return self.node.start_byte

    @property
    def end(self) -> int:
        return self.node.end_byte


class Planted:
    """A tree with as many mutants of a sample as could be planted; a mutant's number is its position in the sample."""

    def __init__(self, tree: Path, sample: list[Mutant]) -> None:
        self.tree, self.sample = tree, sample
        self.sources = {file: (tree / file).read_bytes() for file in {mutant["file"] for mutant in sample}}
        self.switch = switch(len(sample))
        self.parser = Parser(Language(tree_sitter_rust.language()))
        roots = {file: self.parser.parse(source).root_node for file, source in self.sources.items()}
        edits = (edit(number, mutant, roots[mutant["file"]]) for number, mutant in enumerate(sample))
        self.edits = {edit.number: edit for edit in edits if edit is not None}
        for crate in {Path(file).parts[1] for file in self.sources}:
            library = Path("crates") / crate / "src" / "lib.rs"
            if str(library) not in self.sources:
                (tree / library).write_bytes((tree / library).read_bytes() + self.switch.encode())
        self.write()

    @property
    def left(self) -> list[int]:
        return [number for number in range(len(self.sample)) if number not in self.edits]

    def write(self) -> None:
        for file in self.sources:
            text, path = self.rendered(file), self.tree / file
            if path.read_bytes() != text:
                path.write_bytes(text)

    def rendered(self, file: str) -> bytes:
        source = self.sources[file]
        edits = [edit for edit in self.edits.values() if self.sample[edit.number]["file"] == file]
        edits.sort(key=lambda edit: (edit.begin, -edit.end))
        return (text(source, 0, len(source), edits) + (self.switch if file.endswith("src/lib.rs") else "")).encode()

    def drop(self, places: Iterable[tuple[str, int]]) -> bool:
        """The compiler does not take what stands at these bytes of these files: the innermost mutant there goes, or those that take an
        arm from the match there. Whether there was one."""
        dropped = set()
        for file, byte in places:
            if file in self.sources:
                planted = self.rendered(file)
                dropped |= innermost(planted.decode(), byte) or self.arms_of_match(planted, byte)
        for number in dropped:
            del self.edits[number]
        self.write()
        return bool(dropped)

    def arms_of_match(self, planted: bytes, byte: int) -> set[int]:
        """The mutants that take an arm from the match around a byte: without the arm some values have none."""
        root = self.parser.parse(planted).root_node
        match = around(root.descendant_for_byte_range(byte, byte), "match_expression")
        inside = re.findall(r"/\*(\d+)<\*/", words(match)) if match else []
        return {int(number) for number in inside if self.sample[int(number)]["genre"] == "MatchArm"}


def text(source: bytes, start: int, end: int, edits: list[Edit]) -> str:
    """A part of a file, with the edits within it; they come by where they begin, outer ones first."""
    made, at = "", start
    while edits:
        first, *edits = edits
        inner = [edit for edit in edits if edit.end <= first.end]
        edits = edits[len(inner) :]

        def part(node: Node, inner: list[Edit] = inner) -> str:
            within = [edit for edit in inner if node.start_byte <= edit.begin and edit.end <= node.end_byte]
            return text(source, node.start_byte, node.end_byte, within)

        made += source[at : first.begin].decode() + f"/*{first.number}<*/{first.render(part)}/*>{first.number}*/"
        at = first.end
    return made + source[at:end].decode()


def innermost(text: str, byte: int) -> set[int]:
    """The mutant around a byte, none if it stands in no mutant."""
    before = text.encode()[:byte].decode(errors="ignore")
    open: list[int] = []
    for piece in before.split("/*")[1:]:
        mark = piece.split("*/")[0]
        if mark.endswith("<") and mark[:-1].isdigit():
            open.append(int(mark[:-1]))
        elif mark.startswith(">") and mark[1:].isdigit():
            open.remove(int(mark[1:]))
    return set(open[-1:])


def edit(number: int, mutant: Mutant, root: Node) -> Edit | None:
    """How a mutant is planted, if there is a way."""
    span, acts, by = mutant["span"], f"crate::planted::is({number})", mutant["replacement"]
    # Sources are ASCII but for texts: columns are bytes.
    start, end = (Point(span[name]["line"] - 1, span[name]["column"] - 1) for name in ("start", "end"))
    at = root.descendant_for_point_range(start, end)
    match mutant["genre"]:
        case "FnValue":
            function = around(at, "function_item")
            modifiers = "" if function is None else " ".join(words(child) for child in function.children if child.type == "function_modifiers")
            body = None if function is None or "const" in modifiers else function.child_by_field_name("body")
            return body and Edit(number, body, lambda part: f"{{ if {acts} {{ return {by}; }} {part(body)} }}")
        case "BinaryOperator":
            return binary(number, around(at, "binary_expression", "compound_assignment_expr"), start, acts, by)
        case "UnaryOperator":
            node = around(at, "unary_expression")
            return node and Edit(number, node, lambda part: either(acts, part(node.children[-1]), words(node.children[0]) + part(node.children[-1])))
        case "MatchArmGuard":
            pattern = around(at, "match_pattern")
            guard = guard_of(pattern)
            return guard and Edit(number, guard, lambda part: either(acts, by, part(guard)))
        case "MatchArm":
            arm = around(at, "match_arm")
            pattern = arm and arm.child_by_field_name("pattern")
            return pattern and without_arm(number, pattern, acts)
        case "StructField":
            # The span ends behind a comma.
            first = root.descendant_for_point_range(start, start)
            return without_field(number, around(first, "field_initializer", "shorthand_field_initializer"), acts)
    return None


def words(node: Node) -> str:
    return node.text.decode() if node.text else ""


def either(acts: str, this: str, that: str) -> str:
    return f"(if {acts} {{ {this} }} else {{ {that} }})"


def around(node: Node | None, *kinds: str) -> Node | None:
    """The innermost node of such a kind around a node, or itself; none beyond the function it is in."""
    while node is not None and node.type not in kinds:
        node = None if node.type == "function_item" else node.parent
    return node


def binary(number: int, node: Node | None, operator_at: Point, acts: str, by: str) -> Edit | None:
    operator = node and node.child_by_field_name("operator")
    if node is None or operator is None or operator.start_point != operator_at:
        return None
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    assert left is not None and right is not None, "an operator between two expressions"
    # What stands there otherwise may have another mutant of the same operator.
    if node.type == "compound_assignment_expr":
        return Edit(number, node, lambda part: either(acts, f"{part(left)} {by} {part(right)}", part(node)))
    return Edit(number, node, lambda part: either(acts, f"({part(left)}) {by} ({part(right)})", f"({part(node)})"))


def guard_of(pattern: Node | None) -> Node | None:
    guard = pattern and pattern.child_by_field_name("condition")
    return None if guard is None or guard.type in ("let_condition", "let_chain") else guard


def without_arm(number: int, pattern: Node, acts: str) -> Edit | None:
    has_guard, guard = pattern.child_by_field_name("condition") is not None, guard_of(pattern)
    bare = pattern.named_children[0]
    if guard is not None:
        return Edit(number, pattern, lambda part: f"{part(bare)} if !{acts} && ({part(guard)})")
    return None if has_guard else Edit(number, pattern, lambda part: f"{part(bare)} if !{acts}")


def without_field(number: int, node: Node | None, acts: str) -> Edit | None:
    """The value is that of the struct that the others are taken from."""
    fields = node and node.parent
    base = next((child for child in fields.children if child.type == "base_field_initializer"), None) if fields else None
    struct = fields and fields.parent and fields.parent.child_by_field_name("name")
    if node is None or base is None or struct is None:
        return None
    name, value = words(node.children[0]), node.child_by_field_name("value") or node
    from_base = words(base.named_children[0])
    taken = f"{words(struct)}::default()" if from_base == "Default::default()" else from_base
    return Edit(number, node, lambda part: f"{name}: {either(acts, f'({taken}).{name}', part(value))}")

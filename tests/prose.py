#!/usr/bin/env python3
"""Can the first pages be read in a hurry? No sentence of them may be longer than 35 words.

    python3 tests/prose.py            # fails for a long sentence of the first pages, counts those of the others
    python3 tests/prose.py --all      # prints the long sentences of the other pages too

Code blocks, tables, comments and link targets are left out. A list item, a heading and a paragraph end a sentence.
A piece of inline code counts as one word.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORDS_MAX = 35
FIRST = ["README.md", "docs/README.md", "docs/glossary.md"]
FENCE = re.compile(r"\s*(```|~~~)")
ITEM = re.compile(r"^\s*([-*+]|\d+\.)\s+")
# A full stop ends a sentence where a space and a capital, a digit, code, a link or emphasis follow.
END = re.compile(r"""(?<=[.!?])["')*_]*\s+(?=["'(*_\[]*[A-Z0-9`])""")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|et al|vs|Fig|Figs|cf|No)\.$")


@dataclass
class Sentence:
    line: int
    text: str

    @property
    def words(self) -> int:
        # A dash or a sign between words is not a word.
        return sum(1 for word in self.text.split() if re.search(r"\w", word))


def sentences(page: str) -> Iterator[Sentence]:
    for block in blocks(page):
        yield from split(block)


def blocks(page: str) -> Iterator[list[tuple[int, str]]]:
    """Runs of numbered lines that belong together: a paragraph, a heading or a list item."""
    block: list[tuple[int, str]] = []
    fenced = comment = False
    for number, line in enumerate(page.splitlines(), 1):
        fence = FENCE.match(line) is not None
        comment = comment or line.lstrip().startswith("<!--")
        heading = line.startswith("#")
        skipped = fence or fenced or comment or line.lstrip().startswith("|") or not line.strip()
        if block and (skipped or heading or ITEM.match(line)):
            yield block
            block = []
        if not skipped:
            block.append((number, line))
        if heading and block:
            yield block
            block = []
        fenced ^= fence
        comment = comment and "-->" not in line
    if block:
        yield block


def split(block: list[tuple[int, str]]) -> Iterator[Sentence]:
    """The sentences of a block, each with the line on which it begins."""
    text = without_mark(plain(" ".join(line.strip() for _, line in block)))
    starts = line_starts(block)
    found, begin = [], 0
    for end in END.finditer(text):
        if not ABBREVIATION.search(text[begin : end.start()].rstrip("\"')*_")):
            found.append(text[begin : end.end()].strip())
            begin = end.end()
    found.append(text[begin:].strip())
    seen = 0
    for sentence in filter(None, found):
        yield Sentence(starts[min(seen, len(starts) - 1)], sentence)
        seen += len(sentence.split())


def line_starts(block: list[tuple[int, str]]) -> list[int]:
    """The line of each word of the block, as `plain` leaves them."""
    text = " ".join(f"{line.strip()} \x01{number}\x01" for number, line in block)
    starts: list[int] = []
    waiting = 0
    for word in without_mark(plain(text)).split():
        mark = re.fullmatch(r"\x01(\d+)\x01", word)
        if mark is None:
            waiting += 1
        else:
            starts += [int(mark[1])] * waiting
            waiting = 0
    return starts or [block[0][0]]


def without_mark(text: str) -> str:
    return ITEM.sub("", text, count=1)


def plain(text: str) -> str:
    text = re.sub(r"`[^`]*`", "`code`", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<[^>]*>", "", text).lstrip("# ")


def too_long(page: Path) -> list[Sentence]:
    return [sentence for sentence in sentences(page.read_text()) if sentence.words > WORDS_MAX]


def self_test() -> None:
    """The check must find a long sentence that is planted, and nothing in what it leaves out."""
    long = "A sentence " + "of words " * 17 + "ends."
    fine = "A sentence " + "of words " * 16 + "ends."
    page = f"# Title\n\nShort one. {long}\nAnother follows\n\n- {fine}\n- {fine}\n\n```text\n{long}\n```\n\n| {long} |\n"
    found = [(sentence.line, sentence.words) for sentence in sentences(page) if sentence.words > WORDS_MAX]
    if found != [(3, 37)]:
        sys.exit(f"prose: the self-test found {found}, not the one long sentence that is planted")
    wrapped = "Short,\nbut it\n" + "goes on\n" * 20 + "and ends. A new\nsentence begins `with code. And more` here."
    found = [(sentence.line, sentence.words) for sentence in sentences(wrapped)]
    if found != [(1, 45), (23, 6)]:
        sys.exit(f"prose: the self-test found {found} in wrapped lines")


def main() -> None:
    self_test()
    others = sorted(set(ROOT.glob("docs/**/*.md")) - {ROOT / page for page in FIRST})
    bad = [(page, sentence) for page in FIRST for sentence in too_long(ROOT / page)]
    rest = [(page.relative_to(ROOT), sentence) for page in others for sentence in too_long(page)]
    for page, sentence in rest if "--all" in sys.argv[1:] else []:
        print(f"  {page}:{sentence.line}: {sentence.words} words: {sentence.text}")
    for page, sentence in bad:
        print(f"{page}:{sentence.line}: {sentence.words} words, at most {WORDS_MAX}: {sentence.text}", file=sys.stderr)
    if bad:
        sys.exit(f"prose: {len(bad)} sentences of the first pages are too long")
    print(f"prose: {len(FIRST)} first pages, no sentence of more than {WORDS_MAX} words; {len(rest)} in the other pages")


if __name__ == "__main__":
    main()

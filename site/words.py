"""Words of the glossary, where pages use them.

The first use of a word in a section becomes a link to its entry, with the first sentence of the entry as its title. Links to entries
that a page has get this title, too. In tables only the first use on the page is a link, because rows repeat words. Headings, code,
comments and other links stay as they are. The theme shows titles to a mouse and the keyboard, words.js to a finger.
"""

from __future__ import annotations

import html
import os
import re
from pathlib import PurePosixPath

GLOSSARY = "docs/glossary.md"
#: Words that pages use in other senses, too.
EVERYDAY = {"link", "page", "program", "reading", "row", "spare", "step", "tie", "trigger"}
ENTRY = re.compile(r"^### (.+)\n((?:.+\n)+)", re.MULTILINE)
SENTENCE = re.compile(r".+?[.](?= [A-Z*`\[]|$)")
MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[`*]")
#: What stays as it is, except that a section begins and links to entries get titles.
KEPT = r"""(?msx)
    (?P<heading> ^\#+\ [^\n]*)
  | (?P<quote> `+) .+? (?P=quote)
  | <!-- .*? --> | <[a-z/][^>]*>
  | !?\[[^\]]*\]\((?P<target>[^)\s]*)\)
"""


class Words:
    """The words of a glossary."""

    def __init__(self, glossary: str) -> None:
        #: What each entry says, by its anchor.
        self.said: dict[str, str] = {}
        #: The anchor of each word, in small letters.
        self.anchors: dict[str, str] = {}
        for heading, text in ENTRY.findall(glossary):
            anchor = re.sub(r"[^\w-]", "", heading.lower().replace(" ", "-"))
            said = SENTENCE.match(" ".join(text.split()))
            assert said, f"{GLOSSARY}: {heading} has no sentence"
            self.said[anchor] = MARKUP.sub(r"\1", said[0])
            self.anchors |= dict.fromkeys(set(re.split(r", | and | \(|\)", heading.lower())) - EVERYDAY - {""}, anchor)
        longest_first = sorted(self.anchors, key=len, reverse=True)
        words = "|".join(re.escape(word).replace(r"\ ", r"(?:[ ]|\n[ ]*)") for word in longest_first)
        self.parts = re.compile(rf"{KEPT} | (?<![\w.-]) (?P<word>{words}) s? (?![\w-])", re.IGNORECASE)

    def marked(self, path: str, text: str) -> str:
        """A page with its words as links, each with what its entry says as its title."""
        glossary = os.path.relpath(GLOSSARY, PurePosixPath(path).parent)
        met: set[str] = set()
        met_on_page: set[str] = set()

        def titled(anchor: str) -> str:
            met.add(anchor)
            met_on_page.add(anchor)
            return f'{glossary}#{anchor} "{html.escape(self.said[anchor])}"'

        def part(found: re.Match[str]) -> str:
            if found["heading"] and not found["heading"].startswith("###"):
                met.clear()
            elif found["target"] and found["target"].startswith(f"{glossary}#"):
                anchor = found["target"].partition("#")[2]
                return found[0].replace(found["target"], titled(anchor)) if anchor in self.said else found[0]
            elif found["word"]:
                anchor = self.anchors[" ".join(found["word"].lower().split())]
                in_table = text[text.rfind("\n", 0, found.start()) + 1] == "|"
                return found[0] if anchor in (met_on_page if in_table else met) else f"[{found[0]}]({titled(anchor)})"
            return found[0]

        return text if path == GLOSSARY else self.parts.sub(part, text)

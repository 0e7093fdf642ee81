#!/usr/bin/env python3
"""Does every relative link of every page lead to something in the tree, and to a heading that is there?"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("docs/**/*.md")]
    pages = {page for page in pages if page.parent.name != "target"}
    broken = []
    for page in sorted(pages):
        for link, heading in re.findall(r"\]\(([^)#\s]*)(#[^)\s]*)?[^)]*\)", without_code(page)):
            if "://" in link:
                continue
            target = page.parent.joinpath(link) if link else page
            known = target.exists() and (not heading or target.suffix != ".md" or heading[1:] in anchors(target))
            if not known:
                broken.append(f"{page.relative_to(ROOT)}: {link}{heading}")
    if broken:
        sys.exit("links: lead nowhere\n  " + "\n  ".join(broken))
    print(f"links: {len(pages)} pages, all lead somewhere")


def without_code(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", without_code(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


if __name__ == "__main__":
    main()

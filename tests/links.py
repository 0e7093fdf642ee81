#!/usr/bin/env python3
"""Does every relative link of every page lead to something in the tree?"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("docs/**/*.md")]
    pages = {page for page in pages if page.parent.name != "target"}
    broken = []
    for page in sorted(pages):
        text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in link and not page.parent.joinpath(link).exists():
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    if broken:
        sys.exit("links: lead nowhere\n  " + "\n  ".join(broken))
    print(f"links: {len(pages)} pages, all lead somewhere")


if __name__ == "__main__":
    main()

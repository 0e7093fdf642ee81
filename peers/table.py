"""Rows as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .pairs import Pair
from .results import Results
from .verdict import Verdict

COLUMNS = {
    "mean_us": "mean, us",
    "write_amplification": "write amplification",
    "erases": "erases",
    "moved_pages": "moved pages",
}
DECIMALS = {"mean_us": 1, "write_amplification": 3}


@dataclass(frozen=True)
class Row:
    pair: Pair
    ours: Results
    theirs: Results
    apart: Mapping[str, float]
    verdict: Verdict


def _number(name: str, value: float) -> str:
    return f"{value:,.{DECIMALS.get(name, 0)}f}"


def _cell(row: Row, name: str) -> str:
    ours, theirs = row.ours.figures(), row.theirs.figures()
    has_nothing = not ours.get("write_amplification") and name != "mean_us"
    if name not in row.apart or has_nothing or not theirs[name]:
        return "-"
    return f"{_number(name, ours[name])} / {_number(name, theirs[name])} ({row.apart[name]:+.1f}%)"


def line(row: Row) -> str:
    """Ours / theirs (difference in percent of theirs)."""
    cells = [row.pair.name, *(_cell(row, name) for name in COLUMNS), row.verdict.value]
    return f"| {' | '.join(cells)} |"


def heading() -> str:
    return f"| pair | {' | '.join(COLUMNS.values())} | verdict |\n|---|{'--:|' * len(COLUMNS)}---|"


def rules(rows: Iterable[Row]) -> str:
    """What each row that differs is about, and which one shows that the difference goes."""
    lines = [f"- {row.pair.name}: {row.pair.rule}. Gone in: {row.pair.gone}." for row in rows if row.pair.rule]
    return "\n".join(lines)

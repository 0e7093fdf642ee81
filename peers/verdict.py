"""How far two results are apart, and what that says of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from .pairs import Pair
from .results import Results


class Verdict(Enum):
    """What a row says."""

    WITHIN = "within"
    OUTSIDE = "OUTSIDE"
    RULE = "rule"
    RULE_UNSEEN = "RULE UNSEEN"

    @property
    def is_expected(self) -> bool:
        return self in (Verdict.WITHIN, Verdict.RULE)


def difference(ours: float, theirs: float) -> float:
    """Ours less theirs, in percent of theirs."""
    if theirs == 0:
        return 0.0 if ours == 0 else float("inf")
    return (ours / theirs - 1) * 100


def differences(ours: Results, theirs: Results) -> dict[str, float]:
    """Of all figures that both know."""
    known = theirs.figures()
    return {name: difference(value, known[name]) for name, value in ours.figures().items() if name in known}


def verdict(pair: Pair, apart: Mapping[str, float]) -> Verdict:
    """A figure that a pair allows a tolerance for must be known, unless nothing was written."""
    is_within = all(abs(apart.get(name, 0.0)) <= percent for name, percent in pair.within.items())
    if "mean_us" not in apart:
        is_within = False
    if pair.rule:
        return Verdict.RULE_UNSEEN if is_within else Verdict.RULE
    return Verdict.WITHIN if is_within else Verdict.OUTSIDE

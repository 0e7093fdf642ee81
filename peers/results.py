"""What a run of either simulator says, in the figures that pairs compare."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Results:
    """Figures of a whole run; none where a simulator does not tell."""

    requests: int
    mean_us: float
    maximum_us: float | None = None
    write_amplification: float | None = None
    erases: int | None = None
    moved_pages: int | None = None

    def figures(self) -> dict[str, float]:
        """All that are known, by name."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: float(value) for name, value in values.items() if value is not None}


class Unreadable(Exception):
    """Output that has no such figure."""

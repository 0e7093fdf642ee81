"""Does a comparison name winners where there are some, and nobody where its figures mean nothing?

    python3 tests/judgement.py path/to/harmonia            # twenty comparisons of either kind, small
    python3 tests/judgement.py path/to/harmonia --long     # also holds the winners against 20 seeds of ten times the length

Twenty comparisons mean nothing: too few requests, an array that does not keep up, too few collections, an array that had
not settled, all requests at once. No figure of theirs may have a winner. In twenty others every winner named must be the
one that the long form names; EXPECTED has what it named. The table on the terminal, report.json and the page must agree,
and so must the Python package where it is installed.
"""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

FIGURES = {"mean": "mean", "p99": "p99", "read_p99": "p99 of reads", "erases": "erases"}
PAIR = "local,reactive-inclusive"
REQUESTS = 5000


def load(requests: int = REQUESTS, **keys: object) -> list[str]:
    names = {"rate": "workload.arrival.rate", "reads": "workload.read_fraction", "devices": "array.devices"}
    sets = [f"workload.requests={requests}"] + [f"{names[key]}={value}" for key, value in keys.items()]
    return [word for text in sets for word in ("--set", text)]


def swept(text: str) -> list[str]:
    return ["--set", text]


# Each: a name, and the arguments behind `harmonia compare`. `ALL_AT_ONCE` stands for a trace without times.
ALL_AT_ONCE = "ALL_AT_ONCE"
NOTHING: list[tuple[str, list[str]]] = [
    ("600 requests", ["tiny", "--policies", PAIR, *load(600)]),
    ("900 requests, half reads", ["tiny", "--policies", PAIR, *load(900, reads=0.5)]),
    ("1,050 requests, 500 of them warm-up", ["tiny", "--policies", PAIR, *load(1050)]),
    ("800 requests, schedules", ["tiny", *load(800), *swept("ssd.gc.schedule=blocking,preemptive")]),
    ("700 requests, levels", ["tiny", *load(700), *swept("array.level=raid0,raid5"), "--policies", "local"]),
    ("twice the rate it can serve", ["tiny", "--policies", PAIR, *load(rate=20000)]),
    ("ten times the rate", ["tiny", "--policies", PAIR, *load(rate=100000)]),
    ("overload of two SSDs", ["tiny", "--policies", PAIR, *load(rate=20000, devices=2)]),
    ("overload, schedules", ["tiny", *load(rate=30000), *swept("ssd.gc.schedule=blocking,preemptive")]),
    ("overload, victims", ["tiny", *load(rate=30000), *swept("ssd.gc.victim=greedy,fifo"), "--policies", "local"]),
    ("overload, one seed", ["tiny", "--policies", PAIR, "--seeds", "1", *load(rate=50000)]),
    ("99% reads, few collections", ["tiny", "--policies", PAIR, *load(1600, reads=0.99)]),
    ("98% reads, eight SSDs", ["tiny", "--policies", PAIR, *load(1600, reads=0.99, devices=8)]),
    ("few collections, one seed", ["tiny", "--policies", PAIR, "--seeds", "1", *load(1700, reads=0.99)]),
    ("all reads", ["tiny", "--policies", PAIR, *load(reads=1.0)]),
    ("all reads, schedules", ["tiny", *load(reads=1.0), *swept("ssd.gc.schedule=blocking,preemptive")]),
    ("not settled", ["tiny", "--policies", PAIR, *load(), *swept("precondition.overwrite=1.2"), *swept("precondition.fill=0.7")]),
    ("not settled, victims", ["tiny", *load(), *swept("precondition.overwrite=1.2"), *swept("precondition.fill=0.7"), *swept("ssd.gc.victim=greedy,fifo"),
                              "--policies", "local"]),
    ("all at once", ["tiny", "--policies", PAIR, "--trace", ALL_AT_ONCE]),
    ("all at once, schedules", ["tiny", "--trace", ALL_AT_ONCE, *swept("ssd.gc.schedule=blocking,preemptive")]),
]
SCHEDULES = "ssd.gc.schedule=blocking,preemptive"
SOMETHING: list[tuple[str, list[str]]] = [
    ("inclusive", ["tiny", "--policies", PAIR, *load()]),
    ("selective", ["tiny", "--policies", "local,reactive-selective", *load()]),
    ("soft limit", ["tiny", "--policies", "local,proactive-soft-limit", *load()]),
    ("two SSDs", ["tiny", "--policies", PAIR, *load(devices=2, rate=800)]),
    ("eight SSDs", ["tiny", "--policies", PAIR, *load(devices=8)]),
    ("half reads", ["tiny", "--policies", PAIR, *load(reads=0.5)]),
    ("all writes", ["tiny", "--policies", PAIR, *load(reads=0.0)]),
    ("half the rate", ["tiny", "--policies", PAIR, *load(rate=1000)]),
    ("a higher rate", ["tiny", "--policies", PAIR, *load(rate=2500)]),
    ("one seed", ["tiny", "--policies", PAIR, "--seeds", "1", *load()]),
    ("schedules", ["tiny", *load(), *swept(SCHEDULES), "--policies", "local"]),
    ("schedules, half reads", ["tiny", *load(reads=0.5), *swept(SCHEDULES), "--policies", "local"]),
    ("schedules, all writes", ["tiny", *load(reads=0.0), *swept(SCHEDULES), "--policies", "local"]),
    ("schedules under coordination", ["tiny", *load(), *swept(SCHEDULES), "--policies", "reactive-inclusive"]),
    ("victims", ["tiny", *load(), *swept("ssd.gc.victim=greedy,random"), "--policies", "local"]),
    ("victims, first in first out", ["tiny", *load(), *swept("ssd.gc.victim=greedy,fifo"), "--policies", "local"]),
    ("spare", ["tiny", *load(), *swept("ssd.ftl.reserved_blocks=25%,35%"), "--policies", "local"]),
    ("SSDs", ["tiny", *load(), *swept("array.devices=4,8"), "--policies", "local"]),
    ("levels", ["tiny", *load(rate=500), *swept("array.level=raid0,raid5"), "--policies", "local"]),
    ("three policies", ["tiny", "--policies", "local,reactive-inclusive,proactive-soft-limit", *load()]),
]


def main(harmonia: str, long: bool) -> int:
    try:
        import harmonia as package  # noqa: F401
    except ImportError:
        print("judgement: the Python package is not installed here and is left out")
    wrong: list[str] = []
    named = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for title, arguments in NOTHING:
            winners = judged(harmonia, folder, title, arguments, wrong)
            wrong.extend(f"{title}: {figure} names {winner}" for figure, winner in winners.items() if winner)
        for title, arguments in SOMETHING:
            winners = judged(harmonia, folder, title, arguments, wrong)
            named += any(winners.values())
            if not any(winners.values()):
                wrong.append(f"{title}: names nobody")
            expected = truth(harmonia, folder, arguments) if long else EXPECTED.get(title, {})
            if long:
                print(f"    {title!r}: {expected!r},")
            wrong.extend(
                f"{title}: {figure} names {winner}, the long form {expected.get(figure)}"
                for figure, winner in winners.items()
                if winner and expected.get(figure) != winner
            )
    print(f"judgement: {len(NOTHING)} comparisons that mean nothing, {named} of {len(SOMETHING)} others name winners")
    print("\n".join(wrong))
    return 1 if wrong else 0


def truth(harmonia: str, folder: Path, arguments: list[str]) -> dict[str, str | None]:
    """The winners of 20 seeds of ten times the length."""
    longer = [
        re.sub(r"^workload.requests=(\d+)$", lambda found: f"workload.requests={10 * int(found[1])}", word)
        for word in without_seeds(arguments)
    ]
    text = run(harmonia, ["compare", *longer, "--seeds", "20", "--json", "-q"], folder)
    return winners_of(json.loads(text)["winners"])


def without_seeds(arguments: list[str]) -> list[str]:
    if "--seeds" not in arguments:
        return arguments
    at = arguments.index("--seeds")
    return arguments[:at] + arguments[at + 2 :]


def judged(
    harmonia: str, folder: Path, title: str, arguments: list[str], wrong: list[str]
) -> dict[str, str | None]:
    """Who wins each figure, as report.json has it; where another place says something else, that is wrong."""
    if ALL_AT_ONCE in arguments:
        trace = folder / "at-once.log"
        rows = (f"/dev/sda {'read' if i % 3 == 0 else 'write'} {i * 7919 % 2000 * 4096} 4096\n" for i in range(3000))
        trace.write_text("fio version 2 iolog\n/dev/sda add\n/dev/sda open\n" + "".join(rows) + "/dev/sda close\n")
        arguments = [str(trace) if word == ALL_AT_ONCE else word for word in arguments]
        arguments += ["--set", "workload.remap=wrap", "--set", "workload.warmup=0"]
    out = folder / "out"
    table = run(harmonia, ["compare", *arguments, "--out", str(out), "-q"], folder)
    report = json.loads((out / "report.json").read_text())
    winners = winners_of(report["winners"])
    places = {"table": on_terminal(table, report), "page": on_page((out / "report.html").read_text(), report)}
    python = in_python(arguments)
    if python is not None:
        places["Python"] = python
    wrong.extend(f"{title}: {place} says {said}, report.json {winners}" for place, said in places.items() if said != winners)
    return winners


def winners_of(winners: dict[str, Any]) -> dict[str, str | None]:
    one = {figure: (winners[figure] or {}).get("labels", []) for figure in FIGURES}
    return {figure: labels[0] if len(labels) == 1 else None for figure, labels in one.items()}


def on_terminal(text: str, report: dict[str, Any]) -> dict[str, str | None]:
    _, _, said = text.partition("Who is best")
    return lowest(re.findall(r"^(mean|p99 of reads|p99|erases) {2,}(?!no winner)(\S.*?)(?:, the baseline,)? is lowest", said, re.M), report)


def on_page(text: str, report: dict[str, Any]) -> dict[str, str | None]:
    found = re.findall(r"<dt>(mean|p99 of reads|p99|erases)</dt><dd><b>(.*?)</b>(?:, the baseline,)? is lowest", text)
    return lowest([(figure, html.unescape(name)) for figure, name in found], report)


def lowest(found: list[tuple[str, str]], report: dict[str, Any]) -> dict[str, str | None]:
    said = dict(found)
    winners = {figure: said.get(name) for figure, name in FIGURES.items()}
    # Without writes, or without reads, a percentile of the reads has no line of its own.
    host = report["runs"][0]["host"]
    if host["read_requests"] == 0 or host["write_requests"] == 0:
        winners["read_p99"] = winners_of(report["winners"])["read_p99"]
    return winners


def in_python(arguments: list[str]) -> dict[str, str | None] | None:
    """The same comparison by the package; None where it is not installed, or has no such argument."""
    try:
        import harmonia
    except ImportError:
        return None
    options: dict[str, Any] = {"sets": []}
    words = iter(arguments[1:])
    for word in words:
        value = next(words)
        match word:
            case "--policies":
                options["policies"] = value.split(",")
            case "--seeds":
                options["seeds"] = int(value)
            case "--trace":
                options["trace"] = value
            case _:
                options["sets"].append(value)
    comparison = harmonia.compare(arguments[0], **options)
    winners = winners_of(comparison.winners)
    # The package names runs by policy and value.
    short = {figure: name and name.split("=")[-1].split(" ")[-1] for figure, name in winners.items()}
    return {figure: by_end(name, arguments) for figure, name in short.items()}


def by_end(name: str | None, arguments: list[str]) -> str | None:
    """What the command line calls the run whose policy or value this is."""
    for word in arguments:
        key, _, values = word.partition("=")
        if name and "," in values and name in values.split(","):
            is_word = re.fullmatch(r"[A-Za-z][\w./-]*", name)
            return name if is_word else f"{key.split('.')[-1]}={name}"
    return name


def run(harmonia: str, arguments: list[str], folder: Path) -> str:
    done = subprocess.run([harmonia, *arguments], capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode != 0:
        sys.exit(f"harmonia {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


# What 20 seeds of ten times the length name; printed by --long.
EXPECTED: dict[str, dict[str, str | None]] = {
    "inclusive": {
        "mean": "reactive-inclusive",
        "p99": "reactive-inclusive",
        "read_p99": "reactive-inclusive",
        "erases": "local",
    },
    "selective": {
        "mean": "reactive-selective",
        "p99": "reactive-selective",
        "read_p99": "reactive-selective",
        "erases": "local",
    },
    "soft limit": {
        "mean": "proactive-soft-limit",
        "p99": "proactive-soft-limit",
        "read_p99": "proactive-soft-limit",
        "erases": "local",
    },
    "two SSDs": {
        "mean": "reactive-inclusive",
        "p99": "reactive-inclusive",
        "read_p99": "reactive-inclusive",
        "erases": "local",
    },
    "eight SSDs": {
        "mean": "reactive-inclusive",
        "p99": "reactive-inclusive",
        "read_p99": "reactive-inclusive",
        "erases": "local",
    },
    "half reads": {
        "mean": "reactive-inclusive",
        "p99": None,
        "read_p99": "reactive-inclusive",
        "erases": "local",
    },
    "all writes": {
        "mean": "reactive-inclusive",
        "p99": "reactive-inclusive",
        "read_p99": None,
        "erases": "local",
    },
    "half the rate": {
        "mean": "reactive-inclusive",
        "p99": None,
        "read_p99": "reactive-inclusive",
        "erases": "local",
    },
    "a higher rate": {
        "mean": "reactive-inclusive",
        "p99": "reactive-inclusive",
        "read_p99": "reactive-inclusive",
        "erases": "local",
    },
    "one seed": {
        "mean": "reactive-inclusive",
        "p99": "reactive-inclusive",
        "read_p99": "reactive-inclusive",
        "erases": "local",
    },
    "schedules": {
        "mean": "preemptive",
        "p99": "preemptive",
        "read_p99": "preemptive",
        "erases": "blocking",
    },
    "schedules, half reads": {
        "mean": "preemptive",
        "p99": "preemptive",
        "read_p99": "preemptive",
        "erases": "blocking",
    },
    "schedules, all writes": {
        "mean": "preemptive",
        "p99": "preemptive",
        "read_p99": None,
        "erases": "blocking",
    },
    "schedules under coordination": {
        "mean": "preemptive",
        "p99": "preemptive",
        "read_p99": "preemptive",
        "erases": "blocking",
    },
    "victims": {
        "mean": "greedy",
        "p99": "greedy",
        "read_p99": "greedy",
        "erases": "greedy",
    },
    "victims, first in first out": {
        "mean": "greedy",
        "p99": "greedy",
        "read_p99": "greedy",
        "erases": "greedy",
    },
    "spare": {
        "mean": "reserved_blocks=35%",
        "p99": "reserved_blocks=35%",
        "read_p99": "reserved_blocks=35%",
        "erases": "reserved_blocks=35%",
    },
    "SSDs": {
        "mean": "devices=8",
        "p99": "devices=8",
        "read_p99": "devices=8",
        "erases": "devices=4",
    },
    "levels": {
        "mean": "raid0",
        "p99": "raid0",
        "read_p99": "raid0",
        "erases": "raid0",
    },
    "three policies": {
        "mean": "proactive-soft-limit",
        "p99": "proactive-soft-limit",
        "read_p99": "proactive-soft-limit",
        "erases": "local",
    },
}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "--long" in sys.argv[2:]))

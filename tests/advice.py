#!/usr/bin/env python3
"""Does `harmonia advise` say what is true? Eight arrays whose answer is known, five seeds each.

    python3 tests/advice.py HARMONIA            # the two cheapest cases
    python3 tests/advice.py HARMONIA --all      # all eight
    python3 tests/advice.py HARMONIA NAME ...   # these

What is true is not written here. Runs of ten times the length and another seed tell it, by plain means and percentiles: no
interval and no verdict of `advise` is looked at for it. What there is to change is taken from `advise`; what a change brings is not. A case
whose long runs do not show what it is named after fails, too.
Then `advise` is asked with five seeds, one at a time. Verdict and lever of its JSON and the words of its page must say it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

SEEDS = [1, 2, 3, 4, 5]
#: A seed that `advise` is not asked with.
LONG_SEED = 101
TIMES = 10
#: What `advise` calls worth an effort, and what it says collection may cost of the far tail.
WORTH, TAIL_MOST = 0.05, 0.1
TAIL_FIRST = ["p999", "p99", "mean"]
LOCAL = ["array.coordination.policy=local"]
IDEAL = [*LOCAL, "ssd.gc.schedule=ideal"]


@dataclass
class Run:
    """What a run measured."""

    report: dict[str, Any]

    def __getitem__(self, figure: str) -> float:
        return float(self.report["host"]["response_ns"]["all"][figure])

    @property
    def collections_a_second(self) -> float:
        """Of a drive."""
        devices = self.report["devices"]
        return sum(device["gc_events"] for device in devices) / len(devices) * 1e9 / self.report["simulated_ns"]

    @property
    def amplification(self) -> float:
        """Flash bytes for each byte that the user wrote."""
        return float(self.report["array"]["write_amplification"])

    @property
    def seconds(self) -> float:
        return self.report["simulated_ns"] / 1e9


@dataclass
class Array:
    """An array under a load, as a scenario and what is changed of it."""

    harmonia: str
    folder: Path
    scenario: str
    sets: list[str]
    kept: dict[tuple[str, ...], Run] = field(default_factory=dict)

    def asked(self, seed: int) -> tuple[dict[str, Any], str]:
        """The advice as JSON, and its page with single blanks."""
        arguments = ["advise", self.scenario, "--out", str(self.folder / "advice"), "-q"]
        page = self.command(arguments, [*self.sets, f"seed={seed}"])
        return json.loads((self.folder / "advice/advice.json").read_text()), " ".join(page.split())

    def run(self, *sets: str, times: int = TIMES) -> Run:
        """So many times as long, with another seed."""
        requests = next(int(text.split("=")[1]) for text in self.sets if text.startswith("workload.requests="))
        every = (*self.sets, f"workload.requests={times * requests}", f"seed={LONG_SEED}", *sets)
        if every not in self.kept:
            self.kept[every] = Run(json.loads(self.command(["run", self.scenario, "--json", "-q"], list(every))))
        return self.kept[every]

    def takes(self, *sets: str) -> bool:
        """Whether there can be such an array."""
        words = [self.harmonia, "check", self.scenario, *(word for text in (*self.sets, *sets) for word in ("--set", text))]
        status = subprocess.run(words, capture_output=True, cwd=self.folder, check=False).returncode
        if status not in (0, 2):
            sys.exit(f"{' '.join(words)} ended with {status}")
        return status == 0

    def command(self, arguments: list[str], sets: list[str]) -> str:
        words = [self.harmonia, *arguments, *(word for text in sets for word in ("--set", text))]
        done = subprocess.run(words, capture_output=True, text=True, cwd=self.folder, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    @cached_property
    def local(self) -> Run:
        return self.run(*LOCAL)

    @cached_property
    def ideal(self) -> Run:
        return self.run(*IDEAL)

    def cost(self, figure: str) -> float:
        """What collection adds to a figure, as a share of it without collection."""
        return self.local[figure] / self.ideal[figure] - 1

    def keeps_up(self, *sets: str) -> bool:
        """Whether the mean of a run of ten times the length is about that of the shorter one: a queue that grows has ten times the mean."""
        return self.run(*sets)["mean"] < 2 * self.run(*sets, times=1)["mean"]

    def with_lever(self, lever: dict[str, Any]) -> list[str]:
        """A change that `advise` names, as keys. The load stays on the same bytes, or on those that are filled."""
        name, kind, fill = lever["name"], lever["kind"], 1.0
        match kind:
            case "coordination":
                return [f"array.coordination.policy={name}"]
            case "schedule":
                return [*LOCAL, f"ssd.gc.schedule={name.split()[0]}"]
            case "streams":
                return [*LOCAL, f'ssd.ftl.placement={{ policy = "streams", handles = {name.split()[2]}, isolation = "persistent" }}']
            case "map":
                return [*LOCAL, f'ssd.ftl.mapping_cache="{name.removeprefix("mapping cache of ")}"']
            case "chunk":
                keys = [f'array.stripe_unit="{name.removeprefix("chunk of ")}"']
            case "spare":
                fill = float(name.split("%")[0]) / 100
                keys = [f"precondition.fill={fill}"]
            case "level":
                keys = [f"array.level={name}", f"array.layout={'near-2' if name == 'raid10' else 'left-symmetric'}"]
            case "drives":
                keys = [f"array.devices={name.split()[0]}"]
            case _:
                raise ValueError(f"{kind}: a kind of change that is not known here")
        bytes_now, page = self.local.report["array"]["usable_bytes"], 4096
        bytes_then = self.run(*LOCAL, *keys, times=1).report["array"]["usable_bytes"]
        space = int(min(bytes_now, bytes_then * fill)) // page * page
        return [*LOCAL, *keys, f"workload.space={space}B"]


def gains(array: Array, advice: dict[str, Any], figure: str) -> dict[str, tuple[str, float]]:
    """By how much each change cuts a figure in long runs: its kind and the share."""
    levers = advice["levers"]
    return {lever["name"]: (lever["kind"], 1 - array.run(*array.with_lever(lever))[figure] / array.local[figure]) for lever in levers}


def decisive(array: Array, advice: dict[str, Any]) -> tuple[str, dict[str, tuple[str, float]]]:
    """The figure that decides, the tail first: collection costs some of it, and a change cuts it. And what each change brings."""
    for figure in TAIL_FIRST:
        found = gains(array, advice, figure)
        if array.cost(figure) > WORTH and any(share >= WORTH for _, share in found.values()):
            return figure, found
    return "", {}


def any_drive(found: dict[str, tuple[str, float]], advice: dict[str, Any]) -> dict[str, tuple[str, float]]:
    """Changes for which any drive will do."""
    needs = {lever["name"]: lever["needs"] for lever in advice["levers"]}
    return {name: told for name, told in found.items() if needs[name] == "nothing" and told[0] not in ("schedule", "streams", "map")}


#: Each says what is wrong: with the case, by long runs, or with an advice.
Truth = Callable[[Array, dict[str, Any]], list[str]]
Judge = Callable[[Array, dict[str, Any], str], list[str]]


def unless(*checks: tuple[bool, str]) -> list[str]:
    return [text for is_so, text in checks if not is_so]


def says(advice: dict[str, Any], page: str, verdict: str, lever: str | None, *words: str) -> list[str]:
    """Verdict and kind of the recommended change, and words of the page."""
    recommended = advice["recommendation"]
    checks = [(advice["verdict"] == verdict, f"the verdict is {advice['verdict']}, not {verdict}: {advice['why']}"),
              (recommended["kind"] == lever, f"{recommended['lever']} is recommended, not {lever}: {recommended['text']}")]
    return unless(*checks, *((re.search(word, page) is not None, f"the page does not say /{word}/: {recommended['text']}") for word in words))


def is_among_the_best(array: Array, advice: dict[str, Any]) -> list[str]:
    """No other change for which any drive will do cuts the figure that decides by so much more that it is worth it."""
    figure, found = decisive(array, advice)
    able = any_drive(found, advice)
    best, lever = max((share for _, share in able.values()), default=0.0), advice["recommendation"]["lever"]
    here = able.get(lever, ("", 0.0))[1]
    return unless((here > best - WORTH, f"{lever} cuts {figure} by {here:.1%} in long runs, another change by {best:.1%}"))


def cuts_most(array: Array, advice: dict[str, Any], figure: str) -> list[str]:
    """No other change, for whatever drives, cuts a figure by so much more that it is worth it."""
    found, lever = gains(array, advice, figure), advice["recommendation"]["lever"]
    best, here = max((share for _, share in found.values()), default=0.0), found.get(lever, ("", 0.0))[1]
    return unless((here > best - WORTH, f"{lever} cuts {figure} by {here:.1%} in long runs, another change by {best:.1%}"))


def best_kind(array: Array, advice: dict[str, Any]) -> str:
    """The kind of the change that brings most in long runs, of those for which any drive will do."""
    _, found = decisive(array, advice)
    able = any_drive(found, advice)
    return max(able.values(), key=lambda told: told[1])[0] if able else ""


def costs_nothing(array: Array, _: dict[str, Any]) -> list[str]:
    costs = {figure: array.cost(figure) for figure in TAIL_FIRST}
    return unless(*((cost < (TAIL_MOST if figure == "p999" else WORTH), f"collection costs {cost:.1%} of {figure}") for figure, cost in costs.items()))


def spare_is_best(array: Array, advice: dict[str, Any]) -> list[str]:
    return unless((best_kind(array, advice) == "spare", f"{best_kind(array, advice)} brings most"))


def only_commands(array: Array, _: dict[str, Any]) -> list[str]:
    """Of all policies that there are and that this array can have, only those that need commands cut mean or p99."""
    listed = json.loads(array.command(["policies", "--json"], []))["coordination"]
    needs = {policy["name"]: policy["needs"]["interface"] for policy in listed if policy.get("needs")}
    shares = {(name, figure): 1 - array.run(f"array.coordination.policy={name}")[figure] / array.local[figure]
              for name in needs if array.takes(f"array.coordination.policy={name}") for figure in ("mean", "p99")}
    helps = {needs[name] for (name, _), share in shares.items() if share >= WORTH}
    return unless((helps == {"command"}, f"policies that need {sorted(helps)} help: {shares}"))


def level_is_wrong(array: Array, advice: dict[str, Any]) -> list[str]:
    """Another level with collection has a shorter tail than this one without it, and nothing else cuts the tail as much."""
    able = any_drive(gains(array, advice, "p99"), advice)
    best, share = max(able.values(), key=lambda told: told[1], default=("nothing", 0.0))
    without = 1 - array.ideal["p99"] / array.local["p99"]
    return [*costs_nothing(array, advice), *unless((best == "level" and share > max(without, WORTH), f"{able} beside {without:.1%} without collection"))]


def keeps_up(array: Array, advice: dict[str, Any]) -> dict[str, str]:
    """The changes with which it does, and their kinds."""
    return {lever["name"]: lever["kind"] for lever in advice["levers"] if array.keeps_up(*array.with_lever(lever))}


def only_more_drives(array: Array, advice: dict[str, Any]) -> list[str]:
    able = keeps_up(array, advice)
    return unless((not array.keeps_up(*LOCAL), "the array keeps up"), (not array.keeps_up(*IDEAL), "it keeps up without collection"),
                  (set(able.values()) == {"drives"}, f"it keeps up with {able}"))


def nothing_is_enough(array: Array, advice: dict[str, Any]) -> list[str]:
    able = keeps_up(array, advice)
    return unless((not array.keeps_up(*LOCAL), "the array keeps up"), (not able, f"it keeps up with {able}"))


def is_too_short(array: Array, _: dict[str, Any]) -> list[str]:
    """The load has time for a few collections of a drive only, and a longer one shows that they matter."""
    seconds = array.run(*LOCAL, times=1).seconds
    collections = array.local.collections_a_second * seconds
    return unless((collections < 10, f"{collections:.1f} collections of each drive"), (array.cost("p99") > WORTH, "collection does not matter"))


def streams_help(array: Array, advice: dict[str, Any]) -> list[str]:
    """A drive that keeps them apart writes a twentieth less to flash."""
    streams = [lever for lever in advice["levers"] if lever["kind"] == "streams"]
    written = [array.run(*array.with_lever(lever)).amplification / array.local.amplification for lever in streams]
    return unless((bool(written) and written[0] < 1 - WORTH, f"write amplification is {written} of that without streams"))


@dataclass
class Case:
    """An array, what is true of it, and what must be said."""

    name: str
    truth: Truth
    judge: Judge
    sets: list[str]
    scenario: str = "tiny"
    is_cheap: bool = False


def sets(rate: float, requests: int, reads: float, level: str, devices: int, chunk: str = "16KiB", size: str = "4KiB", **more: str) -> list[str]:
    """Keys of a small array."""
    own = [f'{key.replace("__", ".")}={value}' for key, value in more.items()]
    return [f'workload.arrival={{ process = "poisson", rate = {rate} }}', f"workload.requests={requests}", "workload.warmup=1000",
            f'workload.size.mean="{size}"', f"workload.read_fraction={reads}", f"array.level={level}", f"array.devices={devices}",
            f'array.stripe_unit="{chunk}"', "ssd.geometry.blocks_per_plane=64", *own]



#: A drive that collects in idle time, and whose collection a read suspends at once.
PATIENT = dict(ssd__gc__trigger="background", ssd__gc__schedule="preemptive", ssd__gc__begins_at="soft",
               ssd__timing__suspend_program="10us", ssd__timing__suspend_erase="10us")
NOTHING_YET = "Nothing yet: use a longer trace"
DO_NOTHING = "does not matter here.*What to do: Do nothing about garbage collection"

TWO_TENANTS = """
name = "two-tenants"
[workload]
warmup = 20000
[workload.stream.cold]
arrival = { process = "poisson", rate = 40 }
size = { distribution = "fixed", mean = "4KiB" }
read_fraction = 0.0
address = { pattern = "uniform", footprint = 0.8 }
[workload.stream.hot]
arrival = { process = "poisson", rate = 360 }
size = { distribution = "fixed", mean = "4KiB" }
read_fraction = 0.0
address = { pattern = "uniform", footprint = 0.2 }
[precondition]
fill = 1.0
overwrite = 3.0
[array]
devices = 2
level = "raid1"
stripe_unit = "4KiB"
coordination.policy = "local"
[ssd]
preset = "tiny-test"
geometry.blocks_per_plane = 64
"""

CASES = [
    # Reads of patient drives seldom wait.
    Case("collection is irrelevant", costs_nothing, lambda _, advice, page: says(advice, page, "do-nothing", None, DO_NOTHING),
         sets(100, 60000, 0.9, "raid10", 4, **PATIENT)),
    # Small writes to full drives: each block that is collected is nearly full.
    Case("spare helps", spare_is_best,
         lambda array, advice, page: [*says(advice, page, "matters", "spare", "matters here", r"Any drive will do.*% full cuts"),
                                      *is_among_the_best(array, advice)],
         sets(300, 20000, 0.5, "raid10", 4)),
    # Requests go to all drives, so whoever waits for one waits for all. Nothing is kept twice, so none can be read around.
    Case("coordination helps only with commands", only_commands,
         lambda array, advice, page: [*says(advice, page, "matters", "schedule", "Nothing that works with any drive",
                                            'Coordination helps only with drives that offer "command"'),
                                      *cuts_most(array, advice, "p99")],
         sets(100, 6000, 0.5, "raid0", 4, "4KiB", "64KiB", precondition__fill="0.8",
              workload__address='{ pattern = "uniform", footprint = 0.8 }')),
    # Patient drives, and small writes: RAID-6 reads three times before it writes three times.
    Case("the level is wrong", level_is_wrong,
         lambda _, advice, page: says(advice, page, "do-nothing", None, DO_NOTHING, "The level costs more than collection does: raid10 cuts"),
         sets(100, 60000, 0.9, "raid6", 6, **PATIENT)),
    # Reads that the links of four drives cannot carry, and those of six can.
    Case("drives are too few", only_more_drives,
         lambda _, advice, page: says(advice, page, "overload", "drives", "does not keep up", "The drives are too few for this load. It keeps up with .*6 drives"),
         sets(330000, 20000, 0.995, "raid0", 4, "4KiB"), is_cheap=True),
    # A few seconds of a load whose collections matter.
    Case("the trace is too short", is_too_short,
         lambda _, advice, page: says(advice, page, "too-short", None, "too short to say whether garbage collection matters", NOTHING_YET),
         sets(400, 2400, 0.9, "raid5", 4), is_cheap=True),
    # A hundred times what the array can serve.
    Case("nothing is enough", nothing_is_enough,
         lambda _, advice, page: says(advice, page, "overload", None, "does not keep up", "no change that was tried is enough"),
         sets(40000, 12000, 0.5, "raid5", 4)),
    # Two tenants, one of which writes a fifth of the space nine times as often as the other writes the rest.
    Case("streams help", streams_help,
         lambda array, advice, page: [*says(advice, page, "matters", "spare", r"Any drive will do.*% full cuts",
                                            r"separation of 2 streams cuts write amplification by \d.*drives that take streams \(NVMe FDP\)"),
                                      *is_among_the_best(array, advice)],
         ["workload.requests=40000"], scenario=TWO_TENANTS),
]


def wrong_with(case: Case, harmonia: str) -> list[str]:
    """What is wrong with a case and the advice on it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenario = case.scenario
        if "\n" in scenario:
            (folder / "scenario.toml").write_text(scenario)
            scenario = "scenario.toml"
        array = Array(harmonia, folder, scenario, case.sets)
        asked = {seed: array.asked(seed) for seed in SEEDS}
        wrong = [f"is no case of its name: {text}" for text in case.truth(array, asked[SEEDS[0]][0])]
        for seed, (advice, page) in asked.items():
            wrong.extend(f"seed {seed}: {text}" for text in case.judge(array, advice, page))
    return [f"{case.name}: {text}" for text in wrong]


def main(harmonia: str, *names: str) -> int:
    if unknown := set(names) - {"--all"} - {case.name for case in CASES}:
        sys.exit(f"advice: there is no case {sorted(unknown)}; there are: {', '.join(case.name for case in CASES)}")
    wanted = [case for case in CASES if "--all" in names or case.name in names or (not names and case.is_cheap)]
    wrong: list[str] = []
    for case in wanted:
        begun = time.monotonic()
        found = wrong_with(case, harmonia)
        wrong.extend(found)
        print(f"advice: {case.name}: {'wrong' if found else 'right'} with seeds {SEEDS[0]} to {SEEDS[-1]} ({time.monotonic() - begun:.0f} s)", flush=True)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(str(Path(sys.argv[1]).resolve()), *sys.argv[2:]))

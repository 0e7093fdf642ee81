"""The pages under test, written by the built command, and a browser of the system to open them in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

# What to run and with what, from the clearest picture to the hardest cases.
COMMANDS: dict[str, list[str]] = {
    "comparison": ["compare", "tiny"],
    "single": ["run", "tiny"],
    "no-gc": ["compare", "tiny", "--set", "workload.read_fraction=1.0"],
    "overloaded": ["run", "tiny", "--set", "workload.requests=8000",
                   "--set", 'workload.arrival={process="poisson", rate=30000}'],
    "sweep": ["compare", "tiny", "--policies", "local,reactive-selective,ideal", "--set", "array.devices=2,4,8",
              "--set", "ssd.gc.victim=greedy,random", "--set", "workload.requests=2000"],
    # A cross: colours from the policy, dashes from the rest; and loads that are not compared with one another.
    "cross": ["compare", "tiny", "--policies", "local,reactive-inclusive,reactive-selective,ideal", "--set", "array.devices=2,4,6"],
    "loads": ["compare", "tiny", "--set", "workload.arrival.rate=1000,2000,4000"],
    "hundred": ["compare", "tiny", "--policies", "local,reactive-inclusive,reactive-selective,ideal", "--set", "array.devices=2,3,4,5,6",
                "--set", "ssd.gc.victim=greedy,d-choices,random,fifo,cost-benefit", "--set", "workload.requests=600"],
    "schedules": ["compare", "tiny", "--policies", "local", "--set", "ssd.ftl.allocation_unit=plane", "--set", "ssd.gc.domain=plane",
                  "--set", "ssd.gc.schedule=blocking,io-parallel"],
    # Write caches in one run of both, and programs that reads suspend.
    "cached": ["compare", "tiny", "--policies", "local", "--set", "ssd.write_cache.size=none,1MiB",
               "--set", "ssd.timing.suspend_host_program=20us"],
    # Trims take no time, which no logarithmic axis has a place for.
    "deletes": ["compare", "tiny", "--policies", "local", "--set", "workload.trim_fraction=0.2",
                "--set", "ssd.gc.concurrency.policy=fixed,adaptive"],
    # A member fails, and a spare is rebuilt; another one becomes slow.
    "failing": ["compare", "tiny", "--policies", "local,reactive-inclusive", "--set", "array.level=raid5", "--set", "array.spares=1",
                "--set", 'array.failure=[{ device = 1, at = "1s" }, { device = 3, at = "0.5s", kind = "slow", factor = 2 }]',
                "--set", "array.coordination.message_latency=50ms", "--set", "array.rebuild.min_rate=2MB/s"],
    "hostile": ["compare", "HOSTILE", "--policies", "local,ideal"],
}
# What `explain --page` writes about the run "single".
EXPLAINED = "explained"
HOSTILE = "</script><script>window.broken=1</script><!--<b onclick='x'>\\\"{{data}}"


@dataclass
class Written:
    """A page, and the report beside it."""

    path: Path
    report: dict[str, Any]

    @property
    def runs(self) -> list[dict[str, Any]]:
        return self.report.get("runs", [self.report])


@dataclass
class Opened:
    """A page in the browser, and what it did that it should not."""

    page: Page
    written: Written
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Written]:
    """Every page, by name."""
    harmonia = os.environ["HARMONIA"]
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run(["bash", "-c", f"'{harmonia}' check tiny > '{folder}/tiny.toml'"], check=True)
    text = (folder / "tiny.toml").read_text()
    (folder / "hostile.toml").write_text(text.replace('name = "tiny"', f'name = "{HOSTILE}"'))
    written = {}
    for name, command in COMMANDS.items():
        command = [str(folder / "hostile.toml") if word == "HOSTILE" else word for word in command]
        seeds = ["--seeds", "1"] if command[0] == "compare" and "--seeds" not in command else []
        subprocess.run([harmonia, *command, *seeds, "--quiet", "--out", str(folder / name)], check=True, stdout=subprocess.DEVNULL)
        report = json.loads((folder / name / "report.json").read_text())
        written[name] = Written(folder / name / "report.html", report)
    subprocess.run([harmonia, "explain", str(folder / "single"), "--page", str(folder / "slowest.html"), "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)
    written[EXPLAINED] = Written(folder / "slowest.html", written["single"].report)
    return written


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's own browser: nothing is downloaded."""
    path = os.environ.get("BROWSER_PATH") or shutil.which("chromium") or shutil.which("google-chrome")
    assert path, "no browser: apt install chromium"
    with sync_playwright() as playwright:
        # The pages are our own, and containers lack what the sandbox needs.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Browser, pages: dict[str, Written]) -> Iterator[Callable[..., Opened]]:
    """Opens a page by name."""
    contexts = []

    def open_page(name: str, width: int = 1280, scheme: str = "light", height: int = 900, touch: bool = False, fragment: str = "") -> Opened:
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=touch, is_mobile=touch)
        contexts.append(context)
        opened = Opened(context.new_page(), pages[name])
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        opened.page.goto(opened.written.path.as_uri() + fragment)
        opened.page.wait_for_selector("html[data-ready]", timeout=30_000)
        return opened

    yield open_page
    for context in contexts:
        context.close()

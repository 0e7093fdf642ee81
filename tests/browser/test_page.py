"""Does report.html work in a real browser: alone, by keyboard, on a phone, in the dark, and does it tell the truth?"""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import COMMANDS, EXPLAINED, HOSTILE, Opened

Open = Callable[..., Opened]
ALL = pytest.mark.parametrize("name", COMMANDS)
SECTIONS = ["findings", "table", "why", "responses", "frontier", "timeline", "over-time", "planes", "overlap", "blame", "wear", "scenario"]


@ALL
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_asks_for_nothing_and_complains_of_nothing(opened: Open, name: str, scheme: str) -> None:
    page = opened(name, scheme=scheme)
    for button in page.page.locator("button:visible").all():
        button.click()
    assert page.requests == [page.written.path.as_uri()]
    assert page.complaints == []


@ALL
def test_every_section_is_there_and_not_empty(opened: Open, name: str) -> None:
    page = opened(name).page
    assert [section.get_attribute("id") for section in page.locator("main > section").all()] == SECTIONS
    collected = any(run["array"]["plane_utilisation_in_gc"] for run in opened(name).written.runs)
    assert page.locator("#planes").is_visible() == collected
    runs = opened(name).written.runs
    policies = {run["array"]["coordination"]["policy"] for run in runs}
    known = all(run["array"]["write_amplification_whole_cycles"] and run["host"]["response_ns"]["all"]["p99"] for run in runs)
    assert page.locator("#frontier").is_visible() == (len(policies) >= 3 and known and name != "loads")
    hidden = [section for section in ["planes", "frontier"] if not page.locator(f"#{section}").is_visible()]
    assert all(len(page.locator(f"#{section}").inner_text()) > 60 for section in SECTIONS if section not in hidden)
    written = len(opened(name).written.runs)
    assert page.locator("#table tr[data-run]").count() == written
    shown = page.locator("#responses-chart path[data-run]").count()
    assert shown == written if written <= 8 else 3 <= shown <= 8
    for chart in ["overlap", "wear"]:
        assert page.locator(f"#{chart}-chart h3").count() == shown
    assert page.locator("#blame-chart rect").count() >= shown
    assert painted(page, "#timeline-canvas") > 500 and painted(page, "#timeline-map") > 200
    everything = page.locator("body").inner_html().replace(page.locator("#scenario").inner_html(), "")
    assert not re.search(r"\bNaN\b|\bundefined\b|\bInfinity\b", re.sub(r"<script.*?</script>", "", everything, flags=re.S))


def painted(page, canvas: str) -> int:
    """Pixels of a canvas that are not blank."""
    return page.evaluate("""(selector) => {
        const canvas = document.querySelector(selector);
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let painted = 0;
        for (let at = 3; at < data.length; at += 4) painted += data[at] > 0;
        return painted;
    }""", canvas)


def span(page) -> float:
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return float(page.locator("#timeline-canvas").get_attribute("data-span"))


def test_planes_of_one_die_are_shown_for_every_schedule(opened: Open) -> None:
    page = opened("schedules").page
    panels = page.locator("#planes-chart .bars")
    assert panels.count() == 2
    blocking, parallel = panels.all()
    lanes = blocking.locator("svg text", has_text=re.compile(r"^plane \d$"))
    assert lanes.all_text_contents() == ["plane 0", "plane 1"]
    page.click("[data-planes=all]")

    def together(panel) -> int:
        """Bars that begin where that of another plane does: commands of two planes."""
        starts = panel.locator("g[data-work] rect").evaluate_all("(all) => all.map((bar) => bar.getAttribute('x'))")
        return len(starts) - len(set(starts))

    assert together(parallel) > together(blocking) + 10, "the sibling waits under blocking"
    page.click("[data-planes=first]")
    node = page.locator("#planes-chart")
    length = lambda: float(node.get_attribute("data-to")) - float(node.get_attribute("data-from"))
    before = length()
    page.click("[data-planes=in]")
    assert length() == pytest.approx(before / 2)
    page.click("[data-planes=all]")
    assert length() > before
    page.click("[data-planes=first]")
    assert length() == pytest.approx(before)


def test_the_inside_of_an_ssd_is_drawn_over_time(opened: Open) -> None:
    """Five lanes; a line's steps are the report's figures, and the readout says them."""
    both = opened("comparison")
    page, runs = both.page, both.written.runs
    paths = page.locator("#over-time-chart path")
    assert paths.count() == 5 * len(runs)
    empty = runs[0]["devices"][0]["over_time"]["empty_blocks"]
    line = page.locator("#over-time-chart path[data-lane='2'][data-run='0']").get_attribute("d") or ""
    steps = lambda path: [float(y) for y in re.findall(r"(?:M\S+ |V)([\d.]+)", path)]
    heights = steps(line)
    assert len(heights) == len(empty)
    bandwidth = steps(page.locator("#over-time-chart path[data-lane='0'][data-run='0']").get_attribute("d") or "")
    assert len(bandwidth) == len(empty) and len(set(bandwidth)) > 1
    assert heights.index(max(heights)) == empty.index(min(empty)), "lower is fewer"
    page.locator("#over-time-chart").focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#over-time-readout").inner_text()
    assert said.count("empty") == min(len(runs), 4) and "NaN" not in said
    page.locator("#over-time-view label").nth(1).click()
    assert page.locator("#over-time-chart svg[role=img]").count() == len(runs)
    page.locator("#over-time-ssd label").nth(1).click()
    other = page.locator("#over-time-chart path[data-lane='2'][data-run='0']").get_attribute("d")
    assert other != line, "another SSD"
    page.locator("#over-time-legend button").first.click()
    assert page.locator("#over-time-chart svg[role=img]").count() == len(runs) - 1


def test_write_caches_and_suspended_programs_are_drawn(opened: Open) -> None:
    """Two lanes more, empty for the run without a cache; the legend of planes names what is suspended."""
    both = opened("cached")
    page, runs = both.page, both.written.runs
    filled = [device["over_time"]["write_cache_filled"] for device in runs[1]["devices"]]
    assert "write_cache_filled" not in runs[0]["devices"][0]["over_time"]
    heights = lambda lane, run: [float(y) for y in re.findall(r"(?:M\S+ |V)([\d.]+)",
        page.locator(f"#over-time-chart path[data-lane='{lane}'][data-run='{run}']").get_attribute("d") or "")]
    for lane, of in [(5, lambda shares: sum(shares) / len(shares)), (6, max)]:
        shares = [of(at_once) for at_once in zip(*filled)]
        steps = heights(lane, 1)
        assert len(steps) == len(shares) and max(shares) > min(shares)
        # Higher is fuller, on one scale.
        low, high = steps[shares.index(min(shares))], steps[shares.index(max(shares))]
        scale = (low - high) / (max(shares) - min(shares))
        assert all(abs(low - y - (share - min(shares)) * scale) < 0.2 for y, share in zip(steps, shares))
        assert heights(lane, 0) == []
    page.locator("#over-time-chart").focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#over-time-readout").inner_text()
    assert said.count("no write cache") == 2 and "% of write caches held" in said and "% in the fullest" in said
    assert "A cache at 100% has no room" in page.locator("#over-time").inner_text()
    assert "program of the host suspended" in page.locator("#planes-legend").inner_text()
    page.click("[data-planes=all]")
    assert page.locator("#planes-chart g[data-work='9']").count() > 0
    plain = opened("comparison").page
    assert "write cache" not in plain.locator("#over-time").inner_text()


def test_the_frontier_has_a_mark_a_run_where_its_figures_are(opened: Open) -> None:
    """Marks stand in the order of the report's figures; those that no other beats are named, in picture and title."""
    both = opened("comparison")
    page, runs = both.page, both.written.runs
    marks = page.locator("#frontier-chart g[data-run]")
    assert marks.count() == len(runs)
    data = json.loads(page.locator("#data").text_content() or "")["frontier"]
    assert data["what"] == "p99.9 of reads" or "too few" in page.locator("#frontier .caption").inner_text()
    place = lambda mark: [float(at) for at in re.findall(r"[\d.]+", mark.locator(".point").get_attribute("transform") or "")[:2]]
    places = [place(mark) for mark in marks.all()]
    by_cost = [run["array"]["write_amplification_whole_cycles"] for run in runs]
    ranked = lambda values: sorted(range(len(values)), key=lambda index: values[index])
    assert ranked([x for x, _ in places]) == pytest.approx(ranked(by_cost))
    assert ranked([-y for _, y in places]) == ranked([point["y"] for point in data["points"]]), "higher is slower"
    buildable = [point for point in data["points"] if runs[point["run"]]["label"] != "ideal"]
    figures = lambda point: (point["x"], point["y"])
    beaten = lambda ours: any(x <= ours[0] and y <= ours[1] and (x, y) != ours for x, y in map(figures, buildable))
    best = [runs[point["run"]]["label"] for point in buildable if not beaten(figures(point))]
    on = [runs[int(mark.get_attribute("data-run") or 0)]["label"] for mark in page.locator("#frontier-chart g[data-on=true]").all()]
    assert on == best
    assert any(label in page.locator("#frontier-title").inner_text() for label in best)
    bars = marks.first.locator("line").count()
    assert bars == sum(data["points"][0][half] is not None for half in ["dx", "dy"])
    marks.first.locator(".point").hover()
    assert runs[0]["label"] in page.locator("#frontier-readout").inner_text()
    page.locator("#frontier-legend button").first.click()
    assert page.locator("#frontier-chart g[data-run]").count() == len(runs) - 1


def test_the_timeline_works_by_keyboard_alone(opened: Open) -> None:
    page = opened("comparison").page
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "timeline-canvas":
            break
    assert page.evaluate("document.activeElement.id") == "timeline-canvas", "the tab key reaches it"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "the focus is seen"
    whole = span(page)
    page.keyboard.press("+")
    assert span(page) == pytest.approx(whole / 2)
    start = float(page.locator("#timeline-canvas").get_attribute("data-from"))
    page.keyboard.press("ArrowRight")
    span(page)
    assert float(page.locator("#timeline-canvas").get_attribute("data-from")) > start
    page.keyboard.press("-")
    assert span(page) == pytest.approx(whole)
    page.keyboard.press("s")
    assert page.locator("#request").is_visible()
    for _ in range(40):
        page.keyboard.press("+")
    assert span(page) <= 10_000, "down to one request"
    first = page.locator("#request h3").inner_text()
    page.keyboard.press("n")
    assert page.locator("#request h3").inner_text() != first
    page.keyboard.press("Escape")
    assert span(page) == whole and not page.locator("#request").is_visible()


@pytest.mark.parametrize("name", ["comparison", "single", "overloaded"])
def test_the_slowest_request_is_that_of_the_report_and_its_parts_add_up(opened: Open, name: str) -> None:
    opened_page = opened(name)
    opened_page.page.click("[data-do=slowest]")
    cells = opened_page.page.locator("#request tbody tr td:nth-child(2)").all_inner_texts()
    ns = [round(float(cell.replace(",", "")) * 1000) for cell in cells]
    assert sum(ns[:-1]) == ns[-1] == opened_page.written.runs[0]["host"]["response_ns"]["all"]["max"]


def test_a_request_names_the_ssd_whose_collection_it_waited_for(opened: Open) -> None:
    page = opened("comparison").page
    page.click("[data-do=slowest]")
    said = page.locator("#request").inner_text()
    waited = re.search(r"It waited [\d.,]+ \S+ for garbage collection of SSD (\d+)\.", said)
    assert waited and f"SSD {waited[1]} for " in said, "and that SSD collected meanwhile"


def test_a_request_of_a_degraded_array_has_nine_parts(opened: Open, tmp_path: Path) -> None:
    """No level has redundancy in the built-in scenarios: a recording of one request, worked out by hand."""
    opened_page = opened("single")
    text = opened_page.written.path.read_text()
    slices = [1, 1, 1, 1, 1]
    # Id, arrival, flags, bytes; parity, reconstruction, GC, stripe and rebuild wait in ns; 60 of 110 ns for SSD 3.
    request = [1, 5, 10, 0b11 << 3 | 1 << 2, 1, 0b1111_0000, 0b11, 110, 40, 40, 100, 5, 4, 50]
    collected = [0] * 4
    recording = base64.b64encode(bytes(slices + request + collected)).decode()
    text = re.sub(r'(id="recording-0">)[^<]*', rf"\g<1>{recording}", text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, flags=re.S)[1])
    header = data["runs"][0]["recording"]
    header.update(length=400, requests=1, stride=1, windows=[], gap=0, members=4, widths=[400])
    text = re.sub(r'(id="data">).*?(?=</script>)', lambda found: found[1] + json.dumps(data), text, flags=re.S)
    path = tmp_path / "degraded.html"
    path.write_text(text)
    page = opened_page.page
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.click("[data-do=slowest]")
    rows = page.locator("#request tbody tr").all_inner_texts()
    parts = {row.split("\t")[0].strip(): row.split("\t")[1] for row in rows}
    expected = {"GC queue": "0.110", "parity": "0.040", "reconstruct": "0.040", "stripe wait": "0.100", "sum": "0.295"}
    expected["rebuild wait"] = "0.005"
    assert {part: parts[part] for part in expected} == expected
    said = "It waited 110 ns for garbage collection, longest for that of SSD 3: 60.0 ns."
    assert said in page.locator("#request").inner_text()
    assert opened_page.complaints == []


def fragment(page) -> str:
    return page.evaluate("location.hash")


def becomes(page, named: str) -> None:
    """The address ends so, once the browser has told the page of what was opened."""
    for _ in range(100):
        if fragment(page) == named:
            return
        page.wait_for_timeout(20)
    assert fragment(page) == named


WIDTHS = pytest.mark.parametrize("width", [1280, 400])


@WIDTHS
def test_the_slowest_requests_are_listed_and_each_has_a_link(opened: Open, width: int) -> None:
    """The link is opened by somebody else, and shows the same request of the same run."""
    both = opened("comparison", width=width)
    page = both.page
    page.locator("#timeline-runs").get_by_text("ideal").click()
    links = page.locator("#timeline-slowest a")
    assert links.count() == 10
    run = next(index for index, run in enumerate(both.written.runs) if run["label"] == "ideal")
    for place in (0, 4):
        link = links.nth(place).get_attribute("href") or ""
        assert re.fullmatch(rf"#run-{run}-request-\d+", link)
        links.nth(place).click()
        page.locator("#request h3", has_text=f"Request {int(link.split('-')[-1]):,} under ideal").wait_for()
        assert fragment(page) == link
        shown = page.locator("#request h3").inner_text()
        other = opened("comparison", width=width, fragment=link)
        assert other.page.locator("#request h3").inner_text() == shown
        assert other.page.locator("#timeline-runs input:checked + span, #timeline-runs option:checked").inner_text() == "ideal"
        assert other.page.locator("#request").evaluate("(node) => node.getBoundingClientRect().top < innerHeight"), "in view"
        assert other.complaints == []
    page.locator("#timeline-canvas").focus()
    page.keyboard.press("n")
    assert fragment(page) != link and page.locator("#request h3").inner_text() != shown, "the address follows"
    page.keyboard.press("Escape")
    assert fragment(page) == "" and not page.locator("#request").is_visible()
    assert both.complaints == [] and both.requests == [both.written.path.as_uri()]


def test_a_link_to_a_request_that_is_not_there_shows_the_page(opened: Open) -> None:
    for nowhere in ["#run-0-request-99999999", "#run-77-request-1", "#run--1-request-x"]:
        page = opened("comparison", fragment=nowhere)
        assert not page.page.locator("#request").is_visible() and page.complaints == []
    assert "Request 99,999,999 is not kept" in opened("comparison", fragment="#run-0-request-99999999").page.locator("#timeline-readout").inner_text()


@WIDTHS
def test_an_explained_request_opens_by_its_link(opened: Open, width: int) -> None:
    both = opened(EXPLAINED, width=width)
    page = both.page
    requests = page.locator("details.explained")
    ids = [node.get_attribute("id") or "" for node in requests.all()]
    listed = [(link.get_attribute("href") or "").split("-")[-1] for link in opened("single").page.locator("#timeline-slowest a").all()]
    assert [name.split("-")[-1] for name in ids] == listed and len(ids) == 10, "the ten slowest of report.html"
    requests.nth(3).locator("summary").click()
    becomes(page, f"#{ids[3]}")
    spent = [int(row.get_attribute("data-ns") or 0) for row in requests.first.locator("tr[data-ns]").all()]
    assert sum(spent) == both.written.runs[0]["host"]["response_ns"]["all"]["max"], "all of the response time"
    other = opened(EXPLAINED, width=width, fragment=f"#{ids[7]}")
    opened_ids = other.page.locator("details.explained[open]").evaluate_all("(all) => all.map((node) => node.id)")
    assert opened_ids == [ids[7]]
    box = other.page.locator(f"#{ids[7]}").bounding_box()
    assert 0 <= box["y"] < 900 and box["x"] + box["width"] <= width
    words = other.page.locator(f"#{ids[7]}").inner_text()
    assert "SSD " in words and "die " in words and "100%" in words
    requests.nth(3).locator("summary").click()
    becomes(page, "")
    for node in requests.all():
        node.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    assert both.complaints == other.complaints == [] and both.requests == [both.written.path.as_uri()]


def test_a_click_on_a_request_shows_it(opened: Open) -> None:
    page = opened("comparison").page
    page.click("[data-do=slowest]")
    page.locator("#request").evaluate("(node) => { node.hidden = true; }")
    box = page.locator("#timeline-canvas").bounding_box()
    # The chosen request begins two fifths into the view, which spans five times its length.
    page.mouse.click(box["x"] + 58 + (box["width"] - 64) * 0.5, box["y"] + 21)
    assert page.locator("#request").is_visible()


@ALL
def test_nothing_is_wider_than_a_phone(opened: Open, name: str) -> None:
    page = opened(name, width=400).page
    page.click("[data-do=slowest]")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    for picture in page.locator("#responses-chart svg, .multiples svg, .bars svg").all():
        box = picture.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 400
    clipped = page.evaluate("""() => [...document.querySelectorAll("svg text")].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.width > 0 && (box.left < -1 || box.right > 401);
    }).map((text) => text.textContent)""")
    assert clipped == []


@ALL
@pytest.mark.parametrize("width", [400, 1280])
def test_no_figure_runs_into_the_next(opened: Open, name: str, width: int) -> None:
    page = opened(name, width=width).page
    over = page.evaluate("""() => [...document.querySelectorAll("#table td, #table th")].flatMap((cell) => {
        const box = cell.getBoundingClientRect();
        const range = document.createRange();
        range.selectNodeContents(cell);
        return [...range.getClientRects()].filter((text) => text.left < box.left - 1 || text.right > box.right + 1).map(() => cell.textContent);
    })""")
    assert over == []


def looks(page) -> dict[str, tuple[str, str]]:
    """By the name of a run, colour and dash of its swatch in the table."""
    return dict(page.evaluate("""() => [...document.querySelectorAll("#table tr[data-run]")].map((row) => {
        const line = row.querySelector(".swatch path");
        return [row.querySelector(".name").textContent, [getComputedStyle(line).stroke, line.getAttribute("stroke-dasharray")]];
    })"""))


def test_colour_is_the_policy_and_the_dash_everything_else(opened: Open) -> None:
    page = opened("cross").page
    look = looks(page)
    policies = ["local", "reactive-inclusive", "reactive-selective", "ideal"]
    of = {(policy, n): look[f"{policy} + devices={n}"] for policy in policies for n in (2, 4, 6)}
    for policy in policies:
        assert len({of[policy, n][0] for n in (2, 4, 6)}) == 1, "one colour"
        assert len({of[policy, n][1] for n in (2, 4, 6)}) == 3, "three dashes"
    assert len({of[policy, 2][0] for policy in policies}) == 4, "the bound has a colour of its own too"
    assert all(of["local", n][1] == of["reactive-inclusive", n][1] for n in (2, 4, 6))


@pytest.mark.parametrize("name", ["comparison", "cross", "hundred"])
def test_every_chart_draws_a_run_as_the_table_does(opened: Open, name: str) -> None:
    page = opened(name).page
    differing = page.evaluate("""() => {
        const look = (line) => `${getComputedStyle(line).stroke} ${line.getAttribute("stroke-dasharray")}`;
        const table = (run) => look(document.querySelector(`#table tr[data-run="${run}"] .swatch path`));
        const drawn = [...document.querySelectorAll("#responses-chart path[data-run], #over-time-chart path[data-run]")];
        const keys = [...document.querySelectorAll(".legend [data-run], .multiples > [data-run]")].map((node) => [node.dataset.run, node.querySelector(".swatch path")]);
        const all = [...drawn.map((line) => [line.dataset.run, line]), ...keys];
        if (all.length < 12) return ["too few lines"];
        return all.filter(([run, line]) => look(line) !== table(run)).map(([run]) => run);
    }""")
    assert differing == []


@ALL
@pytest.mark.parametrize("width", [400, 700, 1280])
def test_small_multiples_stand_in_rows(opened: Open, name: str, width: int) -> None:
    """However many lines a heading takes: notes and pictures of neighbours begin at the same height."""
    uneven = opened(name, width=width).page.evaluate("""() => [...document.querySelectorAll(".multiples")].flatMap((chart) => {
        const rows = new Map();
        for (const panel of chart.children) {
            const tops = [...panel.children].map((child) => Math.round(child.getBoundingClientRect().top));
            rows.set(tops[0], [...(rows.get(tops[0]) ?? []), tops.join(" ")]);
        }
        return [...rows.values()].filter((row) => new Set(row).size > 1);
    })""")
    assert uneven == []


@ALL
@pytest.mark.parametrize("width", [400, 1280])
def test_no_word_is_broken(opened: Open, name: str, width: int) -> None:
    """Each word of a run's name, in table, legends and headings, stands on one line."""
    if name == "hostile":
        return
    broken = opened(name, width=width).page.evaluate("""() => [...document.querySelectorAll("#table th, #table td, .legend button, .choice span, h1, h2, h3, dt")].flatMap((node) => {
        const walk = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
        const found = [];
        for (let text; (text = walk.nextNode());) {
            for (const word of text.textContent.matchAll(/[^\\s+-]+/g)) {
                const range = document.createRange();
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                const tops = new Set([...range.getClientRects()].filter((box) => box.width > 0).map((box) => Math.round(box.top)));
                if (tops.size > 1) found.push(word[0]);
            }
        }
        return found;
    })""")
    assert broken == []


@pytest.mark.parametrize("name", ["comparison", "single", "cross", "loads", "hundred"])
def test_the_table_begins_in_the_first_screen(opened: Open, name: str) -> None:
    for width, rows in [(1280, 4), (400, 1)]:
        page = opened(name, width=width, height=800).page
        shown = page.locator("#table tr[data-run]").all()[:rows]
        assert all(row.bounding_box()["y"] + row.bounding_box()["height"] <= 800 for row in shown), (name, width)
        caution = page.locator("aside.caution")
        if caution.count():
            assert caution.bounding_box()["y"] < page.locator("table").first.bounding_box()["y"]


def test_a_hundred_runs_are_a_page_like_another(opened: Open) -> None:
    page = opened("hundred").page
    assert page.evaluate("document.documentElement.scrollHeight") < 8_000
    assert page.locator("#responses").bounding_box()["y"] < 2_000
    means = [float(cell.replace(",", "")) for cell in page.locator("#table tr[data-run]:not(.bound) td:nth-child(2) .value").all_inner_texts()]
    assert means[1:] == sorted(means[1:]), "the baseline, then the best first"
    named = set(page.locator("h1 b, h2 b").all_inner_texts())
    drawn = {page.locator(f"#table tr[data-run='{line.get_attribute('data-run')}'] .name").inner_text() for line in page.locator("#responses-chart path[data-run]").all()}
    assert named <= drawn, "what a title names is drawn"


def test_the_reader_chooses_which_runs_are_drawn(opened: Open) -> None:
    page = opened("hundred").page
    count = lambda chart: page.locator(f"#{chart}-chart h3").count()
    before = count("wear")
    page.locator("#table tr[data-run='7'] input").check()
    assert count("wear") == count("overlap") == before + 1
    assert page.locator("#responses-chart path[data-run='7']").count() == 1
    page.locator("#responses-legend [data-run='7']").click()
    assert count("wear") == before and not page.locator("#table tr[data-run='7'] input").is_checked()
    page.locator("#responses-legend select").select_option("9")
    assert page.locator("#responses-chart path[data-run='9']").count() == 1


def test_runs_under_different_loads_are_not_compared(opened: Open) -> None:
    page = opened("loads").page
    assert page.locator("tr.load").all_inner_texts() == ["rate=1000", "rate=2000", "rate=4000"]
    assert page.locator("#table td", has_text=re.compile("^baseline$")).count() >= 3
    assert not re.search(r"rate=\d+", page.locator("h1").inner_text()), "no load wins"


def test_the_whole_run_is_bands_and_a_moment_is_requests(opened: Open) -> None:
    page = opened("comparison").page
    dots = lambda: int(page.locator("#timeline-canvas").get_attribute("data-dots"))
    assert 20 < dots() < 250, "the slowest of each slice"
    page.click("[data-do=slowest]")
    span(page)
    assert 0 < dots() <= 400


def test_help_with_keys_is_for_those_who_have_keys(opened: Open) -> None:
    assert opened("comparison").page.locator("#timeline-keys").is_visible()
    assert not opened("comparison", width=400, touch=True).page.locator("#timeline-keys").is_visible()


CONTRAST = """() => {
    const channel = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (node) => {
        for (; node; node = node.parentElement) {
            const color = numbers(getComputedStyle(node).backgroundColor);
            if (color.length === 3 || color[3] > 0) return color;
        }
        return [255, 255, 255];
    };
    // A label stands on its bar, or on the ground it brings along.
    const bar = (node) => {
        const rect = node.closest("[data-work]")?.querySelector("rect");
        const own = node.parentElement?.querySelector("rect.ground") ?? rect;
        const grounds = rect ? [getComputedStyle(own).fill] : [];
        const ground = grounds.find((color) => color.startsWith("rgb"));
        return ground && numbers(ground);
    };
    const poor = [];
    for (const node of document.querySelectorAll("body *")) {
        const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
        if (!own || node.closest("script, style, noscript, defs, title, .skip") || node.getClientRects().length === 0) continue;
        const style = getComputedStyle(node);
        const [a, b] = [light(numbers(node.closest("svg") ? style.fill : style.color)), light(bar(node) ?? behind(node))].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < 4.5) poor.push(`${node.tagName} ${node.className.baseVal ?? node.className}: ${ratio.toFixed(2)} ${node.textContent.slice(0, 30)}`);
    }
    return poor;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened: Open, scheme: str) -> None:
    page = opened("comparison", scheme=scheme).page
    page.click("[data-do=slowest]")
    assert page.evaluate(CONTRAST) == []


def test_the_button_turns_light_into_dark(opened: Open) -> None:
    page = opened("comparison").page
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.click("#theme")
    dark = page.evaluate(ground)
    assert (light, dark) == ("rgb(255, 255, 255)", "rgb(20, 23, 26)")
    assert page.evaluate(CONTRAST) == []
    page.click("#theme")
    assert page.evaluate(ground) == light


def test_the_words_agree_with_the_report(opened: Open) -> None:
    opened_page = opened("comparison")
    runs = opened_page.written.runs
    mean = {run["label"]: run["host"]["response_ns"]["all"]["mean"] for run in runs}
    buildable = {label: value for label, value in mean.items() if label != "ideal"}
    best = min(buildable, key=buildable.__getitem__)
    gain = (1 - mean[best] / mean["local"]) * 100
    headline = opened_page.page.locator("h1").inner_text()
    assert headline.startswith(f"{best} cuts the mean response time by {gain:.0f}%")
    assert opened_page.page.locator(".lead").inner_text().startswith(
        f"Garbage collection matters here. Without coordination (local) the mean is {mean['local'] / 1e6:.3f} ms, "
    )
    gc_share = {run["label"]: run["host"]["blame_ns"]["queue_gc"] / sum(run["host"]["blame_ns"].values()) for run in runs}
    why = opened_page.page.locator("#why .text").inner_text()
    assert f"Under local the mean response time is {mean['local'] / 1e6:.3f} ms, under {best} {mean[best] / 1e6:.3f} ms" in why
    assert f"is {gc_share['local'] * 100:.0f}% and {gc_share[best] * 100:.0f}% of the response time" in why
    tied = opened_page.written.report["winners"]["mean"]["labels"][1:]
    ties = {0: "", 1: f"ties with {tied[0]}" if tied else ""}.get(len(tied), f"ties with {len(tied)} others")
    assert ties in headline, "headline and winners agree"
    rows = opened_page.page.locator("#table tbody tr")
    for index, run in enumerate(runs):
        row = rows.nth(index).inner_text()
        assert f"{run['array']['erases']:,}" in row and f"{mean[run['label']] / 1e6:.3f}"[:5] in row


@pytest.mark.parametrize("name", ["comparison", "single", "no-gc", "cross"])
def test_the_page_opens_with_the_sentences_of_the_terminal(opened: Open, name: str) -> None:
    """What collection costs, then what to do, and the cautions: the same words on both."""
    both = opened(name)
    command = [os.environ["HARMONIA"], *COMMANDS[name], *(["--seeds", "1"] if COMMANDS[name][0] == "compare" else [])]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # The first line is the heading.
    said = [" ".join(part.split()) for part in printed.split("\n", 1)[1].split("\n\n")]
    lead = both.page.locator(".lead").inner_text()
    answer = next(part for part in said if "The array serves" in part or "All runs keep up with the load" in part)
    answer = answer.split(" warning: ")[0]
    assert lead.startswith(answer), (answer, lead)
    everything = " ".join(said)
    for warning in both.written.report.get("warnings", []):
        text = warning["text"][1:]
        if warning["code"] == "address-space":  # both note it beside the figures
            continue
        told = text if warning["code"] != "one-seed" else "from parts of one run"
        assert (told in everything or "(--details" in everything or "More warnings: --details" in everything) and text in " ".join(both.page.locator(".caution").all_text_contents()), text
    if name == "no-gc":
        assert "Do nothing about garbage collection." in lead


def test_what_must_be_known_first_is_said(opened: Open) -> None:
    notes = lambda name: " ".join(opened(name).page.locator(".caution").all_inner_texts())  # noqa: E731
    assert "does not keep up" in notes("overloaded")
    assert "No garbage was collected" in notes("no-gc")
    assert "does not keep up" not in notes("comparison") and "No garbage" not in notes("comparison")


def test_a_name_cannot_break_out(opened: Open) -> None:
    page = opened("hostile").page
    assert page.evaluate("window.broken") is None
    name = HOSTILE.replace('\\"', '"')
    assert name in page.locator(".kicker").inner_text() and name in page.title()


def test_the_slow_ones_have_an_axis_of_their_own(opened: Open) -> None:
    page = opened("comparison").page
    page.get_by_text("The slow ones").click()
    assert "1 in 100" in page.locator("#responses-chart").inner_text()
    page.locator("#responses-chart").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#responses-readout").inner_text().startswith("Done within")


def test_switching_runs_keeps_the_moment_and_the_request(opened: Open) -> None:
    page = opened("comparison").page
    page.click("[data-do=slowest]")
    before = (page.locator("#request h3").inner_text(), span(page))
    page.locator("#timeline-runs").get_by_text("ideal").click()
    after = (page.locator("#request h3").inner_text(), span(page))
    assert before[1] == after[1] and "under ideal" in after[0]
    assert before[0].split(" under ")[0] == after[0].split(" under ")[0], "the same request"


def test_what_befell_ssds_is_drawn_and_said(opened: Open) -> None:
    """Lanes of SSDs that were missing, rebuilt or slow, their keys, and a row for each state of the array."""
    failing = opened("failing")
    page, runs = failing.page, failing.written.runs
    span(page)
    drawn = page.locator("#timeline-canvas").get_attribute("data-ailing") or ""
    assert drawn.split(", ") == ["slow 3", "failed 1", "rebuilding 1"]
    keys = page.locator("#timeline-legend").inner_text()
    assert all(key in keys for key in ["SSD missing", "SSD being rebuilt", "slow SSD"])
    rows = page.locator("#failures tbody tr").all()
    phases = [phase for run in runs for phase in run["array"]["failures"]["response_ns"].values() if phase["seconds"] > 0]
    assert len(rows) == len(phases) >= 3 * len(runs)
    shown = [int(row.locator("td").nth(2).inner_text().replace(",", "")) for row in rows]
    assert shown == [phase["read"]["count"] for phase in phases]
    assert "SSD 1 failed at 1.000 s" in page.locator("#failures").inner_text()
    healthy = opened("comparison").page
    assert healthy.locator("#failures").count() == 0 and "SSD missing" not in healthy.locator("#timeline-legend").inner_text()

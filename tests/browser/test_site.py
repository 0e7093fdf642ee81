"""Does the site of the documentation work in a real browser: is a question answered, on a screen, on a phone, without a network?

`make site-test` builds the site and runs this file. SITE is the folder of the site. It is opened as files, without a server.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

SITE = Path(os.environ.get("SITE", "target/site")).resolve()
#: All pages, but of each kind of policy only the longest page: these are alike.
PAGES = [*(str(page.relative_to(SITE)) for page in sorted([*SITE.glob("*.html"), *SITE.glob("docs/*.html"), *SITE.glob("experiments/*.html")]) if page.name != "404.html"),
         *(str(max(SITE.glob(f"docs/policies/{kind}-*.html"), key=lambda page: page.stat().st_size).relative_to(SITE))
           for kind in ("coordination", "victim", "schedule", "concurrency"))]
#: A word of the glossary, where a page uses it.
WORD = 'article a[href*="glossary.html#"]'
#: What somebody would type, and the page that answers. It must be among the first five pages found.
QUESTIONS = {
    "how long will my drives last": "docs/lifetime.html",
    "which drives should I buy": "docs/advise.html",
    "RAID-6 trace": "docs/traces.html",
    "write cache": "docs/write-cache.html",
    "p99.9": "docs/glossary.html",
    "own policy": "docs/python-policies.html",
    "why is one request slow": "docs/explain.html",
    "rebuild after a failure": "docs/failures.html",
    "run on a cluster": "docs/sweeps.html",
    "over-provisioning": "docs/glossary.html",
    "what is not modelled": "docs/not-modelled.html",
    "which coordination policy": "docs/policies.html",
}


@dataclass
class Opened:
    """A page of the site, and what it did that it should not."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto((SITE / path).as_uri())

    def strangers(self) -> list[str]:
        """Requests that leave the site."""
        return [url for url in self.requests if not url.startswith((f"{SITE.as_uri()}/", "data:", "blob:"))]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """A window on the site."""
    contexts = []

    def open_site(width: int = 1280, scheme: str = "light", touch: bool = False) -> Opened:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, has_touch=touch, is_mobile=touch)
        contexts.append(context)
        opened = Opened(context.new_page())
        opened.page.on("console", lambda message: opened.complaints.append(f"{opened.page.url}: {message.text}"))
        opened.page.on("pageerror", lambda error: opened.complaints.append(f"{opened.page.url}: {error}"))
        opened.page.on("request", lambda request: opened.requests.append(request.url))
        return opened

    yield open_site
    for context in contexts:
        context.close()


def without_search(site: Opened) -> None:
    """Each page would make the index of the search anew."""
    for part in ("search", "workers"):
        site.page.route(f"**/{part}/*", lambda route: route.fulfill(body="", content_type="text/javascript"))


def test_the_first_page_leads_to_three_others(opened: Callable[..., Opened]) -> None:
    site = opened()
    site.go("index.html")
    tabs = site.page.locator(".md-tabs__link")
    assert [tab.strip() for tab in tabs.all_text_contents()][:3] == ["Overview", "Start here", "Drives"]
    for tab, link, title in [
        ("Start here", "Advice on drives to buy", "Advice"),
        ("Drives", "The write cache of a drive", "The write cache"),
        ("Trust", "Validation", "Validation"),
    ]:
        tabs.filter(has_text=tab).click()
        site.page.locator(".md-sidebar--primary").get_by_role("link", name=link, exact=True).click()
        assert title in site.page.locator("h1").inner_text()
    assert site.complaints == []
    assert site.strangers() == []


def test_a_question_finds_its_page(opened: Callable[..., Opened]) -> None:
    site = opened()
    site.go("index.html")
    missed = {}
    field = site.page.locator("input[name=query]")
    field.click()
    results = site.page.locator(".md-search-result__item > a")
    for question, answer in QUESTIONS.items():
        # The page listens to keys.
        field.fill("")
        field.press("End")
        expect(results).to_have_count(0)
        field.fill(question)
        field.press("End")
        expect(results).not_to_have_count(0)
        found = results.evaluate_all("(links) => links.map((link) => link.getAttribute('href'))")
        paths = list(dict.fromkeys(re.sub(r"[?#].*", "", link).removeprefix(f"{SITE.as_uri()}/") for link in found))
        if answer not in paths[:5]:
            missed[question] = paths
    assert missed == {}
    assert site.complaints == []
    assert site.strangers() == []


def test_words_say_what_the_glossary_says(opened: Callable[..., Opened]) -> None:
    """In its first sentence, and neither in headings nor in code."""
    page = opened().page

    def parsed(path: str, look: str) -> list[list[str]]:
        """What the look finds in a page that is not opened."""
        return page.evaluate(f"(text) => {look}(new DOMParser().parseFromString(text, 'text/html'))", (SITE / path).read_text(encoding="utf-8"))

    entries = {anchor: " ".join(text.split()) for anchor, text in parsed(
        "docs/glossary.html", "((page) => [...page.querySelectorAll('h3[id]')].map((one) => [one.id, one.nextElementSibling.textContent]))")}
    used: dict[str, set[str]] = {}
    wrong: list[tuple[str, ...]] = []
    for path in PAGES:
        for word, anchor, title, inside in parsed(path, f"""((page) => [...page.querySelectorAll('{WORD}')].map(
                (one) => [one.textContent, one.getAttribute('href').split('#')[1], one.title, one.closest('h1, h2, h3, h4, h5, pre, code')?.tagName ?? '']))"""):
            used.setdefault(path, set()).add(" ".join(word.split()).lower())
            first = title.endswith(".") and ". " not in title and f"{entries[anchor]} ".startswith(f"{title} ")
            if inside or not first:
                wrong.append((path, word, title, inside))
        # In code a link is text.
        if "glossary.md#" in parsed(path, "((page) => [[page.querySelector('article').textContent]])")[0][0]:
            wrong.append((path, "a link as text"))
    assert wrong == []
    assert {"gc", "aged array", "parity"} <= used["index.html"]
    assert {"victim", "write amplification", "stripe unit"} <= used["docs/concepts.html"]
    assert {"hard threshold", "member", "token"} <= used["docs/policies.html"]


@pytest.mark.parametrize("width", [1280, 400])
def test_a_word_tells_its_meaning(opened: Callable[..., Opened], width: int) -> None:
    """To the keyboard on a screen, to a finger on a phone; the link to the glossary works with both."""
    site = opened(width, touch=width == 400)
    site.go("docs/concepts.html")
    word = site.page.locator(WORD).filter(has_text="victim").first
    tooltip = site.page.locator(".md-tooltip2--active")
    if width == 400:
        word.tap()
    else:
        for _ in range(100):
            site.page.keyboard.press("Tab")
            if word.evaluate("(one) => one === document.activeElement"):
                break
    expect(tooltip).to_have_text("The block that a collection frees.")
    expect(word).to_have_attribute("aria-describedby", tooltip.get_attribute("id") or "")
    box = tooltip.locator("div").bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width
    assert site.page.url.endswith("concepts.html")
    if width == 400:
        word.tap()
    else:
        word.press("Enter")
    site.page.wait_for_url("**/glossary.html#victim")
    assert site.complaints == []


def test_no_page_is_wider_than_the_screen(opened: Callable[..., Opened]) -> None:
    """And each picture is shown."""
    site = opened()
    without_search(site)
    assert len(PAGES) > 35
    wide, blank = [], []
    for path in PAGES:
        for width in (1280, 400):
            site.page.set_viewport_size({"width": width, "height": 900})
            if width == 1280:
                site.go(path)
            if site.page.evaluate("document.scrollingElement.scrollWidth") > width:
                wide.append(f"{path} at {width}")
        pictures = site.page.locator("article img").evaluate_all("(all) => all.filter((one) => !one.naturalWidth).map((one) => one.src)")
        blank += pictures
    assert wide == []
    assert blank == []
    assert site.strangers() == []


def test_it_is_dark_in_the_dark(opened: Callable[..., Opened]) -> None:
    for scheme, dark in [("light", False), ("dark", True)]:
        site = opened(scheme=scheme)
        site.go("docs/findings.html")
        red, green, blue = map(int, re.findall(r"\d+", site.page.evaluate("getComputedStyle(document.body).backgroundColor"))[:3])
        assert (red + green + blue < 200) == dark
        assert site.complaints == []


def test_every_link_leads_to_a_file() -> None:
    """Also those to copies of files, which the generator does not look into."""
    broken = []
    for page in SITE.glob("**/*.html"):
        for link in re.findall(r'<(?:a|link|img|script)\b[^>]*?(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8")):
            link = html.unescape(link)
            if not re.match(r"[a-z]+:", link) and not (page.parent / link).exists() and page.name != "404.html":
                broken.append(f"{page.relative_to(SITE)}: {link}")
    assert broken == []

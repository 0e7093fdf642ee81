"""Are results read by attribute, kept in files, shown in notebooks, and given with their warnings?"""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path

import harmonia
import pytest

FEW = {"workload.requests": 800}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the cache of whoever runs the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def test_items_are_attributes_too() -> None:
    report = harmonia.run("tiny")
    assert isinstance(report, dict)
    assert report.host.response_ns.all.mean == report["host"]["response_ns"]["all"]["mean"] > 0
    assert report.devices[0].erases == report["devices"][0]["erases"]
    with pytest.raises(AttributeError, match="no 'trace' in this part of the report; there are schema, "):
        report.trace
    assert not hasattr(report.host, "nonsense")
    for other in (copy.deepcopy(report), pickle.loads(pickle.dumps(report))):
        assert other == report and other.host.requests == report.host.requests


def test_years_are_there_where_something_says_what_drives_endure() -> None:
    assert not hasattr(harmonia.run("tiny").array, "lifetime")
    rated = harmonia.run("tiny", sets={"ssd.rating.cycles": 3000})
    first = rated.array.lifetime.first
    assert first.limit == "cycles"
    assert first.years == min(device.lifetime.years.cycles for device in rated.devices) > 0


def test_results_are_kept_in_files(tmp_path: Path) -> None:
    report, file = harmonia.run("tiny"), tmp_path / "a.json"
    report.save(file)
    again = harmonia.load(file)
    assert isinstance(again, harmonia.Report) and again == report and again.host == report.host
    compared = harmonia.compare("tiny", policies=["local", "ideal"], seeds=2)
    compared.save(file)
    back = harmonia.load(file)
    assert isinstance(back, harmonia.Comparison) and back == compared and back[2].label == "ideal"
    assert (back.intervals, back.winners, back.warnings) == (compared.intervals, compared.winners, compared.warnings)
    for text, why in (("nonsense", "is not JSON"), ("{}", "neither a report"), ("[1]", "neither a report")):
        file.write_text(text)
        with pytest.raises(ValueError, match=rf"a\.json: .*{why}"):
            harmonia.load(file)


def test_warnings_are_given_at_the_line_that_asked() -> None:
    with pytest.warns(harmonia.HarmoniaWarning, match="requests were measured") as caught:
        few = harmonia.compare("tiny", policies=["local"], seeds=1, sets=FEW)
    assert [warning.message.code for warning in caught if isinstance(warning.message, harmonia.HarmoniaWarning)] == [
        warning["code"] for warning in few.warnings
    ]
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(harmonia.HarmoniaWarning, match="Use seeds=10 to"):
        harmonia.compare("tiny", policies=["local"], seeds=1, sets={"array.devices": "2,3"})
    with pytest.warns(harmonia.HarmoniaWarning, match="requests were measured") as caught:
        harmonia.run("tiny", sets=FEW)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        harmonia.compare("tiny", policies=["local", "reactive-inclusive"])


def test_notebooks_show_a_table() -> None:
    report = harmonia.run("tiny")
    report["label"] = "<b>&"
    shown = report._repr_html_()
    assert "&lt;b&gt;&amp;" in shown and "<b>" not in shown
    assert f"{report.host.response_ns.all.mean / 1e6:.3f}" in shown and shown.count("<tr>") == 2
    compared = harmonia.compare("tiny", policies=["local", "ideal"], seeds=2, sets={"workload.read_fraction": 0.0})
    shown = compared._repr_html_()
    assert shown.count("<tr>") == 5 and shown.count("<td>ideal</td>") == 2 and "<td>–</td>" in shown


def test_a_file_that_cannot_be_replaced_leaves_no_half_one(tmp_path: Path) -> None:
    report = harmonia.run("tiny")
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError):
        report.save(tmp_path / "taken")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_the_page_of_results_is_written_whole(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    sets = {"array.devices": [2, 4], "workload.requests": 800}
    harmonia.compare("tiny", policies=["local", "ideal"], seeds=1, sets=sets, requests=False, page=page)
    text = page.read_text(encoding="utf-8")
    assert text.lower().startswith("<!doctype html>") and text.rstrip().endswith("</html>")
    assert "devices=4" in text and "array.devices" in text and "ideal" in text
    harmonia.run("tiny", sets={"workload.requests": 800}, page=str(page))
    assert page.read_text(encoding="utf-8") != text and list(tmp_path.iterdir()) == [page]

"""Is a scenario made in Python the one that a file would be, and refused with the same words?"""

from __future__ import annotations

from pathlib import Path

import harmonia
import pytest


#: What these runs mean does not matter here.
pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never the cache of whoever runs the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


def test_a_name_a_file_text_and_a_mapping_make_the_same_scenario(tmp_path: Path) -> None:
    expected = harmonia.check("tiny", sets={"array.devices": 2})
    file = tmp_path / "mine.toml"
    file.write_text(expected)
    for source in ("tiny", file, str(file), expected, harmonia.Scenario("tiny")):
        assert harmonia.Scenario(source, array={"devices": 2}).to_toml() == expected, source
    keys = {"ssd": {"preset": "tiny-test"}, "workload.preset": "hpc-w", "array.level": "raid5", "array": {"devices": 5}}
    text = 'workload.preset = "hpc-w"\nssd.preset = "tiny-test"\n[array]\nlevel = "raid5"\ndevices = 5\n'
    assert harmonia.Scenario(keys).to_toml() == harmonia.check(keys) == harmonia.check(text)
    named = harmonia.Scenario(workload={"preset": "hpc-w"}, ssd={"preset": "tiny-test"}, array={"devices": 5, "level": "raid5"})
    assert named == harmonia.Scenario(keys) and hash(named) == hash(harmonia.Scenario(text))


def test_a_change_makes_another_scenario() -> None:
    first = harmonia.Scenario("tiny")
    second = first.with_({"array.devices": 2}, seed=7)
    assert first == harmonia.Scenario("tiny") != second
    assert second.to_toml() == harmonia.check("tiny", sets={"array.devices": 2, "seed": 7})
    deep = first.with_(ssd={"gc": {"victim": "fifo"}})
    assert deep.to_toml() == harmonia.check("tiny", sets={"ssd.gc.victim": "fifo"}) != first.to_toml()
    third = second.with_(array={"devices": 3})
    assert third.to_toml() == harmonia.check("tiny", sets={"array.devices": 3, "seed": 7})
    assert eval(repr(third), {"Scenario": harmonia.Scenario}) == third
    assert repr(second) == "Scenario('tiny').with_({'array.devices': 2, 'seed': 7})"


def test_values_keep_their_type() -> None:
    changed = harmonia.Scenario(
        "tiny",
        name='a, "b" \\ \u00fc',
        workload={"align": False, "read_fraction": 0.25},
        array={"member": [{"index": 1, "gc": {"victim": "fifo"}}]},
    )
    text = changed.to_toml()
    assert harmonia.run(changed, sets={"workload.requests": 200})["scenario"]["name"] == 'a, "b" \\ \u00fc'
    assert "align = false" in text and "read_fraction = 0.25" in text and '"fifo"' in text
    with pytest.raises(harmonia.BadInput, match="array.devices"):
        harmonia.Scenario("tiny", array={"devices": "4"})
    with pytest.raises(harmonia.BadInput, match="is not a name"):
        harmonia.Scenario({"name": "\x7f", "workload.preset": "hpc-w"})
    with pytest.raises(TypeError, match="NoneType"):
        harmonia.Scenario("tiny", seed=None)


def test_run_and_compare_take_scenarios_and_sets_have_the_last_word() -> None:
    scenario = harmonia.Scenario("tiny", seed=3, workload={"requests": 900})
    report = harmonia.run(scenario)
    assert report["host"] == harmonia.run("tiny", sets={"seed": 3, "workload.requests": 900})["host"]
    assert harmonia.run(scenario, sets={"seed": 4})["seed"] == 4
    labels = [run["label"] for run in harmonia.compare(scenario, policies=["local", "ideal"], seeds=1)]
    assert labels == ["local", "ideal"]
    assert [run["seed"] for run in harmonia.replicate(scenario, seeds=2)] == [3, 4]
    swept = harmonia.compare(scenario, policies=["local"], seeds=1, sets=["array.devices=2,3"])
    assert len(swept) == 2


def test_what_is_refused_is_said_without_flags_of_the_command_line() -> None:
    with pytest.raises(harmonia.BadInput, match="gredy") as caught:
        harmonia.Scenario("tiny").with_({"ssd.gc.victim": "gredy"})
    assert caught.value.key == "ssd.gc.victim"
    assert str(caught.value).startswith('error: ssd.gc.victim="gredy": ') and "greedy" in str(caught.value)
    refused = ["array.devices=1,2"], ["array.devices"], ["array.devices=0"], ["array.member.0.index=1"], ["a b=1"]
    for sets in refused:
        with pytest.raises(harmonia.BadInput) as caught:
            harmonia.run("tiny", sets=sets)
        assert "--" not in str(caught.value), sets
    with pytest.raises(harmonia.BadInput) as caught:
        harmonia.run("tiny", trace=__file__, format="nonsense")
    assert str(caught.value).startswith("error: format: ") and "--" not in str(caught.value)
    with pytest.raises(ValueError, match="not a key"):
        harmonia.Scenario("tiny").with_({"array devices": 1})
    with pytest.raises(harmonia.BadInput) as caught:
        harmonia.Scenario({"workload.preset": "hpc-w", "array.devices": 0})
    assert (caught.value.key, caught.value.line) == ("array.devices", 2)

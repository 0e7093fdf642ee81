"""Do pairs become what each peer reads, is its output understood, and is a difference judged right? No peer is needed."""

from __future__ import annotations

import dataclasses
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from peers import disksim, load, mqsim, ours, run, speed, table
from peers.__main__ import main
from peers.pairs import ALIKE, PAIRS, Pair
from peers.results import Results, Unreadable
from peers.run import SCENARIOS
from peers.scenario import Scenario, Unsupported, parse
from peers.verdict import Verdict, difference, differences, verdict

# As `harmonia check` prints it, without what peers do not know.
RESOLVED = """
seed = 7
[workload]
kind = "synthetic"
requests = 1000
read_fraction = 0.25
size = { distribution = "fixed", mean = "8KiB" }
arrival = { process = "poisson", rate = 2000.0 }
address = { pattern = "uniform", footprint = 0.5 }
[precondition]
fill = 1.0
[array]
devices = 2
level = "raid0"
stripe_unit = "8KiB"
[ssd]
geometry = { channels = 1, chips_per_channel = 2, dies_per_chip = 1, planes_per_die = 4, blocks_per_plane = 40, \
pages_per_block = 64, page_size = "4KiB", summary_pages = 1, own_pins = true }
timing = { read = "25us", program = "200us", erase = "1.5ms", transfer = "105.6us", copyback = "plane" }
link = { bandwidth = "2GB/s" }
ftl = { reserved_blocks = "15%", allocation = "cwd", allocation_unit = "plane", frontiers = "shared", multi_plane = false }
gc = { hard_threshold = "5%", stop_threshold = "hard", schedule = "blocking" }
"""


def own_pins() -> Scenario:
    return parse(RESOLVED)


def shared_bus() -> Scenario:
    one = dataclasses.replace(own_pins().load, rate=None, queue_depth=16, request_bytes=4096)
    return dataclasses.replace(
        own_pins(),
        devices=1,
        own_pins=False,
        summary_pages=0,
        transfer_ns=8192.0,
        command_ns=(290.0, 361.0, 220.0),
        planes=1,
        blocks=200,
        allocation="cwdp",
        hard_threshold=20,
        frontiers="separate",
        multi_plane=True,
        schedule="stepwise",
        load=one,
    )


def test_a_resolved_scenario_is_read_with_its_units() -> None:
    scenario = own_pins()
    assert (scenario.read_ns, scenario.erase_ns, scenario.transfer_ns) == (25_000, 1_500_000, 105_600)
    assert (scenario.page_size, scenario.link, scenario.load.request_bytes) == (4096, 2e9, 8192)
    # 15% of 40 blocks are 6 in each of 8 planes; 63 pages of a block hold data.
    assert (scenario.reserved_blocks, scenario.units, scenario.member_pages) == (6, 8, 34 * 8 * 63)
    assert scenario.usable_bytes == 34 * 8 * 63 * 4096 * 2
    assert scenario.footprint_pages == 34 * 8 * 63


def test_a_load_is_drawn_from_the_seed_and_lies_in_its_footprint() -> None:
    scenario = own_pins()
    first, again = list(load.requests(scenario)), list(load.requests(scenario))
    assert first == again
    assert first != list(load.requests(dataclasses.replace(scenario, seed=8)))
    assert [request.time_ns for request in first] == sorted(request.time_ns for request in first)
    mean_gap = first[-1].time_ns / len(first)
    assert 450_000 < mean_gap < 550_000
    assert {request.sectors for request in first} == {16}
    assert max(request.sector + 16 for request in first) <= scenario.footprint_pages * 8
    assert 200 < sum(request.is_read for request in first) < 300


def test_what_was_never_written_is_written_before_it_is_read() -> None:
    scenario = dataclasses.replace(own_pins(), fill=0.0, blocks=8, reserved=7)
    positions = scenario.footprint_pages // 2
    first = list(load.requests(scenario))[:positions]
    assert [(request.sector, request.is_read) for request in first] == [(16 * i, False) for i in range(positions)]


def test_traces_of_both_peers_have_the_same_requests(tmp_path: Path) -> None:
    load.write_disksim(tmp_path / "disksim", own_pins())
    load.write_mqsim(tmp_path / "mqsim", own_pins())
    one = (tmp_path / "disksim").read_text().splitlines()[0].split()
    other = (tmp_path / "mqsim").read_text().splitlines()[0].split()
    assert round(float(one[0]) * 1e6) == int(other[0])
    assert one[1:] == other[1:]


def test_parameters_of_disksim() -> None:
    text = disksim.parameters(own_pins())
    for line in (
        "Reserve pages percentage = 15",
        "Minimum free blocks percentage = 5",
        "Copy back = 1",
        "Allocation pool logic = 1",
        "Flash chip elements = 2",
        "Planes per package = 4",
        "Blocks per element = 160",
        "Chip xfer latency = 0.000025000",
        "Page write latency = 0.200000000",
        "Block erase latency = 1.500000000",
        "Read block transfer time = 0.000256000",
        "devices = [ ssd0, ssd1 ]",
        "Stripe unit = 16",
        "Init Seed = 7",
    ):
        assert f"{line},\n" in text or f"{line}\n" in text, line
    assert text.count("{") == text.count("}") and text.count("[") == text.count("]")
    assert disksim.histograms().count("Distribution size") == len(disksim.HISTOGRAMS)


def test_a_load_that_disksim_draws() -> None:
    text = disksim.synthetic(own_pins())
    assert "General inter-arrival times = [ exponential, 0.0, 0.500000000 ]" in text
    assert "Sizes = [ uniform, 16.0, 16.0 ]" in text and "Blocking factor = 16" in text
    assert f"Storage capacity per device = {34 * 8 * 63 * 8}" in text
    assert "Probability of read access = 0.250000000" in text
    with pytest.raises(Unsupported, match="rate"):
        disksim.synthetic(shared_bus())


@pytest.mark.parametrize(
    ("unit", "allocation", "keys"), [("die", "cwdp", (0, 1)), ("plane", "cwd", (1, 1)), ("plane", "cwdp", (1, 2))]
)
def test_allocation_of_disksim(unit: str, allocation: str, keys: tuple[int, int]) -> None:
    stop = "hard+1" if unit == "die" else "hard"
    text = disksim.parameters(dataclasses.replace(own_pins(), unit=unit, allocation=allocation, stop_threshold=stop))
    assert f"Copy back = {keys[0]}," in text and f"Allocation pool logic = {keys[1]}," in text


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"own_pins": False}, "own_pins"),
        ({"summary_pages": 0}, "summary_pages"),
        ({"schedule": "stepwise"}, "schedule"),
        ({"channels": 64}, "64 at most"),
        ({"allocation": "dynamic"}, "allocation"),
        ({"copyback": "none"}, "copyback"),
        ({"unit": "die", "stop_threshold": "hard+1", "allocation": "cwdp", "blocks": 42}, "reserved_blocks"),
        ({"unit": "die", "allocation": "cwdp"}, "stop_threshold"),
        ({"frontiers": "separate"}, "frontiers"),
        ({"multi_plane": True}, "multi_plane"),
        ({"command_ns": (1.0, 0.0, 0.0)}, "command"),
    ],
)
def test_what_disksim_has_no_rule_for_is_refused(change: dict[str, object], named: str) -> None:
    with pytest.raises(Unsupported, match=named):
        disksim.parameters(dataclasses.replace(own_pins(), **change))  # type: ignore[arg-type]


DISKSIM_OUTPUT = """
Overall I/O System Total Requests handled:\t998
Overall I/O System Response time average: \t0.531250
Overall I/O System Response time maximum:\t19.500000
ssd Response time average: \t9.9
ssd #0 elem #0   Number of cleans:\t30
ssd #0 elem #0   Pages moved:\t1200
ssd #1 elem #0   Number of cleans:\t10
ssd #1 elem #0   Pages moved:\t300
"""


def test_output_of_disksim() -> None:
    results = disksim.parse(DISKSIM_OUTPUT, 1000)
    assert results == Results(998, 531.25, 19500.0, 2.5, 40, 1500)
    assert disksim.parse(DISKSIM_OUTPUT, 0).write_amplification is None
    with pytest.raises(Unreadable, match="Response time average"):
        disksim.parse("Overall I/O System Total Requests handled: 1", 1)


def test_parameters_of_mqsim() -> None:
    root = ElementTree.fromstring(mqsim.device(shared_bus()))
    ssd = root.find("DeviceParameterSet")
    assert ssd is not None
    # Two bytes in 4 ns; 30 of 200 blocks are spare; it collects at 19 free blocks or fewer.
    assert ssd.findtext("Channel_Transfer_Rate") == "500"
    assert float(ssd.findtext("Overprovisioning_Ratio") or 0) == 0.15
    assert int(float(ssd.findtext("GC_Exec_Threshold") or 0) * 200) == 20
    assert ssd.findtext("FlashParameterSet/Page_Program_Latency_MSB") == "200000"
    assert ssd.findtext("FlashParameterSet/Block_No_Per_Plane") == "200"


def test_loads_of_mqsim() -> None:
    closed = ElementTree.fromstring(mqsim.workload(shared_bus(), None)).find("IO_Scenario/SyntheticFlowParamSet")
    assert closed is not None
    assert closed.findtext("Average_No_of_Reqs_in_Queue") == "16"
    assert closed.findtext("Working_Set_Percentage") == "50"
    assert closed.findtext("Chip_IDs") == "0,1"
    assert closed.findtext("Device_Level_Data_Caching_Mode") == "TURN_OFF"
    replay = ElementTree.fromstring(mqsim.workload(shared_bus(), Path("t"))).find(
        "IO_Scenario/TraceFlowParameterSet"
    )
    assert replay is not None and replay.findtext("File_Path") == "t"


def test_the_original_of_mqsim_has_names_of_its_own(tmp_path: Path) -> None:
    fork, original = tmp_path / "fork", tmp_path / "original"
    fork.write_bytes(b"\0ExecParameterSet\0")
    original.write_bytes(b"\0Execution_Parameter_Set\0")
    text = mqsim.device(shared_bus()) + mqsim.workload(shared_bus(), None)
    assert mqsim.in_names_of(fork, text) == text
    renamed = mqsim.in_names_of(original, text)
    assert not any(f"<{name}>" in renamed or f">{name}<" in renamed for name in mqsim.ORIGINAL)
    assert "<Execution_Parameter_Set>" in renamed and ">TURNED_OFF<" in renamed


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"devices": 2}, "devices"),
        ({"command_ns": (0.0, 0.0, 0.0)}, "command"),
        ({"transfer_ns": 8000.0}, "transfer"),
        ({"allocation": "cwd"}, "allocation"),
        ({"hard_threshold": 9}, "hard_threshold"),
        ({"frontiers": "shared"}, "frontiers"),
        ({"multi_plane": False, "planes": 2}, "multi_plane"),
        ({"schedule": "blocking"}, "schedule"),
        ({"stop_threshold": "hard+1"}, "stop_threshold"),
    ],
)
def test_what_mqsim_has_no_rule_for_is_refused(change: dict[str, object], named: str) -> None:
    with pytest.raises(Unsupported, match=named):
        mqsim.device(dataclasses.replace(shared_bus(), **change))  # type: ignore[arg-type]


def mqsim_output(iops: float, mean: int, served: int = 1000) -> str:
    return f"""<MQSim_Results><Host><Host.IO_Flow>
<Read_Request_Count>400</Read_Request_Count><Write_Request_Count>600</Write_Request_Count>
<IOPS>{iops}</IOPS><Bytes_Transferred>{served * 4096}</Bytes_Transferred>
<Device_Response_Time>{mean}</Device_Response_Time><Max_Device_Response_Time>900</Max_Device_Response_Time>
</Host.IO_Flow></Host><SSDDevice><SSDDevice.FTL Issued_Flash_Read_CMD="700" Issued_Flash_Multiplane_Read_CMD="0"
Total_GC_Executions="20" Average_Page_Movement_For_GC="-nan"/></SSDDevice></MQSim_Results>"""


def test_output_of_mqsim() -> None:
    assert mqsim.parse(mqsim_output(64_000, 250), shared_bus()) == Results(1000, 250.0, 900.0, 1.5, 20, 300)
    at_a_rate = dataclasses.replace(shared_bus(), load=dataclasses.replace(shared_bus().load, queue_depth=None))
    assert mqsim.parse(mqsim_output(1, 312, 990), at_a_rate).mean_us == 312
    assert mqsim.parse(mqsim_output(1, 312, 990), at_a_rate).requests == 990


def test_pages_of_commands_of_several_planes_of_mqsim() -> None:
    text = mqsim_output(64_000, 250).replace('Multiplane_Read_CMD="0"', 'Multiplane_Read_CMD="50"')
    two, four = (dataclasses.replace(shared_bus(), planes=planes, unit="plane") for planes in (2, 4))
    assert mqsim.parse(text, two).moved_pages == 400
    assert mqsim.parse(text, four).moved_pages is None
    assert mqsim.parse(text, four).write_amplification is None


def test_a_closed_loop_that_lost_requests_is_refused() -> None:
    with pytest.raises(Unreadable, match="lost 63 requests"):
        mqsim.parse(mqsim_output(2_000, 985, 1000 - 63), shared_bus())


def test_iops_of_whole_seconds_give_no_mean() -> None:
    assert mqsim.parse(mqsim_output(float("inf"), 281), shared_bus()).mean_us == 281
    assert mqsim.parse(mqsim_output(16e6 / 281.5, 281), shared_bus()).mean_us == pytest.approx(281.5)


def test_our_report() -> None:
    report: dict[str, dict[str, object]] = {
        "host": {"requests": 5, "response_ns": {"all": {"mean": 1500.0, "max": 2500}}},
        "array": {"write_amplification": 1.25, "erases": 3, "gc_pages_moved": 4, "host_pages_written": 16},
    }
    assert ours.parse(json.dumps(report)) == Results(5, 1.5, 2.5, 1.25, 3, 4)
    report["array"]["host_pages_written"] = 0
    assert ours.parse(json.dumps(report)).write_amplification is None


def test_a_difference_is_a_percentage_of_the_peers() -> None:
    assert difference(110, 100) == pytest.approx(10)
    assert difference(0, 0) == 0
    assert difference(1, 0) == float("inf")
    apart = differences(Results(1, 99.0, erases=3), Results(1, 100.0))
    assert apart == {"requests": 0, "mean_us": pytest.approx(-1)}


def test_verdicts() -> None:
    alike = Pair("a", "disksim", "own-pins", {"mean_us": 1.0, "write_amplification": 1.0})
    by_rule = dataclasses.replace(alike, rule="another order", gone="a")
    assert verdict(alike, {"mean_us": -1.0}) is Verdict.WITHIN
    assert verdict(alike, {"mean_us": 1.01}) is Verdict.OUTSIDE
    assert verdict(alike, {"mean_us": 0.0, "write_amplification": -1.2}) is Verdict.OUTSIDE
    assert verdict(alike, {}) is Verdict.OUTSIDE
    assert verdict(by_rule, {"mean_us": 5.0}) is Verdict.RULE
    assert verdict(by_rule, {"mean_us": 0.5}) is Verdict.RULE_UNSEEN
    assert [value.is_expected for value in Verdict] == [True, False, True, False]


def test_pairs_name_scenarios_that_exist_and_rules_name_where_they_are_gone() -> None:
    agreeing = {(pair.peer, pair.name) for pair in PAIRS if not pair.rule}
    assert len(agreeing) >= 20
    assert len({(pair.peer, pair.name) for pair in PAIRS}) == len(PAIRS)
    for pair in PAIRS:
        assert (SCENARIOS / f"{pair.scenario}.toml").is_file()
        assert bool(pair.rule) == bool(pair.gone), pair.name
        assert not pair.rule or (pair.peer, pair.gone) in agreeing, pair.name
        assert not pair.ours or pair.rule, f"{pair.name}: only a difference by a rule has keys of ours alone"


def test_rows() -> None:
    pair = Pair("reads", "disksim", "own-pins", ALIKE)
    mine, theirs = Results(1, 1234.56, None, 2.0, 4, 8), Results(1, 1000.0, None, 1.6, 5, 0)
    row = table.Row(pair, mine, theirs, differences(mine, theirs), Verdict.OUTSIDE)
    assert table.line(row) == (
        "| reads | 1,234.6 / 1,000.0 (+23.5%) | 2.000 / 1.600 (+25.0%) | 4 / 5 (-20.0%) | - | OUTSIDE |"
    )
    assert table.heading().count("|") == 14


def test_the_slope_leaves_out_what_does_not_grow_with_the_load() -> None:
    half, whole = speed.Sample(3.0, 1_000_000, 4_000_000), speed.Sample(5.0, 2_000_000, 12_000_000)
    assert speed.slope(half, whole) == pytest.approx((2.0, 250.0))
    assert speed.page_operations(Results(1, 1.0, erases=3, moved_pages=10), 100) == 123


def test_a_failure_is_told_with_its_command_and_output(tmp_path: Path) -> None:
    with pytest.raises(run.Failed, match="ended with 3: no such key"):
        run.execute([sys.executable, "-c", "import sys; print('no such key'); sys.exit(3)"], tmp_path)
    done = run.execute([sys.executable, "-c", "print(sum(range(10**6)))"], tmp_path)
    assert done.output == "499999500000\n" and done.user_s > 0


def test_without_a_peer_it_says_what_to_give(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["peers", "--harmonia", "nowhere"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("peers: nothing to compare with; give DISKSIM=")
    monkeypatch.setattr(sys, "argv", ["peers", "--harmonia", "nowhere", "--mqsim", "nowhere"])
    assert main() == 2

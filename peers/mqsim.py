"""Parameters for MQSim, and the figures of its output. Its data cache is off and its mapping table is in memory.

MQSim draws a closed loop itself, so both simulators have loads of the same law and not the same requests. Its command
cycles are part of its ONFI protocol and no parameters; a scenario must have them, or it is refused.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from .results import Results, Unreadable
from .scenario import SECTOR, Scenario, Unsupported, blocks

# Read, program and erase of one plane in MQSim's NV-DDR2: command and address, in ns.
COMMAND_NS = (290, 361, 220)
# So many collections of a plane may run at once, and it begins one below as many free blocks.
COLLECTIONS_MAX = 10
LANES = 16

Parameters = dict[str, "str | int | float | Parameters"]


# The original (CMU-SAFARI/MQSim) has other names than its fork (Sungup/MQSim), whose names are used here.
ORIGINAL = {
    "ExecParameterSet": "Execution_Parameter_Set",
    "HostParameterSet": "Host_Parameter_Set",
    "DeviceParameterSet": "Device_Parameter_Set",
    "FlashParameterSet": "Flash_Parameter_Set",
    "SyntheticFlowParamSet": "IO_Flow_Parameter_Set_Synthetic",
    "TraceFlowParameterSet": "IO_Flow_Parameter_Set_Trace_Based",
    "TURN_OFF": "TURNED_OFF",
}


def is_original(mqsim: Path) -> bool:
    """Whether a binary reads the names of the original."""
    return ORIGINAL["ExecParameterSet"].encode() in mqsim.read_bytes()


def in_names_of(mqsim: Path, text: str) -> str:
    """A file of parameters, as a binary reads it."""
    for fork, original in ORIGINAL.items() if is_original(mqsim) else ():
        text = re.sub(rf"\b{fork}\b", original, text)
    return text


def _xml(tag: str, parameters: Parameters) -> ElementTree.Element:
    element = ElementTree.Element(tag)
    for name, value in parameters.items():
        if isinstance(value, dict):
            element.append(_xml(name, value))
        else:
            ElementTree.SubElement(element, name).text = str(value)
    return element


def _text(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="us-ascii"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def check(scenario: Scenario) -> None:
    """Refuses what MQSim has no rule for."""
    commands = tuple(round(time) for time in scenario.command_ns)
    rules = [
        (scenario.devices == 1, "array.devices: 1"),
        (not scenario.own_pins, "ssd.geometry.own_pins: false"),
        (scenario.summary_pages == 0, "ssd.geometry.summary_pages: 0"),
        (commands == COMMAND_NS, "ssd.timing.command: 290, 361 and 220 ns"),
        (scenario.transfer_ns % scenario.page_size == 0, "ssd.timing.transfer: a whole number of ns a byte"),
        (scenario.allocation == "cwdp", "ssd.ftl.allocation: cwdp"),
        (scenario.frontiers == "separate", "ssd.ftl.frontiers: separate"),
        (scenario.multi_plane or scenario.planes == 1, "ssd.ftl.multi_plane: true"),
        (scenario.stop_threshold == "hard", "ssd.gc.stop_threshold: hard"),
        (scenario.schedule == "stepwise", "ssd.gc.schedule: stepwise"),
        (scenario.unit == "plane" or scenario.planes == 1, "ssd.ftl.allocation_unit: plane"),
    ]
    for holds, rule in rules:
        if not holds:
            raise Unsupported(f"MQSim is compared with {rule}")


def _flash(scenario: Scenario) -> Parameters:
    kinds = ("LSB", "CSB", "MSB")
    return {
        "Flash_Technology": "SLC",
        "CMD_Suspension_Support": "NONE",
        **{f"Page_Read_Latency_{kind}": round(scenario.read_ns) for kind in kinds},
        **{f"Page_Program_Latency_{kind}": round(scenario.program_ns) for kind in kinds},
        "Block_Erase_Latency": round(scenario.erase_ns),
        "Block_PE_Cycles_Limit": 10**5,
        "Suspend_Erase_Time": 1000,
        "Suspend_Program_Time": 1000,
        "Die_No_Per_Chip": scenario.dies,
        "Plane_No_Per_Die": scenario.planes,
        "Block_No_Per_Plane": scenario.blocks,
        "Page_No_Per_Block": scenario.pages,
        "Page_Capacity": scenario.page_size,
        "Page_Metadata_Capacity": 0,
    }


def device(scenario: Scenario) -> str:
    """The file of the SSD."""
    check(scenario)
    host: Parameters = {
        "PCIe_Lane_Bandwidth": scenario.link / 1e9 / LANES,
        "PCIe_Lane_Count": LANES,
        "SATA_Processing_Delay": 0,
        "Enable_ResponseTime_Logging": "false",
        "ResponseTime_Logging_Period": 10**9,
    }
    ssd: Parameters = {
        "Seed": scenario.seed,
        "Enabled_Preconditioning": "false",
        "Memory_Type": "FLASH",
        "HostInterface_Type": "NVME",
        "IO_Queue_Depth": 65535,
        "Queue_Fetch_Size": 65535,
        "Caching_Mechanism": "SIMPLE",
        "Data_Cache_Sharing_Mode": "SHARED",
        "Data_Cache_Capacity": 2**20,
        "Data_Cache_DRAM_Row_Size": 8192,
        "Data_Cache_DRAM_Data_Rate": 10**6,
        "Data_Cache_DRAM_Data_Busrt_Size": 1,
        "Data_Cache_DRAM_tRCD": 0,
        "Data_Cache_DRAM_tCL": 0,
        "Data_Cache_DRAM_tRP": 0,
        "Address_Mapping": "PAGE_LEVEL",
        "Ideal_Mapping_Table": "true",
        "CMT_Capacity": 2**21,
        "CMT_Sharing_Mode": "SHARED",
        "Plane_Allocation_Scheme": "CWDP",
        "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
        "Overprovisioning_Ratio": scenario.reserved_blocks / scenario.unit_blocks,
        "GC_Exec_Threshold": _threshold(scenario) / scenario.blocks,
        "GC_Block_Selection_Policy": "GREEDY",
        "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": "false",
        "GC_Hard_Threshold": 0.005,
        "Dynamic_Wearleveling_Enabled": "true",
        "Static_Wearleveling_Enabled": "false",
        "Static_Wearleveling_Threshold": 10**6,
        "Preferred_suspend_erase_time_for_read": 10**9,
        "Preferred_suspend_erase_time_for_write": 10**9,
        "Preferred_suspend_write_time_for_read": 10**9,
        "Flash_Channel_Count": scenario.channels,
        "Flash_Channel_Width": 1,
        "Channel_Transfer_Rate": round(1000 * scenario.page_size / scenario.transfer_ns),
        "Chip_No_Per_Channel": scenario.chips,
        "Flash_Comm_Protocol": "NVDDR2",
        "FlashParameterSet": _flash(scenario),
    }
    return _text(_xml("ExecParameterSet", {"HostParameterSet": host, "DeviceParameterSet": ssd}))


def _threshold(scenario: Scenario) -> float:
    """Free blocks below which a plane collects; the half keeps rounding away.

    Here it collects at `hard` or fewer. MQSim sets one block more aside, for pages of the mapping table, and does not
    count it as free; so that equally many blocks are empty, it collects at `hard` - 1 or fewer.
    """
    threshold = blocks(scenario.hard_threshold, scenario.blocks)
    if threshold < COLLECTIONS_MAX:
        raise Unsupported(f"ssd.gc.hard_threshold: MQSim collects at {COLLECTIONS_MAX} free blocks at the latest")
    return threshold + 0.5


def workload(scenario: Scenario, trace: Path | None) -> str:
    """The file of the load; `trace` is what a load with a rate became."""
    check(scenario)
    flow: Parameters = {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "TURN_OFF",
        "Channel_IDs": _list(scenario.channels),
        "Chip_IDs": _list(scenario.chips),
        "Die_IDs": _list(scenario.dies),
        "Plane_IDs": _list(scenario.planes),
        "Initial_Occupancy_Percentage": 1,
    }
    if trace is None:
        flows: Parameters = {"SyntheticFlowParamSet": flow | _closed_loop(scenario)}
    else:
        replay: Parameters = {"File_Path": str(trace), "Percentage_To_Be_Executed": 100, "Replay_Count": 1}
        flows = {"TraceFlowParameterSet": flow | replay | {"Relay_Count": 1, "Time_Unit": "NANOSECOND"}}
    return _text(_xml("MQSim_IO_Scenarios", {"IO_Scenario": flows}))


def _closed_loop(scenario: Scenario) -> Parameters:
    load = scenario.load
    working_set = 100 * scenario.footprint_pages * scenario.page_size / scenario.usable_bytes
    return {
        "Working_Set_Percentage": max(1, round(working_set)),
        "Synthetic_Generator_Type": "QUEUE_DEPTH",
        "Read_Percentage": round(load.read_fraction * 100),
        "Address_Distribution": "RANDOM_UNIFORM" if load.pattern == "uniform" else "STREAMING",
        "Percentage_of_Hot_Region": 0,
        # Aligned streams skip every other position; others begin anywhere, and are aligned once they come round.
        "Generated_Aligned_Addresses": "true" if load.pattern == "uniform" else "false",
        "Address_Alignment_Unit": load.request_bytes // SECTOR,
        "Request_Size_Distribution": "FIXED",
        "Average_Request_Size": load.request_bytes // SECTOR,
        "Variance_Request_Size": 0,
        "Seed": scenario.seed,
        "Average_No_of_Reqs_in_Queue": load.queue_depth or 1,
        "Bandwidth": 10**6,
        "Intensity": 10**6,
        "Stop_Time": 0,
        "Total_Requests_To_Generate": load.requests,
    }


def _list(count: int) -> str:
    return ",".join(str(index) for index in range(count))


def command(mqsim: Path, device_file: Path, workload_file: Path) -> list[str]:
    return [str(mqsim), "-i", str(device_file), "-w", str(workload_file)]


def _number(element: ElementTree.Element, tag: str) -> float:
    text = element.findtext(tag)
    if text is None:
        raise Unreadable(f"MQSim's output has no element {tag!r}")
    return float(text)


def parse(text: str, scenario: Scenario) -> Results:
    """The file of results. Means are in whole us; where a depth is kept, depth / IOPS is the exact one.

    The original counts whole seconds in its IOPS, so that its printed mean is all there is. With the cache off, MQSim
    loses requests for pages under collection. A closed loop then drains, so it is refused.
    """
    root = ElementTree.fromstring(re.sub(r"-?\bnan\b", "0", text))
    flow, ftl = root.find("Host/Host.IO_Flow"), root.find("SSDDevice/SSDDevice.FTL")
    if flow is None or ftl is None:
        raise Unreadable("MQSim's output has no element 'Host.IO_Flow' or 'SSDDevice.FTL'")
    mean, served = _number(flow, "Device_Response_Time"), _number(flow, "Bytes_Transferred") / scenario.load.request_bytes
    if scenario.load.queue_depth is not None:
        lost = _number(flow, "Read_Request_Count") + _number(flow, "Write_Request_Count") - served
        if lost > 0:
            raise Unreadable(f"MQSim lost {lost:.0f} requests, so that fewer than workload.arrival.queue_depth were left")
        exact = scenario.load.queue_depth / _number(flow, "IOPS") * 1e6
        if mean <= exact < mean + 1:
            mean = exact
    pages = scenario.load.request_bytes / scenario.page_size
    host_pages = _number(flow, "Write_Request_Count") * pages
    read = _pages(ftl, "Read", scenario.planes)
    moved = None if read is None else read - round(_number(flow, "Read_Request_Count") * pages)
    return Results(
        requests=round(served),
        mean_us=mean,
        maximum_us=_number(flow, "Max_Device_Response_Time"),
        write_amplification=(host_pages + moved) / host_pages if host_pages and moved is not None else None,
        erases=int(ftl.get("Total_GC_Executions", "0")),
        moved_pages=moved,
    )


def _pages(ftl: ElementTree.Element, kind: str, planes: int) -> int | None:
    """Pages of all commands of a kind; MQSim does not tell how many of more than two planes a command had."""
    several = int(ftl.get(f"Issued_Flash_Multiplane_{kind}_CMD", "0"))
    return int(ftl.get(f"Issued_Flash_{kind}_CMD", "0")) + 2 * several if planes <= 2 or several == 0 else None

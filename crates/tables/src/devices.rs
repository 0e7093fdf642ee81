//! One row a device: how much it collected, and how evenly it wears.

use harmonia_metrics::{DeviceReport, Report};

use crate::numbers::{self, or_none};
use crate::{Style, Table, layout, titled};

const TITLE: &str = "Devices";
const HEADINGS: [&str; 9] = [
    "device",
    "erases",
    "victims",
    "pages moved",
    "GC time",
    "write amp",
    "plane use in GC",
    "wear mean",
    "min..max",
];

const NOTE: &str = "GC time: summed over the dies of a device. Write amp: the drive's own, flash bytes programmed per byte that the \
                    array wrote to it, over whole collection cycles. Wear: erases of a block since the device was new.\n";

/// The table.
pub(crate) fn section(run: &Report, style: Style) -> String {
    let mut table = Table::new(HEADINGS);
    for (index, device) in run.devices.iter().enumerate() {
        let DeviceReport { erases, gc_victims, gc_pages_moved, gc_busy_ns, wear, .. } = device;
        table.push(vec![
            name(index, device).into(),
            numbers::count(*erases).into(),
            numbers::count(*gc_victims).into(),
            numbers::count(*gc_pages_moved).into(),
            numbers::duration(*gc_busy_ns).into(),
            numbers::amplification(device.write_amplification_whole_cycles, device.write_amplification, 3)
                .into(),
            or_none(device.plane_utilisation_in_gc, numbers::percent).into(),
            format!("{:.2}", wear.mean).into(),
            format!("{}..{}", wear.min, wear.max).into(),
        ]);
    }
    titled(TITLE, &table, style) + &layout::wrapped(NOTE, style.columns)
}

/// Its number, and what it is if it is no member.
pub(crate) fn name(index: usize, device: &DeviceReport) -> String {
    match device.in_place_of {
        Some(member) => format!("{index}, for {member}"),
        None if device.journal => format!("{index}, journal"),
        None if device.spare => format!("{index}, spare"),
        None => index.to_string(),
    }
}

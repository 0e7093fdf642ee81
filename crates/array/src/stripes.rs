//! How the stripes of a configured array lie. Its level says it, or the scheme that it has.
//!
//! Stripes that leave a member free do not fill a member: of `n` members each has something in `n - 1` of `n` rows. Members that are
//! thinly provisioned have more rows than pages, so that the array fills them. How many is for chance to say: what moves to whoever is free
//! of a row leaves one member more and another one less.

use harmonia_ssd::{Shape, Thin};
use harmonia_types::Bytes;

use crate::config::{ArrayConfig, CoordinationConfig};
use crate::layout::{Layout, Level};
use crate::schemes::gaftl;

/// Standard deviations that a part of a member may have more than its share.
const DEVIATIONS: f64 = 6.0;

impl ArrayConfig {
    /// How the array's bytes lie on its members: as many of each as the smallest has.
    pub fn layout(&self) -> Layout {
        let bytes = self.member_bytes();
        let layout = Layout::new(self.level, self.devices, self.stripe_unit, self.page_size(), bytes);
        self.placed(layout.sharing(&self.parity_shares))
    }

    /// A layout with the stripes that the policy has.
    pub fn placed(&self, layout: Layout) -> Layout {
        if self.coordination.has_floating_stripes() { layout.floating(self.thin().is_some()) } else { layout }
    }

    /// Gives members the page numbers that the stripes of the policy take, and says whether they have more than pages now.
    pub fn provision(&mut self) -> bool {
        let may_float = matches!(self.level, Level::Raid5(_) | Level::Raid6(_)) && self.devices > 1;
        let is_thin = may_float && gaftl::has_thin_members(&self.coordination.policy, &self.coordination.own);
        if is_thin {
            let thin = Thin { numbers: self.devices, pages: self.devices - 1 };
            let spares = self.faults.spares.iter_mut();
            self.members.iter_mut().chain(spares).for_each(|member| member.ssd.provision_thinly(thin));
        }
        is_thin
    }

    /// The page numbers that members have for so many pages, if these are more.
    pub fn thin(&self) -> Option<Thin> {
        self.members.first()?.ssd.thin
    }

    /// Bytes of every member that the array may use: behind them lies what it keeps there for itself.
    pub fn member_bytes(&self) -> Bytes {
        let taken = self.area() + self.knowledge.free_stripes * self.stripe_unit;
        let thin = self.thin();
        self.shapes().map(|shape| member_bytes(&shape, thin, self.stripe_unit, taken)).min().unwrap_or(0)
    }

    /// Bytes of every member that the array keeps there for itself, besides free stripes.
    pub fn area(&self) -> Bytes {
        let bytes = |shape: Shape| Bytes::from(shape.capacity_pages) * Bytes::from(shape.page_size);
        self.faults.write_hole.area(self.shapes().map(bytes).min().unwrap_or(0), self.page_size())
    }

    /// The numbers of all members that can work.
    fn shapes(&self) -> impl Iterator<Item = Shape> + use<'_> {
        self.members.iter().filter_map(|member| member.ssd.resolve().ok())
    }
}

impl CoordinationConfig {
    /// Whether the policy has stripes that leave one member free each.
    pub fn has_floating_stripes(&self) -> bool {
        gaftl::has_floating_stripes(&self.policy, &self.own)
    }
}

/// Bytes of a member behind which no rows of an array lie, where so many are taken by what the array keeps there for itself. Members
/// that are thinly provisioned have so many rows that each part of a member that pages are bound to by number holds what it has of
/// them, but for less than one in a hundred million.
pub fn member_bytes(shape: &Shape, thin: Option<Thin>, unit: Bytes, taken: Bytes) -> Bytes {
    let page = Bytes::from(shape.page_size);
    let whole = Bytes::from(shape.capacity_pages) * page;
    let Some(Thin { numbers, pages }) = thin else { return whole.saturating_sub(taken) };
    let lanes = Bytes::from(shape.lanes_of_numbers());
    let holds = Bytes::from(shape.capacity_pages).saturating_sub(taken.div_ceil(page)) / lanes;
    // Rows of a stripe unit have their free member in common, at first and where one request writes them.
    let together = (unit / page).div_ceil(lanes) as f64;
    // Of `rows`, `share` is held: on average share * rows, with the deviation of drawing.
    let (held, of) = (f64::from(pages), f64::from(numbers));
    let (share, spread) = (held / of, DEVIATIONS * (together * held).sqrt() / of);
    let root = ((spread * spread + 4.0 * share * holds as f64).sqrt() - spread) / (2.0 * share);
    let rows = ((root * root) as Bytes).max(holds) * lanes;
    (rows * page).min((Bytes::from(shape.logical_pages) * page).saturating_sub(taken))
}

#[cfg(test)]
mod tests {
    use harmonia_flash::presets;
    use harmonia_ssd::{AllocationUnit, Amount, FtlConfig, SsdConfig};

    use super::*;

    /// A drive of so many planes of `blocks` blocks with 64 pages of 4 KiB, an eighth of them spare.
    fn shape(planes: u32, blocks: u32, thin: Option<Thin>) -> Shape {
        let mut ssd = SsdConfig::of(presets::find("tiny-test").expect("the preset for tests"));
        (ssd.geometry.channels, ssd.geometry.chips_per_channel, ssd.geometry.dies_per_chip) = (1, 1, 1);
        (ssd.geometry.planes_per_die, ssd.geometry.blocks_per_plane) = (planes, blocks);
        (ssd.geometry.pages_per_block, ssd.geometry.page_size, ssd.geometry.summary_pages) = (64, 4096, 0);
        ssd.ftl = FtlConfig {
            allocation_unit: AllocationUnit::Plane,
            reserved_blocks: Amount::Percent(12.5),
            ..FtlConfig::default()
        };
        ssd.thin = thin;
        ssd.resolve().expect("it works")
    }

    /// What is said of chance: the mean and six deviations fit, and hardly more does.
    #[test]
    fn parts_hold_their_rows_but_for_six_deviations() {
        for (members, planes, blocks, unit_pages) in
            [(5_u16, 1, 2048, 1), (4, 2, 512, 1), (5, 4, 256, 15), (9, 1, 1024, 128), (13, 8, 4096, 9)]
        {
            let thin = Thin { numbers: members, pages: members - 1 };
            let shape = shape(planes, blocks, Some(thin));
            let rows = member_bytes(&shape, Some(thin), unit_pages * 4096, 0) / 4096 / u64::from(planes);
            let holds = f64::from(shape.capacity_pages / planes);
            let share = f64::from(members - 1) / f64::from(members);
            let together = (unit_pages as f64 / f64::from(planes)).ceil();
            let room =
                |rows: f64| holds - rows * share - 6.0 * (rows * together * share * (1.0 - share)).sqrt();
            let name = format!("{members} members, {planes} planes: {rows} rows of {holds}");
            assert!(room(rows as f64) >= -1e-6 && room(rows as f64 + 2.0) < 0.0, "{name}");
            assert!(rows as f64 > holds && rows as f64 <= holds / share, "{name}");
        }
    }

    #[test]
    fn what_is_not_thin_or_has_no_room_for_chance_has_a_row_for_each_page() {
        let thin = Some(Thin { numbers: 5, pages: 4 });
        assert_eq!(member_bytes(&shape(2, 64, None), None, 4096, 8192), 2 * 56 * 64 * 4096 - 8192);
        let small = shape(2, 64, thin);
        assert_eq!((small.capacity_pages, small.logical_pages), (7168, 8960));
        // One stripe unit in seven: six deviations are more than there are numbers.
        assert_eq!(member_bytes(&small, thin, 1024 * 4096, 0), 7168 * 4096);
    }
}

//! Parity of a row, from what its transaction has read and what it writes.

use super::*;

impl<C: Content> World<C> {
    /// Computes P or Q of a stripe.
    pub(super) fn fill_parity(
        &mut self,
        owner: Owner<'_>,
        (member, unit): (DeviceId, Unit),
        piece: Range<u64>,
        contents: &mut Vec<C>,
    ) {
        let stripe = self.line(member, piece.start) / self.places.unit_sectors;
        let mut data = std::mem::take(&mut self.data);
        data.clear();
        if let Some(parity) = self.places.parity() {
            data.extend((0..parity.data_units()).map(|unit| parity.data_member(stripe, unit)));
        }
        for sector in piece {
            let sum = self.parity_at(owner, (&data, unit), member, sector);
            contents.push(sum.unwrap_or_else(|| {
                if !self.is_idle_write(owner, member, sector) {
                    self.gives_up(owner, member, sector, "parity");
                }
                C::of(Stamp::garbage(member.0, sector))
            }));
        }
        self.data = data;
    }

    /// Parity of a row, from what is new and what its transaction has read or, if that does not suffice, can tell.
    fn parity_at(
        &self,
        owner: Owner<'_>,
        row: (&[DeviceId], Unit),
        member: DeviceId,
        sector: u64,
    ) -> Option<C> {
        let read = |member| self.known(owner.handle, member, sector);
        let told = |member| Some(self.tell(owner.handle, member, sector)?.0);
        self.parity_of_all(owner, row, sector, read)
            .or_else(|| self.parity_of_changes(owner, row, member, sector, read))
            .or_else(|| self.parity_of_all(owner, row, sector, told))
            .or_else(|| self.parity_of_changes(owner, row, member, sector, told))
    }

    /// Parity from all data units of the row, if all are new or `old` has them.
    fn parity_of_all(
        &self,
        owner: Owner<'_>,
        (data, unit): (&[DeviceId], Unit),
        sector: u64,
        old: impl Fn(DeviceId) -> Option<C>,
    ) -> Option<C> {
        let mut sum = C::ZERO;
        for (index, &member) in data.iter().enumerate() {
            let new = self.new_data(owner, self.places.logical(member, sector)?);
            let content = new.or_else(|| old(member))?;
            sum.add_times(factor(unit, index), &content);
        }
        Some(sum)
    }

    /// Parity from the old one and the units that change, if `old` has them.
    fn parity_of_changes(
        &self,
        owner: Owner<'_>,
        (data, unit): (&[DeviceId], Unit),
        member: DeviceId,
        sector: u64,
        old: impl Fn(DeviceId) -> Option<C>,
    ) -> Option<C> {
        let mut sum = old(member)?;
        for (index, &member) in data.iter().enumerate() {
            if let Some(mut change) = self.new_data(owner, self.places.logical(member, sector)?) {
                change.add(&old(member)?);
                sum.add_times(factor(unit, index), &change);
            }
        }
        Some(sum)
    }
}

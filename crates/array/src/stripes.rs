//! How the stripes of a configured array lie. Its level says it, or the scheme that it has.

use crate::config::{ArrayConfig, CoordinationConfig};
use crate::layout::Layout;
use crate::schemes::gaftl;

impl ArrayConfig {
    /// How the array's bytes lie on its members: as many of each as the smallest has.
    pub fn layout(&self) -> Layout {
        let layout =
            Layout::new(self.level, self.devices, self.stripe_unit, self.page_size(), self.member_bytes())
                .sharing(&self.parity_shares);
        if self.coordination.has_floating_stripes() { layout.floating() } else { layout }
    }
}

impl CoordinationConfig {
    /// Whether the policy has stripes that leave one member free each.
    pub fn has_floating_stripes(&self) -> bool {
        gaftl::has_floating_stripes(&self.policy, &self.own)
    }
}

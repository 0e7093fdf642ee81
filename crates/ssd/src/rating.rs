//! What a data sheet says that a drive endures.
//!
//! A rating is no property of the flash: it is what the maker promises under the load that the rating is defined by (JESD218,
//! JESD219), with capacity, error rate and retention kept. It changes nothing in a simulation. Reports say how long it lasts.

use harmonia_types::Bytes;
use harmonia_types::units::DAYS_PER_YEAR;
use serde::Serialize;

/// The `[ssd.rating]` table: one of its three forms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rating {
    /// Drive writes a day: the host may write so many times the usable capacity on each day of so many years.
    Dwpd {
        /// Times the usable capacity, a day.
        dwpd: f64,
        /// Of 365 days.
        years: f64,
    },
    /// Bytes that the host may write in all.
    Tbw(Bytes),
    /// Erases that the blocks endure on average.
    Cycles(u32),
}

impl Rating {
    /// Bytes that the host may write in all to a drive with this usable capacity, if the rating is one of bytes.
    pub fn host_bytes(&self, capacity: Bytes) -> Option<f64> {
        match *self {
            Rating::Dwpd { dwpd, years } => Some(dwpd * capacity as f64 * DAYS_PER_YEAR * years),
            Rating::Tbw(bytes) => Some(bytes as f64),
            Rating::Cycles(_) => None,
        }
    }

    /// Rated erases, if the rating is one of erases.
    pub fn cycles(&self) -> Option<u32> {
        if let Rating::Cycles(cycles) = *self { Some(cycles) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samsung PM9D3a, 7.68 TB: 1 drive write a day for 5 years, and 14,016 TB.
    #[test]
    fn drive_writes_a_day_are_the_bytes_of_the_data_sheet() {
        let capacity = 7_680_000_000_000;
        let rating = Rating::Dwpd { dwpd: 1.0, years: 5.0 };
        assert_eq!(rating.host_bytes(capacity), Some(14_016e12));
        assert_eq!(Rating::Tbw(14_016_000_000_000_000).host_bytes(capacity), Some(14_016e12));
        assert_eq!(
            (Rating::Cycles(3000).host_bytes(capacity), Rating::Cycles(3000).cycles()),
            (None, Some(3000))
        );
    }
}

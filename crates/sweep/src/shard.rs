//! A part of a sweep for one machine.

use std::str::FromStr;

use crate::plan::Point;
use crate::run::alike;

/// One of several parts of equal size, counted from 1: `3/20`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    part: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let (part, of) = text.split_once('/').ok_or("write PART/PARTS, such as 3/20")?;
        let number =
            |text: &str| text.parse::<usize>().map_err(|_| "write PART/PARTS, such as 3/20".to_owned());
        match (number(part)?, number(of)?) {
            (part, of) if 1 <= part && part <= of => Ok(Shard { part, of }),
            (_, of) => Err(format!("parts are counted from 1 to {of}")),
        }
    }
}

impl Shard {
    /// Its points. Points that start from the same aged array stay together as far as equal sizes allow it.
    pub fn take(self, points: &[Point]) -> Vec<Point> {
        let all: Vec<&Point> = points.iter().collect();
        let ordered: Vec<&Point> = alike(&all).into_iter().flatten().collect();
        let cut = |part: usize| (ordered.len() as u128 * part as u128 / self.of as u128) as usize;
        let mut own: Vec<Point> =
            ordered[cut(self.part - 1)..cut(self.part)].iter().map(|&point| point.clone()).collect();
        own.sort_by_key(|point| point.number);
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_one() {
        assert_eq!("3/20".parse(), Ok(Shard { part: 3, of: 20 }));
        for bad in ["0/2", "3/2", "1", "1/0", "a/2", "1/2/3", "-1/2"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }
}

//! In which die each program of a superblock lies.
//!
//! ```text
//! program of a superblock    0  1  2  3  4  5  6  7  8 ...      as the mapping state counts them, in the order of writing
//! in turn                    0  1  2  3  0  1  2  3  0          die 2 has programs 2, 6, ...
//! chosen                     0  1  2  3  1  0  3  1  0          die 2 has program 2, and works on something else
//! ```
//!
//! The mapping state fills a superblock from its first page to its last. So which die has a program need not follow from its number: it
//! is chosen when the program is about to be written, and noted here. A die programs what it has of a superblock in that order, so the
//! pages of each of its blocks are programmed in order whoever gets the next one.
//!
//! The least loaded die that has room gets the next program; of dies that are loaded alike, the one with the fewest programs of this
//! superblock, and of those the one behind the last that was chosen. Blocks of one superblock may run apart without a bound, but for the
//! end: a die whose blocks are full gets nothing, so that a die which lags gets the last programs.
//!
//! What ageing wrote went in turn.

use crate::shape::Shape;

/// Where the programs of all superblocks of a device lie.
#[derive(Debug, Clone)]
pub(crate) struct Stripes {
    /// Dies of a superblock.
    dies: u32,
    /// Programs of one, and slots of a program.
    programs: u32,
    slots: u32,
    /// By superblock and program, the die in its unit; empty where they lie in turn.
    of_program: Vec<u16>,
    /// By superblock and die in its unit, programs that were written.
    written: Vec<u32>,
    /// By unit, the die that was chosen last.
    last: Vec<u32>,
}

impl Stripes {
    /// Of a device whose programs went in turn. `chooses`: what is written from now on may go to any die. `open`: unit, block and slots
    /// written of the superblocks that are open.
    pub fn new(shape: &Shape, chooses: bool, open: impl Iterator<Item = (u32, u32, u32)>) -> Stripes {
        let (dies, slots) = (shape.dies_per_unit, shape.packing.slots_per_program());
        let programs = shape.data_pages / slots;
        let superblocks = (shape.units() * shape.blocks_per_unit) as usize;
        let chooses = chooses && dies > 1;
        let of = |entries: u32| if chooses { superblocks * entries as usize } else { 0 };
        let mut stripes = Stripes {
            dies,
            programs,
            slots,
            of_program: (0..of(programs)).map(|at| (at as u32 % programs % dies) as u16).collect(),
            written: vec![0; of(dies)],
            last: vec![dies - 1; shape.units() as usize],
        };
        if chooses {
            for (unit, block, written) in open {
                let superblock = unit * shape.blocks_per_unit + block;
                for program in 0..written.div_ceil(slots) {
                    stripes.written[(superblock * dies + program % dies) as usize] += 1;
                }
            }
        }
        stripes
    }

    /// The die of its unit in which a slot of a superblock lies, which counts through the device.
    #[inline]
    pub fn die(&self, superblock: u32, slot: u32) -> u32 {
        let program = slot / self.slots;
        match self.of_program.get(superblock as usize * self.programs as usize + program as usize) {
            Some(&die) => die.into(),
            None => program % self.dies,
        }
    }

    /// Whether dies are chosen.
    pub fn chooses(&self) -> bool {
        !self.of_program.is_empty()
    }

    /// Whether a die of its unit may have the program that `slot` of a superblock begins.
    pub fn has_room(&self, superblock: u32, slot: u32, die: u32) -> bool {
        slot == 0 || self.written[(superblock * self.dies + die) as usize] < self.programs / self.dies
    }

    /// The die of its unit in which the program lies that `slot` of a superblock begins. The next one of the superblock is written.
    pub fn choose(&mut self, (unit, superblock): (u32, u32), slot: u32, load: impl Fn(u32) -> u64) -> u32 {
        if !self.chooses() {
            return self.die(superblock, slot);
        }
        let (program, dies) = (slot / self.slots, self.dies);
        let written = &mut self.written[superblock as usize * dies as usize..][..dies as usize];
        if program == 0 {
            written.fill(0);
        }
        let rows = self.programs / dies;
        let last = &mut self.last[unit as usize];
        let rank = |step: u32| {
            let die = (*last + 1 + step) % dies;
            let written = written[die as usize];
            (written < rows).then(|| (load(die), written, step, die))
        };
        let Some((.., die)) = (0..dies).filter_map(rank).min() else {
            unreachable!("a superblock has as many programs as its dies have room for")
        };
        (*last, written[die as usize]) = (die, written[die as usize] + 1);
        self.of_program[superblock as usize * self.programs as usize + program as usize] = die as u16;
        die
    }

    /// Programs of a superblock that each die has, as counted and as noted, of which the first so many are written.
    pub fn audit(&self, superblock: u32, programs: u32) {
        if !self.chooses() {
            return;
        }
        let mut noted = vec![0; self.dies as usize];
        (0..programs).for_each(|program| noted[self.die(superblock, program * self.slots) as usize] += 1);
        let written = &self.written[superblock as usize * self.dies as usize..][..self.dies as usize];
        assert_eq!(noted, written, "programs of superblock {superblock} by die");
    }
}

#[cfg(test)]
mod tests {
    use harmonia_flash::{Geometry, presets};

    use super::*;
    use crate::config::{Amount, SsdConfig, Superblock};

    /// Three dies with blocks of four programs, in superblocks.
    fn stripes(chooses: bool, open: &[(u32, u32, u32)]) -> Stripes {
        let mut config = SsdConfig::of(presets::find("tiny-test").expect("a preset"));
        config.geometry = Geometry {
            channels: 3,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: 4096,
            ..Geometry::ONE_PLANE
        };
        config.ftl.reserved_blocks = Amount::Blocks(4);
        config.gc.hard_threshold = Amount::Blocks(1);
        config.ftl.superblock = Superblock::Drive;
        let shape = config.resolve().expect("it works");
        Stripes::new(&shape, chooses, open.iter().copied())
    }

    fn chosen(stripes: &mut Stripes, slots: std::ops::Range<u32>, load: [u64; 3]) -> Vec<u32> {
        slots.map(|slot| stripes.choose((0, 2), slot, |die| load[die as usize])).collect()
    }

    #[test]
    fn without_a_choice_programs_go_in_turn() {
        let mut stripes = stripes(false, &[]);
        assert_eq!(chosen(&mut stripes, 0..5, [9, 0, 0]), [0, 1, 2, 0, 1]);
        assert_eq!((0..5).map(|slot| stripes.die(2, slot)).collect::<Vec<_>>(), [0, 1, 2, 0, 1]);
    }

    /// The least loaded die goes first, until its blocks are full; among dies that are loaded alike they go in turn.
    #[test]
    fn the_least_loaded_die_with_room_goes_first() {
        let mut stripes = stripes(true, &[]);
        assert_eq!(chosen(&mut stripes, 0..6, [7, 0, 7]), [1, 1, 1, 1, 2, 0]);
        assert_eq!(chosen(&mut stripes, 6..12, [0, 0, 0]), [2, 0, 2, 0, 2, 0]);
        stripes.audit(2, 12);
        assert_eq!(
            (0..12).map(|slot| stripes.die(2, slot)).collect::<Vec<_>>(),
            [1, 1, 1, 1, 2, 0, 2, 0, 2, 0, 2, 0]
        );
        // A superblock that is written anew begins anew, and others stay.
        assert_eq!(chosen(&mut stripes, 0..3, [0, 0, 0]), [1, 2, 0]);
        assert_eq!(stripes.die(3, 4), 1);
    }

    /// A block has four programs. A new superblock has room in all of its dies, whatever the one before it had.
    #[test]
    fn a_die_has_room_until_its_block_is_full() {
        let mut stripes = stripes(true, &[]);
        let has_room = |stripes: &Stripes, slot| [0, 1, 2].map(|die| stripes.has_room(2, slot, die));
        assert_eq!(chosen(&mut stripes, 0..3, [7, 0, 7]), [1; 3]);
        assert_eq!(has_room(&stripes, 3), [true; 3]);
        assert_eq!(chosen(&mut stripes, 3..4, [7, 0, 7]), [1]);
        assert_eq!(has_room(&stripes, 4), [true, false, true]);
        assert_eq!(has_room(&stripes, 0), [true; 3]);
    }

    /// Four programs of an open superblock went in turn: die 0 has two of them.
    #[test]
    fn what_ageing_wrote_counts() {
        let mut stripes = stripes(true, &[(0, 2, 4)]);
        stripes.audit(2, 4);
        assert_eq!(chosen(&mut stripes, 4..9, [0, 5, 5]), [0, 0, 1, 2, 1]);
    }
}

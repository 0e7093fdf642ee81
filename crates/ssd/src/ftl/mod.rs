//! The bare flash translation layer: which page holds what. State without time.
//!
//! Everything is per *allocation unit* (a die or a plane), because static allocation never moves an LPN out of its
//! unit; a unit's tables lie together, so ageing one unit after the other stays in the cache.
//!
//! ```text
//! map     [LPN in unit]      -> PPN in unit          u32, the truth
//! reverse [PPN in unit]      -> LPN in unit          u32, a hint: live iff map agrees
//! entries [block]            -> state | valid pages  u32
//! ```
//!
//! With dynamic allocation any unit may hold any page. Then `LPN in unit` is the device's LPN, all units share one map,
//! and the map counts flash pages through the whole device; everything else is the same, block by block. A page that a
//! write leaves behind in another unit is forgotten there first.
//!
//! The reverse map is never cleared on overwrite: a page is live exactly if the map points back at it, which saves a
//! cache miss per write. Where the memory of a drive does not hold the map, pages of the map are logical pages behind those of the
//! host, and [`map_cache`](crate::map_cache) says when they are read and written. Not modelled: blocks that are bad from the
//! beginning or fail before they are worn out, read disturb,
//! retention, power loss.

mod audit;
mod counted;
mod free_list;
mod leveling;
mod mapping;
mod overwrites;
mod placed;
mod placing;
mod prefetch;
mod state;
mod stored;
mod unit;
mod wear;
mod within;
mod worn;

pub use counted::Counted;
pub use free_list::FreeList;
pub use mapping::Ftl;
pub use overwrites::RandomOverwrites;
pub(crate) use placed::To;
pub use state::{Tally, UnitState};
pub use stored::Damaged;
pub use unit::{Collected, Goal, Moved, OutOfBlocks, UnitMut};
pub use worn::Worn;

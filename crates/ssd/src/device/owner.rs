//! Whose a page operation is: of a sub-request of the host, or of the drive itself.
//!
//! What the drive does for itself goes to a die like anything else, but nobody outside waits for it: its end continues
//! something inside (`cache`).

/// Whose a page operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// A page of this sub-request.
    Host(u32),
    /// This slot of the write cache, whose page is written to flash or unmapped there.
    Cache(u32),
    /// This frame of the mapping cache, whose page of the map is read or written.
    Map(u32),
}

/// An [`Owner`] in the room of a handle, because every event of a die looks at one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OwnerId(u32);

/// Set in what the drive does for itself: in numbers of slots, and of frames.
const CACHE: u32 = 1 << 31;

/// Set in the numbers of frames, too.
const MAP: u32 = 1 << 30;

impl OwnerId {
    /// A sub-request. There are fewer than 2^31 at a time: each takes more than a byte of memory.
    #[inline]
    pub fn host(sub: u32) -> OwnerId {
        debug_assert!(sub < CACHE, "a handle of a sub-request");
        OwnerId(sub)
    }

    /// A slot of the cache.
    #[inline]
    pub fn cache(slot: u32) -> OwnerId {
        debug_assert!(slot < MAP, "a number of a slot");
        OwnerId(slot | CACHE)
    }

    /// A frame of the mapping cache.
    #[inline]
    pub fn map(frame: u32) -> OwnerId {
        debug_assert!(frame < MAP, "a number of a frame");
        OwnerId(frame | CACHE | MAP)
    }

    /// Whose it is.
    #[inline]
    pub fn get(self) -> Owner {
        match self.0 {
            sub if sub & CACHE == 0 => Owner::Host(sub),
            slot if slot & MAP == 0 => Owner::Cache(slot & !CACHE),
            frame => Owner::Map(frame & !(CACHE | MAP)),
        }
    }

    /// Whether it is the cache's.
    pub fn is_cache(self) -> bool {
        matches!(self.get(), Owner::Cache(_))
    }

    /// Whether it is the mapping cache's.
    #[inline]
    pub fn is_map(self) -> bool {
        self.0 >= CACHE | MAP
    }

    /// The sub-request, where it cannot be anything else: a read, a trim, and whatever asks to fail fast.
    #[inline]
    pub fn sub(self) -> u32 {
        debug_assert!(self.0 & CACHE == 0, "an operation of the host");
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_what_it_was_made_of() {
        for number in [0, 1, 77, MAP - 1] {
            assert_eq!(OwnerId::host(number).get(), Owner::Host(number));
            assert_eq!(OwnerId::host(number).sub(), number);
            assert_eq!(OwnerId::cache(number).get(), Owner::Cache(number));
            assert_eq!(OwnerId::map(number).get(), Owner::Map(number));
            let are_of_map = [OwnerId::host(number), OwnerId::cache(number), OwnerId::map(number)];
            assert_eq!(are_of_map.map(OwnerId::is_map), [false, false, true]);
        }
    }
}

//! The pools of members at soft and at hard, and what they make of an array that serialises collection.
//!
//! ```text
//!              hard = 0, soft = 0    hard = 0    hard = 1    hard >= 2
//! by pools     None                  S           P           N
//! ```
//!
//! The paper prints transitions instead (Algorithm 6, second switch), from the state before:
//!
//! ```text
//! None ─ soft ─► S     S ─ hard = 1 ─► P     S ─ hard >= 2 ─► N     S ─ no soft ─► None
//! N ─ hard ─► P        P ─ hard ─► N         N, P ─ no hard ─► S
//! ```
//!
//! They are run over and over. As long as any member is at hard they change between N and P, whether or not a pool changes, and a
//! first member at hard leaves None only when another one is at soft. The text of the paper describes the first table.
//! The transitions are here for comparison: one of them is taken at each event, as an array that runs them over and over would
//! change states without end at one moment.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), section IV and Algorithm 6. The comparisons of its first switch have their signs
//! inverted: the pools are those of its text.

use harmonia_types::DeviceId;

/// What the pools make of the array.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    None,
    Soft,
    Prioritised(DeviceId),
    NotSerialised,
}

/// How a state follows from another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Rule {
    /// From the pools alone.
    #[default]
    Pools,
    /// By the transitions as printed.
    Printed,
}

impl Rule {
    /// The state that follows `before` with `soft` members at soft, and these at hard.
    pub fn next(self, before: State, soft: usize, hard: &[DeviceId]) -> State {
        match self {
            Rule::Pools => of_pools(soft, hard),
            Rule::Printed => printed(before, soft, hard),
        }
    }
}

fn of_pools(soft: usize, hard: &[DeviceId]) -> State {
    match hard[..] {
        [] if soft == 0 => State::None,
        [] => State::Soft,
        [first] => State::Prioritised(first),
        _ => State::NotSerialised,
    }
}

fn printed(before: State, soft: usize, hard: &[DeviceId]) -> State {
    match (before, hard) {
        (State::None, _) if soft > 0 => State::Soft,
        (State::NotSerialised, [first, ..]) | (State::Soft, [first]) => State::Prioritised(*first),
        (State::NotSerialised | State::Prioritised(_), []) => State::Soft,
        (State::Prioritised(_), _) | (State::Soft, [_, _, ..]) => State::NotSerialised,
        (State::Soft, []) if soft == 0 => State::None,
        (before, _) => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: DeviceId = DeviceId(1);

    #[test]
    fn the_pools_alone_say_which_state_it_is() {
        let two = [ONE, DeviceId(3)];
        for before in [State::None, State::Soft, State::Prioritised(ONE), State::NotSerialised] {
            let next = |soft, hard: &[DeviceId]| Rule::Pools.next(before, soft, hard);
            assert_eq!((next(0, &[]), next(2, &[])), (State::None, State::Soft));
            assert_eq!(
                (next(0, &[ONE]), next(2, &[ONE])),
                (State::Prioritised(ONE), State::Prioritised(ONE))
            );
            assert_eq!(next(1, &two), State::NotSerialised);
        }
    }

    /// With the same members at hard all the time.
    #[test]
    fn as_printed_it_changes_between_n_and_p_for_ever() {
        for hard in [vec![ONE], vec![ONE, DeviceId(3)]] {
            let mut state = State::Soft;
            let mut seen = Vec::new();
            for _ in 0..6 {
                state = Rule::Printed.next(state, 1, &hard);
                seen.push(state);
            }
            let (n, p) = (State::NotSerialised, State::Prioritised(ONE));
            let expected = if hard.len() == 1 { [p, n, p, n, p, n] } else { [n, p, n, p, n, p] };
            assert_eq!(seen, expected);
        }
        assert_eq!(Rule::Printed.next(State::None, 0, &[ONE]), State::None, "a first member at hard waits");
        assert_eq!(Rule::Printed.next(State::NotSerialised, 0, &[]), State::Soft);
        assert_eq!(Rule::Printed.next(State::Soft, 0, &[]), State::None);
    }
}

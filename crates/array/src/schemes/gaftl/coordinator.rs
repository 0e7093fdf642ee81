//! One member collects at a time, and the others take its writes.
//!
//! ```text
//! member      0      1      2      3      4        unit 1 is written while member 1 collects:
//! before   │  0   │  1   │  2   │  P   │      │    the stripe leaves member 4 free
//! after    │  0   │      │  2   │  P'  │  1'  │    read 0 and 2, write 1' and P'; now it leaves member 1 free
//! ```
//!
//! Members take turns as under `serial`: the same states None, S, P and N, the same drain before a collection, and `patience`
//! with a member that does not come to an end. In S the next one is drawn from the members at soft, not the first of them.
//! A drain lets requests finish that were planned before it; new ones go around the member. A member stays reserved while some of
//! its dies collect, also where the first of them has nothing to collect and says so at once.
//!
//! Where stripes lie is for `stripes` to say. By default they float, which the paper's text supports best. With `stripes = "rows"`
//! they lie in rows of all members, beside stripes that are kept free.
//!
//! ## Floating stripes
//!
//! A stripe of `n` members has `n - 2` stripe units and a parity
//! on RAID-5, or `n - 3` of them, P and Q on RAID-6, and leaves one member free. What is in the way of a write, data or parity, is written
//! on the free member and stays there; the member that collects is then free of the stripe. One 4 KiB write takes 2 reads and 2
//! writes on five members of RAID-5, whoever collects. On six members of RAID-6 it takes 2 reads and 3 writes, and one read more if a unit
//! is in the way that is not written (with `array.small_write = "reconstruct"` or `"fewest"`). A read of a unit that is in the way reads the other units and a parity: as many members as a
//! stripe has units. A unit that is in the way and not written costs a read-modify-write. On RAID-6 it is rebuilt from the others
//! instead where that takes fewer reads. The copy that is left behind is trimmed when its member may be used again.
//!
//! On RAID-6, reads and writes go around two members that collect. A write waits (`waits_several`) if one of these holds:
//!
//! - More units and parities of its stripe are in the way than the level has parities.
//! - Two of them that are to be written are in the way.
//! - One that is to be written is in the way, and the free member collects, too.
//!
//! Of `n` rows each member holds something in `n - 1`. So members are thinly provisioned (`thin`): they have more page
//! numbers than pages, and the array has `n / (n - 1)` rows for each page of a member. Five members hold 5/4 of 3, nearly 3.75 members'
//! worth of data, where stripes of all members hold 4.
//!
//! A write that moves a unit makes one member hold a page more and another one less. By chance some members hold more than others, so there are a few
//! rows less: room is left for six standard deviations in each part of a member. With static allocation such a part is an
//! allocation unit, with dynamic allocation the whole member. The room is less than a hundredth of a large member. It grows with the stripe
//! unit, and on a very small one as many rows are left as without `thin`. If a
//! part is full all the same, nothing moves there (`finds_no_room`), and a write waits for the member that collects. That happens on small
//! members that are overloaded with large requests, each of which moves many rows at once. In a comparison all requests go to what the
//! smallest array holds; the arrays of other policies are as full as before.
//!
//! With `thin = false` members have as many page numbers as pages, and an array as many rows. It holds `n - 2` members' worth of data, or `n - 3` on RAID-6, and
//! a part of each member is empty, which is spare space to it. A declustered level has the same capacity, and its stripes never move.
//! For five members this level is called `draid1:3d:1s`. For six members with two parities it is called `draid2:3d:1s`.
//!
//! Requests that are as long as a stripe of all members span two stripes. `array.layout` has no effect: parity begins on all members alike.
//!
//! With `thin = false` and `array.parity_shares`, on RAID-5, parity begins by these shares. A row that is first written has its parity on the member
//! that lacks most of its share. `migration = "back"`, with such shares or even ones, has parity return in idle time, for a
//! read and a write a row. That begins once the share `imbalance` of the rows has its parity on members with too much of it, and takes
//! rows whose free member has too little. `migration = "away"` is for `stripes = "rows"`.
//!
//! Floating stripes are for RAID-5 on 4 to 13 members and RAID-6 on 5 to 13, without NVRAM or a stripe cache. Members may fail, become
//! slow and be replaced by spares. Pages may be unreadable, and power may be lost, with a log (`array.write_hole`) or without one.
//! Replacements of members that still work are refused. A map of eight bytes a row says where they lie. On five members of RAID-5 that is 2.7 bytes for each page of data.
//!
//! A failed member is gone around as one that collects. A read of one of its units reads the other units and a parity.
//! What is to be written on it goes to the free member of its stripe, which is then as safe as before. If the free member is the
//! one that failed, or is full, all stays in its place. If both have failed, parity makes up for the unit. One failure on RAID-5 and two on RAID-6
//! lose nothing. A spare is rebuilt from where stripes lie by then, and only what has been written: other policies write every byte,
//! so times of rebuilds do not compare. Nothing moves to a spare that is not rebuilt there.
//!
//! Without a spare, the contents of the failed member are rebuilt on the members that are free of its stripes, at the rates of
//! `array.rebuild`. The failed member is then the free member of those stripes, so a write waits for a member that collects. With
//! `thin = false` there is room for all of one member, and the array survives the next failure. Thinly provisioned members have little
//! room, because the array offers nearly all their pages to the host: for 6% of a large member. Stripe units that find no room stay missing
//! (`incomplete` in the report). The reads of a write are the fewest that `array.small_write` allows;
//! `array.degraded_writes` has no effect.
//!
//! A page that cannot be read is gone around in the same way, by its request alone, and written anew. A write that a
//! loss of power cuts short leaves its row where it was: where stripes lie is in NVRAM, and changes when a write is done. Resync then
//! makes parity agree, as on other arrays. If a journal holds the whole write, the write is repeated in its new place. With a partial parity log the row
//! stays in its old place, and its parity is computed from the log.
//!
//! ## Rows
//!
//! What belongs to the member that collects is written to a stripe that the array keeps
//! free at the end of its members, with a parity of its own: two writes. The parity of its old stripe is made
//! anew without it from what is not written. One 4 KiB write on five members takes 3 reads and 3 writes then, instead of 2 and 2. If
//! the member that collects has the parity, all that is written goes to free stripes and the old stripe stays as it is. Data goes
//! home when it is next written, or while the array is idle.
//!
//! On RAID-6 such a stripe has one stripe unit, its P and its Q on three members: two failures lose nothing. P and Q of the old
//! stripe always have the same units. If the member that collects has either of them, all that is written goes to free stripes. One
//! 4 KiB write on six members takes 3 reads and 5 writes, instead of 3 and 3. Up to two members that collect are read around.
//! Parity does not move on RAID-6: the paper defines `migration` for RAID-5.
//!
//! With `migration` parity moves, too. Parity whose member collects is written on the oldest member
//! instead, or on the second oldest where that is the oldest itself. It takes the place of a stripe unit there, which goes to a
//! free stripe. The oldest member is the one with the largest share of parity (`array.parity_shares`). With `oldest_first` it is the
//! first member and the second oldest the second, whatever their shares are. With `migration = "away"`
//! parity stays where it went, and shares drift: the paper's GAFTL without on-line parity migration. With `migration = "back"` rows
//! return in idle time once the share `imbalance` of them lies off the shares of the layout. With the usual `migration = "none"`
//! parity never moves: all that is written goes to free stripes, and the stripe stays as it is.
//!
//! With `forced` a whole stripe is written as two random writes under one lock: half of its units and a parity of these, then the
//! rest and the parity of all. That is one page more (on RAID-6 two), and makes members with more parity wear faster under sequential
//! writes, too. Where a unit of it is in the way a whole stripe takes as many writes anyway. The paper then keeps two units on one
//! member and two partial parities. Here the unit in the way has a free stripe with a parity of its own, and the other parity
//! is made without it. These are as many pages, and no member holds two units that need each other.
//!
//! A write waits only where all free stripes are taken or several members collect. Both are counted (`waits_full` and
//! `waits_several`, in rows). Writes then wait, or go to NVRAM. `array.free_stripes` says how many stripes there are. They are
//! taken from the capacity whatever the policy, so that policies are compared on the same array.
//!
//! While failures leave no redundancy, no member is kept free: the one whose turn it is collects at once. Nothing is
//! displaced while a member is missing or rebuilt. Rows that lie elsewhere are read and written from where they are, and a rebuild
//! completes their copies in free stripes as well. What is displaced goes home when all is rebuilt.
//!
//! ## Bounds
//!
//! The report counts whether plans keep to a bound of page operations (`array.bounds`). It holds for requests of whole pages while at most
//! one member of a stripe collects, all members are whole, and what moves has room:
//!
//! - A read takes the `u` units of a stripe at most.
//! - A write of `w` units takes `u - w` reads and `w + 1` writes. In rows it takes one more write if something of it is in the way.
//! - A write takes `w + 1` of each if a unit is in the way that is not written.
//!
//! RAID-6 has two parities where RAID-5 has one: `w + 2` writes. With floating stripes no plan exceeds the bound. In rows three kinds do:
//!
//! - More than two units are written, and their parity is in the way: `2 w` writes.
//! - Parity moves, and the unit that gives way to it is not written: `w + 3` writes.
//! - A read rebuilds one unit beside another that lies elsewhere: it reads pages twice.
//!
//! A whole stripe that is `forced` may take `w + 2` writes. Nothing is promised under `array.small_write = "read-modify-write"`.
//!
//! ## Both
//!
//! With `literal` the states change as the paper prints them. That changes between N and P for as long as a member is at its hard
//! threshold.
//!
//! The gain depends on how much of a member a collection keeps busy. The paper's members are single chips. Where a member
//! has many dies, others serve while one collects, and there is less to go around.
//!
//! Source: IEEE Access 2019 (McEwan and Komsul), GAFTL, sections III to V. The paper does not say how much a member holds; thin
//! provisioning is ours.
//!
//! Leaves out: shares of parity that change within a run as members age (the experiment `gaftl-ages` has a run between two replacements).
//! New data does not choose its members by age. It takes RAID-4 (rows only), RAID-5 or
//! RAID-6; losses of power with floating stripes alone, on drives that keep what they cache. In rows parity moves on at most 16 members.

use harmonia_engine::Rng;
use harmonia_types::registry::{Entry, own_keys};
use harmonia_types::{SimDuration, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::floating::MOST_MEMBERS as MOST_FLOATING;
use super::planner::MOST_MEMBERS as MOST_MIGRATING;
use crate::config::{Interface, Reads};
use crate::coordination::pools::Rule;
use crate::coordination::serial::{self, Serial};
use crate::coordination::{
    Action, Build, Coordinator, DeliveredView, Event, Interests, Migration, Parameters, Placing, Stripes,
};

/// Keys of `[array.coordination]` with `policy = "gaftl"`.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Config {
    /// Where stripes lie: so that each leaves one member free (RAID-5 and RAID-6), or in rows of all members, beside stripes that are kept free.
    stripes: Stripes,
    /// Whether floating stripes have more rows than members have pages, so that they fill members of which each is free of some rows.
    thin: bool,
    /// How long a grant lasts at most.
    patience: SimDuration,
    /// States change as the paper prints them, between N and P for as long as a member is at its hard threshold.
    literal: bool,
    /// Whole stripes are written as two random writes, so that parity is written twice (in rows).
    forced: bool,
    /// Where parity goes whose member collects: nowhere, to another member, or there and back in idle time.
    migration: Migration,
    /// Share of all rows whose parity may lie off the shares of the layout before some return (`migration = "back"`).
    imbalance: f64,
    /// For `migration`, members stand in the order of their ages, the oldest first; otherwise the one with the largest share of parity is the oldest.
    oldest_first: bool,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            stripes: Stripes::Floating,
            thin: true,
            patience: SimDuration::from_ms(1_000),
            literal: false,
            forced: false,
            migration: Migration::None,
            imbalance: 0.01,
            oldest_first: false,
        }
    }
}

#[derive(Clone)]
struct Gaftl(Serial, Placing);

impl Coordinator for Gaftl {
    fn interests(&self) -> Interests {
        self.0.interests()
    }

    fn interface(&self) -> Interface {
        self.0.interface()
    }

    fn keeps_apart(&self) -> bool {
        true
    }

    fn reads(&self) -> Option<Reads> {
        self.0.reads()
    }

    fn displaces(&self) -> bool {
        true
    }

    fn placing(&self) -> Placing {
        self.1
    }

    fn on(&mut self, now: SimTime, event: &Event, view: &DeliveredView<'_>, actions: &mut Vec<Action>) {
        self.0.on(now, event, view, actions);
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.0.counters()
    }
}

pub(crate) const ENTRY: Entry<Build> = Entry {
    name: "gaftl",
    summary: "one SSD at a time is drained and collects, and its writes go to SSDs that their stripes leave free",
    source: "GAFTL, IEEE Access 2019",
    keys: &own_keys::<Config>,
    build: &|parameters| {
        let config: Config = parameters.config()?;
        let Config { stripes, thin, forced: forces, migration, imbalance, oldest_first, .. } = config;
        if stripes == Stripes::Floating {
            floats(&config, parameters)?;
        }
        if !(0.0..=1.0).contains(&imbalance) {
            return Err(format!("imbalance = {imbalance} is not a share from 0 to 1"));
        }
        if migration != Migration::None && parameters.redundancy > 1 {
            return Err(
                "migration moves the one parity of a stripe, and these stripes have more; \"none\" works"
                    .into(),
            );
        }
        if migration != Migration::None && parameters.devices > MOST_MIGRATING {
            return Err(format!(
                "migration tells at most {MOST_MIGRATING} members apart, and there are {}; \"none\" works with more",
                parameters.devices
            ));
        }
        let turns = serial::with_patience(parameters, config.patience)?;
        let rule = if config.literal { Rule::Printed } else { Rule::Pools };
        let turns = turns.drawing(Rng::stream(0, "gaftl")).waiting_for_rest().by(rule);
        Ok(Box::new(Gaftl(turns, Placing { forces, migration, imbalance, stripes, thin, oldest_first })))
    },
};

/// Whether so many members and these keys allow stripes that leave a member free.
fn floats(config: &Config, parameters: &Parameters<'_>) -> Result<(), String> {
    let Parameters { devices, redundancy, .. } = *parameters;
    // Levels that keep data once are refused elsewhere.
    if redundancy == 0 {
        return Ok(());
    }
    // Fewer leave one unit, its parities and the free member: that is a mirror.
    let least = 3 + redundancy.clamp(1, 2);
    if !(least..=MOST_FLOATING).contains(&devices) {
        return Err(format!(
            "stripes float on {least} to {MOST_FLOATING} members, and there are {devices}; array.devices = {least} to {MOST_FLOATING}, \
             or array.coordination.stripes = \"rows\" with array.free_stripes"
        ));
    }
    if config.forced {
        return Err(
            "forced writes stripes in rows of all members twice; stripes = \"rows\" works, or forced = false"
                .into(),
        );
    }
    if config.migration == Migration::Away || (config.migration == Migration::Back && redundancy > 1) {
        return Err(
            "parity of floating stripes always goes to the free member, and returns on RAID-5 alone; \"none\" works, or \"back\" on RAID-5, or stripes = \"rows\""
                .into(),
        );
    }
    Ok(())
}

/// Whether a policy of this name with these keys has stripes that leave one member free each.
pub(crate) fn has_floating_stripes(policy: &str, own: &serde_json::Map<String, serde_json::Value>) -> bool {
    policy == ENTRY.name && own.get("stripes").and_then(serde_json::Value::as_str) != Some("rows")
}

/// Whether such a policy fills members with stripes of which each is in all but one.
pub(crate) fn has_thin_members(policy: &str, own: &serde_json::Map<String, serde_json::Value>) -> bool {
    let is_whole = own.get("thin").and_then(serde_json::Value::as_bool) == Some(false);
    has_floating_stripes(policy, own) && !is_whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Avoid;
    use crate::coordination::tests::{built, ended, hard, members, soft, started};
    use harmonia_types::DeviceId;

    fn answers(policy: &mut dyn Coordinator, now: u64, event: Event) -> Vec<Action> {
        let (members, mut actions) = (members(&[true; 4]), Vec::new());
        policy.on(SimTime(now), &event, &DeliveredView::of(&members), &mut actions);
        actions.retain(|action| !matches!(action, Action::Timer(..)));
        actions
    }

    /// Three members wait while the first one collects. Who is next differs from time to time.
    #[test]
    fn in_s_the_next_member_is_drawn() {
        let mut policy = built(&ENTRY, 4, 1, "{}").expect("its defaults work");
        let mut next = [0; 4];
        for round in 0..60_u64 {
            let at = round * 100;
            assert_eq!(answers(&mut *policy, at, soft(0)), [Action::Reserve(DeviceId(0))]);
            (1..4).for_each(|member| assert_eq!(answers(&mut *policy, at, soft(member)), []));
            let mut collects = 0;
            for turn in 1..=4 {
                let actions = answers(&mut *policy, at + turn, ended(collects, false));
                let reserved = actions.iter().find_map(|action| match action {
                    Action::Reserve(member) => Some(member.0),
                    _ => None,
                });
                let Some(member) = reserved else { break };
                next[usize::from(member)] += u32::from(turn == 1);
                collects = member;
            }
        }
        assert!(next[0] == 0 && next[1..].iter().all(|&times| times >= 10), "{next:?}");
    }

    #[test]
    fn as_printed_a_member_that_stays_at_hard_is_granted_and_given_up_again_and_again() {
        let counts = |keys| {
            let mut policy = built(&ENTRY, 4, 1, keys).expect("keys of its own");
            answers(&mut *policy, 0, soft(1));
            answers(&mut *policy, 1, hard(1));
            (2..10).for_each(|now| drop(answers(&mut *policy, now, soft(0))));
            let count =
                |name| policy.counters().iter().find(|counter| counter.0 == name).map(|counter| counter.1);
            (count("entered_p"), count("entered_n"))
        };
        assert_eq!(counts("{}"), (Some(1), Some(0)));
        assert_eq!(counts("{\"literal\": true}"), (Some(5), Some(4)));
    }

    /// Its first die had nothing to collect, the others do: it stays reserved. Where nothing follows it is returned.
    #[test]
    fn a_member_stays_reserved_while_some_of_its_dies_collect() {
        for is_followed in [true, false] {
            let mut policy = built(&ENTRY, 4, 1, "{}").expect("its defaults work");
            answers(&mut *policy, 0, soft(2));
            let force = Action::Force(DeviceId(2), harmonia_ssd::interface::Stop::Internal);
            assert_eq!(answers(&mut *policy, 5, Event::Drained(DeviceId(2))), [force]);
            answers(&mut *policy, 5, started(2));
            assert_eq!(answers(&mut *policy, 5, ended(2, true)), []);
            let back = [Action::Return(DeviceId(2))];
            if is_followed {
                answers(&mut *policy, 5, started(2));
                assert_eq!(answers(&mut *policy, 6, Event::Timer(u64::MAX - 1)), []);
                assert_eq!(answers(&mut *policy, 90, ended(2, false)), back);
            } else {
                assert_eq!(answers(&mut *policy, 6, Event::Timer(u64::MAX - 1)), back);
            }
        }
    }

    #[test]
    fn members_collect_one_at_a_time_and_on_command_and_reads_avoid_them() {
        let told = |redundancy| {
            let policy = built(&ENTRY, 4, redundancy, "{}").expect("its defaults work");
            (policy.interface(), policy.keeps_apart(), policy.reads())
        };
        assert_eq!(told(1), (Interface::Command, true, Some(Reads::Avoid(Avoid::Longest))));
        assert_eq!(told(0).2, None, "there is no way around a member");
    }

    #[test]
    fn it_displaces_and_takes_the_keys_of_serial() {
        assert!(built(&ENTRY, 4, 1, "{\"patience\": \"5ms\"}").is_ok_and(|policy| policy.displaces()));
        assert!(built(&ENTRY, 4, 1, "{\"patience\": \"5us\"}").is_err());
        assert!(built(&ENTRY, 4, 1, "{\"literal\": 3}").is_err());
        let placing = |keys| built(&ENTRY, 16, 1, keys).map(|policy| policy.placing());
        let all = placing(
            "{\"stripes\": \"rows\", \"forced\": true, \"migration\": \"back\", \"imbalance\": 0.5, \"oldest_first\": true}",
        );
        assert_eq!(
            all.ok(),
            Some(Placing {
                forces: true,
                migration: Migration::Back,
                imbalance: 0.5,
                stripes: Stripes::Rows,
                thin: true,
                oldest_first: true,
            })
        );
        for keys in [
            "{\"migration\": true}",
            "{\"migration\": \"home\"}",
            "{\"imbalance\": 1.5}",
            "{\"forced\": 1}",
            "{\"oldest_first\": 1}",
        ] {
            assert!(placing(keys).is_err(), "{keys}");
        }
        for (members, redundancy, why) in [(17, 1, "16 members"), (16, 2, "the one parity")] {
            let refused =
                built(&ENTRY, members, redundancy, "{\"stripes\": \"rows\", \"migration\": \"away\"}");
            assert!(refused.err().is_some_and(|said| said.contains(why)), "{members} members");
        }
    }

    /// Two units at least, the parities and the free member, and as many as the map of stripes tells apart.
    #[test]
    fn stripes_float_on_so_many_members() {
        let floats =
            |devices, redundancy| built(&ENTRY, devices, redundancy, "{\"stripes\": \"floating\"}").is_ok();
        let of = |redundancy| (1..20).filter(|&devices| floats(devices, redundancy)).collect::<Vec<u16>>();
        assert_eq!((of(1), of(2)), ((4..=13).collect(), (5..=13).collect()));
        let refused = |key: &str, devices, redundancy| {
            built(&ENTRY, devices, redundancy, &format!("{{\"stripes\": \"floating\", {key}}}")).err()
        };
        for (key, devices, redundancy, why) in [
            ("\"forced\": true", 5, 1, "forced writes"),
            ("\"migration\": \"away\"", 5, 1, "goes to the free member"),
            ("\"migration\": \"back\"", 6, 2, "returns on RAID-5 alone"),
        ] {
            let refused = refused(key, devices, redundancy);
            assert!(refused.is_some_and(|said| said.contains(why)), "{key}");
        }
        assert_eq!(refused("\"migration\": \"back\"", 5, 1), None);
    }

    #[test]
    fn stripes_float_with_this_policy_and_this_value() {
        for (policy, keys, floats) in [
            ("gaftl", "{\"stripes\": \"floating\"}", true),
            ("gaftl", "{\"stripes\": \"rows\"}", false),
            ("gaftl", "{}", true),
            ("serial", "{\"stripes\": \"floating\"}", false),
        ] {
            let own = serde_json::from_str(keys).expect("a test writes JSON");
            assert_eq!(has_floating_stripes(policy, &own), floats, "{policy} {keys}");
        }
    }
}

//! What a loss of power leaves of single plans, and what is read and written until resync has gone through a row.

use super::*;
use crate::health::Condition;
use crate::planner::{Kind, Logged, Restores, Resyncs, Torn};

/// Five members of which all has been written, and the places of row 0: three units, parity, and the free member.
fn full() -> (Stage, Vec<Place>) {
    let mut stage = Stage::full(SmallWrite::Fewest, 5, 1);
    stage.planner.may_fail = true;
    let places = stage.places(0);
    (stage, places)
}

/// Plans units of row 0 and carries nothing out: the transaction.
fn begun(stage: &mut Stage, operation: Operation, units: std::ops::Range<u64>) -> Transaction {
    let length = (units.end - units.start) * PAGE;
    let request = HostRequest::new(0, SimTime::ZERO, operation, units.start * PAGE, length);
    let (mut split, mut plan) = (Vec::new(), Plan::default());
    stage.with(|planner, view| planner.split(&request, view, &mut split));
    let [transaction] = split[..] else { panic!("one row is one transaction") };
    stage.with(|planner, view| planner.plan(SimTime::ZERO, &transaction, view, &mut plan));
    transaction
}

/// Goes through row 0: the places that are read and written.
fn resync(stage: &mut Stage) -> [Vec<Place>; 3] {
    let resync = stage.planner.resync(0, PAGE).expect("it has rows");
    stage.carry_out(&resync)
}

#[test]
fn a_write_that_is_cut_short_leaves_its_row_where_it_was_and_what_was_written_is_trimmed() {
    let (mut stage, places) = full();
    stage.collects(&[places[1].0]);
    let write = begun(&mut stage, Operation::Write, 1..2);
    assert_eq!(stage.places(0)[1], places[4], "it goes to the free member");
    stage.planner.is_cut_short(&write, true);
    stage.planner.is_synced_to(Some(0));
    stage.collects(&[]);
    assert_eq!(stage.places(0), places);
    assert_eq!((stage.sweep(), stage.sweep()), (vec![places[4]], vec![]), "the old copy counts");
    // Parity need not agree: nothing is made of it.
    stage.collects(&[places[1].0]);
    assert_eq!(stage.read(1..2), [places[1]], "it waits");
    stage.collects(&[]);
    assert_eq!(stage.write(0..1)[0], sorted([places[1], places[2]]), "no read-modify-write");
    let all = sorted(places[..4].iter().copied());
    assert_eq!(resync(&mut stage), [all.clone(), vec![places[3]], vec![]]);
    assert_eq!(resync(&mut stage), [all, vec![], vec![]], "once");
    stage.planner.is_synced_to(None);
    stage.collects(&[places[1].0]);
    assert_eq!(stage.read(1..2), sorted([places[0], places[2], places[3]]));
    assert_eq!(stage.planner.resynced_rows(), 1);
}

#[test]
fn a_write_of_which_nothing_was_written_leaves_a_row_that_agrees() {
    let (mut stage, places) = full();
    stage.collects(&[places[1].0]);
    let write = begun(&mut stage, Operation::Write, 1..2);
    stage.planner.is_cut_short(&write, false);
    stage.planner.is_synced_to(Some(0));
    assert_eq!((stage.places(0), stage.planner.unsynced.rows_in(write.rows).count()), (places, 0));
}

/// Part of it may be trimmed. The host discards it again, and nothing is left to do.
#[test]
fn a_discard_that_is_cut_short_counts_and_its_parity_is_made_anew() {
    let (mut stage, places) = full();
    let discard = begun(&mut stage, Operation::Trim, 1..2);
    stage.planner.is_cut_short(&discard, false);
    stage.planner.is_synced_to(Some(0));
    assert_eq!(stage.read(1..2), [], "zeros");
    assert_eq!(stage.sweep(), [places[1]]);
    assert_eq!(stage.discard(1..2), [vec![], vec![], vec![]]);
    assert_eq!(resync(&mut stage), [sorted([places[0], places[2], places[3]]), vec![places[3]], vec![]]);
}

/// Its request may have been answered while the last answer was on its way.
#[test]
fn a_write_whose_operations_have_all_been_answered_is_done() {
    let (mut stage, places) = full();
    stage.collects(&[places[1].0]);
    let write = begun(&mut stage, Operation::Write, 1..2);
    stage.planner.is_over(&write, true);
    stage.collects(&[]);
    assert_eq!(stage.places(0)[1], places[4]);
    assert_eq!(stage.sweep(), [places[1]]);
    assert_eq!(stage.planner.unsynced.rows_in(write.rows).count(), 0);
}

/// Parity that need not agree is relied on where nothing else says a page, and nowhere else.
#[test]
fn a_page_is_written_anew_and_a_free_member_that_fails_changes_nothing_before_resync() {
    let (mut stage, places) = full();
    stage.planner.is_synced_to(Some(0));
    let restore = stage.planner.restore(DeviceId(places[1].0), 0, PAGE).expect("it has rows");
    let others = sorted([places[0], places[2], places[3]]);
    assert_eq!(stage.carry_out(&restore), [others.clone(), vec![places[1]], vec![]]);
    assert_eq!(stage.planner.loss_counters().lost_pages, 0);
    // The free member fails: nothing of the row is missing, and who collects is waited for.
    stage.health.set(DeviceId(places[4].0), Condition::Failed);
    stage.collects(&[places[1].0]);
    assert_eq!(stage.read(1..2), [places[1]]);
    assert_eq!(stage.write(0..1)[0], sorted([places[1], places[2]]), "no read-modify-write");
    // Another unit is missing: parity says it, and still not what only collects.
    stage.health.set(DeviceId(places[4].0), Condition::Whole);
    stage.health.set(DeviceId(places[2].0), Condition::Failed);
    assert_eq!(stage.read(1..2), [places[1]]);
    assert_eq!(stage.read(2..3), sorted([places[0], places[1], places[3]]));
}

/// Also if it was to discard the same rows.
#[test]
fn who_waits_for_the_rows_of_a_write_has_not_changed_them() {
    let (mut stage, places) = full();
    stage.collects(&[places[1].0]);
    let write = begun(&mut stage, Operation::Write, 1..2);
    let waits = Transaction { operation: Operation::Trim, kind: Kind::Plain, ..write };
    stage.planner.is_cut_short(&waits, false);
    assert_eq!(stage.places(0)[1], places[4]);
    stage.planner.is_cut_short(&write, true);
    assert_eq!(stage.places(0), places);
    assert_eq!(stage.planner.unsynced.rows_in(write.rows).count(), 1);
}

/// Not where something else has been written meanwhile.
#[test]
fn what_was_being_trimmed_is_trimmed_again() {
    let (mut stage, places) = full();
    for (unit, power_is_lost) in [(0, true), (1, true), (2, false)] {
        stage.collects(&[stage.places(0)[unit].0]);
        let copy = stage.places(0)[unit];
        stage.write(unit as u64..unit as u64 + 1);
        stage.collects(&[]);
        let sweep = stage.with(|planner, view| planner.sweep(view)).expect("a copy is left");
        stage.with(|planner, view| planner.plan(SimTime::ZERO, &sweep, view, &mut Plan::default()));
        if unit == 1 {
            // The free member is where the copy lies that is being trimmed.
            stage.collects(&[stage.places(0)[0].0]);
            stage.write(0..1);
            stage.collects(&[]);
        }
        if power_is_lost {
            stage.planner.is_cut_short(&sweep, true);
        } else {
            stage.planner.done(SimTime::ZERO, &sweep);
        }
        let is_left = stage.planner.left.lies_on(DeviceId(copy.0), copy.1);
        assert_eq!(is_left, unit == 0, "unit {unit}");
        assert_eq!(stage.sweep().contains(&copy), unit == 0, "unit {unit}");
    }
    assert_ne!(stage.places(0), places);
}

/// A write of unit 1 whose member collects, and a discard of it, by what a log has of them.
#[test]
fn what_a_log_has_says_where_a_row_lies() {
    use Logged::{All, Nothing, Parity};
    for (log, is_moved) in [(Nothing, false), (Parity, false), (All, true)] {
        let (mut stage, places) = full();
        stage.collects(&[places[1].0]);
        let write = begun(&mut stage, Operation::Write, 1..2);
        stage.planner.is_logged(&write, log);
        stage.collects(&[]);
        assert_eq!(stage.places(0)[1], places[if is_moved { 4 } else { 1 }], "{log:?}");
        assert_eq!(stage.sweep(), [places[if is_moved { 1 } else { 4 }]], "{log:?}");
        assert!(stage.planner.unsynced.rows_in(write.rows).count() == 0 && stage.planner.before.is_empty());
    }
    for (log, is_gone) in [(Nothing, false), (Parity, true), (All, true)] {
        let (mut stage, places) = full();
        let discard = begun(&mut stage, Operation::Trim, 1..2);
        stage.planner.is_logged(&discard, log);
        assert_eq!(stage.read(1..2), if is_gone { vec![] } else { vec![places[1]] }, "{log:?}");
    }
}

/// Nothing lies on a failed member that a row could go back to: the unit was being written, and may hold anything, and parity agrees with it.
#[test]
fn what_has_left_a_failed_member_stays_where_it_went_while_parity_is_logged() {
    for (log, is_moved) in [(Logged::Nothing, false), (Logged::Parity, true), (Logged::All, true)] {
        let (mut stage, places) = full();
        stage.health.set(DeviceId(places[1].0), Condition::Failed);
        let write = begun(&mut stage, Operation::Write, 1..2);
        stage.planner.is_logged(&write, log);
        let on = places[if is_moved { 4 } else { 1 }];
        let torn = Torn { units: vec![DeviceId(on.0)], parity: DeviceId(places[3].0) };
        assert_eq!((stage.places(0)[1], stage.planner.torn(&write, 0, false)), (on, Some(torn)), "{log:?}");
        // Without its log parity is made of all units.
        let units = [places[0], on, places[2]].map(|place| DeviceId(place.0)).to_vec();
        assert_eq!(stage.planner.torn(&write, 0, true).map(|torn| torn.units), Some(units), "{log:?}");
    }
    // A copy has lain where it went, which counts no more.
    let (mut stage, places) = full();
    stage.collects(&[places[0].0]);
    stage.write(0..1);
    stage.collects(&[]);
    assert!(stage.planner.left.lies_on(DeviceId(places[0].0), 0));
    stage.health.set(DeviceId(places[1].0), Condition::Failed);
    let write = begun(&mut stage, Operation::Write, 1..2);
    assert_eq!(stage.places(0)[1], places[0]);
    stage.planner.is_logged(&write, Logged::Parity);
    assert_eq!((stage.places(0)[1], stage.sweep()), (places[0], vec![]));
    // A row that has never been written has nothing that could be lost, and no parity.
    let mut stage = Stage::empty(SmallWrite::Fewest, 5, 1);
    stage.planner.may_fail = true;
    let places = stage.places(0);
    stage.health.set(DeviceId(places[1].0), Condition::Failed);
    let write = begun(&mut stage, Operation::Write, 1..2);
    stage.planner.is_logged(&write, Logged::Parity);
    assert_eq!((stage.places(0), stage.planner.torn(&write, 0, false)), (places, None));
}

//! A gate that counts, as an addition to the controller: how much of the rest has to change for one.
//!
//! ```text
//! rows ─► enough tokens for its bytes, and nobody waits? ─yes─► bits of the bitmap
//!              │ no                                     ▲
//!              └─► waits in line ─► a message: enough ──┘
//! ```
//!
//! It stands behind the rows: `admit` is all the way there is from the rows to the bits, and whoever is let go calls it again, as
//! those do that the bitmap lets go. A transaction that waits keeps its rows, and the line has the order in which they got them. In
//! front of the rows the way would have to be cut in two. The price is that what the stripe cache merges in line for its rows is free.
//!
//! Outside this file that takes 22 lines, all of them under `cfg(test)`, attributes and braces included: 4 in `mod` (a field and its
//! first value), 4 in `planning` (the gate is asked), 3 in `messages` (a variant), 6 in `delivery` (who was let go comes again), 2 in
//! `power` (nobody waits any more) and 3 in `gate` (the name of this file).

use std::collections::VecDeque;
use std::num::NonZeroU64;

use super::*;
use crate::config::{ArrayConfig, When, WriteHole};
use crate::controller::Array;
use crate::controller::layers::tests::{completions, config};
use crate::controller::messages::Message;
use crate::controller::payload::Payload;
use crate::controller::trails::What;
use crate::layout::{Layout, Level, Rotation};
use crate::planner::Transaction;
use harmonia_engine::Rng;
use harmonia_ssd::probe::Probe;
use harmonia_types::{Bytes, Completion, DeviceId, HostRequest, Operation, SimDuration, SimTime};

/// Tokens of a byte.
const BYTE: i128 = 1_000_000_000;

/// A token bucket: so many bytes a second, and as many at once as it holds. A write of more than that goes when the bucket is full,
/// and those behind it wait until the rest has flowed in, too.
#[derive(Debug, Clone)]
pub(in crate::controller) struct TokenBucket {
    /// Bytes a second, which are tokens a nanosecond.
    rate: NonZeroU64,
    /// Bytes.
    burst: Bytes,
    /// What it held at a time; less than nothing after a write of more than the burst.
    tokens: i128,
    since: SimTime,
    /// Who waits, and for how many bytes; the first to come first.
    line: VecDeque<(u32, Bytes)>,
    /// When the first of them will be asked for.
    arranged: Option<SimTime>,
}

impl TokenBucket {
    /// A full one.
    fn new(rate: u64, burst: Bytes) -> TokenBucket {
        TokenBucket {
            rate: NonZeroU64::new(rate).expect("something flows in"),
            burst,
            tokens: i128::from(burst) * BYTE,
            since: SimTime::ZERO,
            line: VecDeque::new(),
            arranged: None,
        }
    }

    /// Somebody comes who is to write so many bytes, or comes again who was let go.
    fn enter(&mut self, who: u32, bytes: Bytes, now: SimTime) -> Gate {
        if self.line.front().is_none_or(|first| first.0 != who) {
            self.line.push_back((who, bytes));
        }
        if self.let_go(now) != Some(who) {
            return Gate::Waits;
        }
        self.line.pop_front();
        self.tokens -= i128::from(bytes) * BYTE;
        Gate::Goes
    }

    /// Who goes on now, if anybody does. It comes again.
    fn let_go(&mut self, now: SimTime) -> Option<u32> {
        let flowed = i128::from(self.rate.get()).saturating_mul(i128::from((now - self.since).0));
        self.tokens = self.tokens.saturating_add(flowed).min(i128::from(self.burst) * BYTE);
        self.since = now;
        let &(who, bytes) = self.line.front()?;
        (self.lacks(bytes) <= 0).then_some(who)
    }

    /// Tokens.
    fn lacks(&self, bytes: Bytes) -> i128 {
        i128::from(bytes.min(self.burst)) * BYTE - self.tokens
    }

    /// When it has to be asked who goes on, if that is not arranged.
    fn falls_due(&mut self) -> Option<SimTime> {
        let rate = i128::from(self.rate.get());
        let due = self.line.front().map(|&(_, bytes)| {
            let wait = (self.lacks(bytes).max(0) + rate - 1) / rate;
            SimTime(self.since.0.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX)))
        });
        let arranged = std::mem::replace(&mut self.arranged, due);
        due.filter(|_| due != arranged)
    }

    /// Nobody waits any more. Who was to be asked for comes to nothing.
    pub fn lose_power(&mut self) {
        self.line.clear();
        self.arranged = None;
    }
}

/// Bytes that a transaction writes, in whole rows of its units where there is parity.
fn bytes_of(spec: &Transaction, layout: &Layout) -> Bytes {
    match layout {
        Layout::Parity(parity) => {
            let units = u64::from(spec.units.1 - spec.units.0) + 1;
            spec.length.min(spec.rows.count * parity.row_bytes() * units)
        }
        _ => spec.length,
    }
}

impl<P: Probe, C: Payload> Array<P, C> {
    /// A transaction holds its rows: it goes on, or waits for tokens. Only writes of the host need any.
    pub(in crate::controller) fn takes_tokens(&mut self, handle: u32, now: SimTime) -> Gate {
        let Some(bucket) = self.bucket.as_deref_mut() else { return Gate::Goes };
        let running = &self.transactions[handle];
        let is_write = running.spec.operation == Operation::Write && running.purpose.is_host();
        // Whom the bitmap knows has paid.
        if !is_write || running.is_marked {
            return Gate::Goes;
        }
        let gate = bucket.enter(handle, bytes_of(&running.spec, &self.layout), now);
        if let Some(at) = bucket.falls_due() {
            self.agenda.push(at, Message::Tokens);
        }
        gate
    }

    /// Who has waited for tokens until now, and goes on.
    pub(in crate::controller) fn next_with_tokens(&mut self, now: SimTime) -> Option<u32> {
        let next = self.bucket.as_deref_mut()?.let_go(now)?;
        // Earlier writes have taken them.
        self.transactions[next].before.waited(&mut self.trails, now, What::EarlierWrites);
        Some(next)
    }
}

/// A byte a nanosecond, four at once.
fn bucket() -> TokenBucket {
    TokenBucket::new(1_000_000_000, 4)
}

#[test]
fn a_burst_goes_at_once_and_then_as_many_bytes_as_flow_in() {
    let mut bucket = bucket();
    assert_eq!([bucket.enter(1, 3, SimTime(10)), bucket.enter(2, 1, SimTime(10))], [Gate::Goes; 2]);
    assert_eq!((bucket.enter(3, 2, SimTime(10)), bucket.falls_due()), (Gate::Waits, Some(SimTime(12))));
    assert_eq!((bucket.let_go(SimTime(11)), bucket.falls_due()), (None, None), "it is arranged");
    assert_eq!(bucket.let_go(SimTime(12)), Some(3));
    assert_eq!((bucket.enter(3, 2, SimTime(12)), bucket.falls_due()), (Gate::Goes, None));
    assert_eq!(bucket.enter(4, 4, SimTime(15)), Gate::Waits, "three have flowed in");
    assert_eq!((bucket.falls_due(), bucket.let_go(SimTime(99))), (Some(SimTime(16)), Some(4)));
    assert_eq!([bucket.enter(4, 4, SimTime(99)), bucket.enter(5, 1, SimTime(99))], [Gate::Goes, Gate::Waits]);
}

#[test]
fn who_needs_less_does_not_overtake() {
    let mut bucket = bucket();
    assert_eq!(bucket.enter(1, 3, SimTime(0)), Gate::Goes);
    assert_eq!([bucket.enter(2, 3, SimTime(0)), bucket.enter(3, 1, SimTime(0))], [Gate::Waits; 2]);
    assert_eq!((bucket.let_go(SimTime(1)), bucket.falls_due()), (None, Some(SimTime(2))));
    assert_eq!((bucket.let_go(SimTime(2)), bucket.enter(2, 3, SimTime(2))), (Some(2), Gate::Goes));
    assert_eq!(bucket.falls_due(), Some(SimTime(3)), "the next one is asked for when its byte is there");
    assert_eq!((bucket.let_go(SimTime(2)), bucket.let_go(SimTime(3))), (None, Some(3)));
}

#[test]
fn more_than_a_burst_goes_from_a_full_bucket_and_leaves_a_debt() {
    let mut bucket = bucket();
    assert_eq!([bucket.enter(1, 10, SimTime(0)), bucket.enter(2, 1, SimTime(0))], [Gate::Goes, Gate::Waits]);
    assert_eq!((bucket.falls_due(), bucket.let_go(SimTime(6))), (Some(SimTime(7)), None));
    assert_eq!((bucket.let_go(SimTime(7)), bucket.enter(2, 1, SimTime(7))), (Some(2), Gate::Goes));
}

/// Three bytes in two nanoseconds.
#[test]
fn a_part_of_a_byte_is_kept() {
    let mut bucket = TokenBucket::new(1_500_000_000, 1);
    assert_eq!(bucket.enter(1, 1, SimTime(0)), Gate::Goes);
    assert_eq!((bucket.enter(2, 1, SimTime(0)), bucket.falls_due()), (Gate::Waits, Some(SimTime(1))));
    assert_eq!(bucket.enter(2, 1, SimTime(1)), Gate::Goes, "what is more than a byte has run over");
    let mut bucket = TokenBucket::new(750_000_000, 4);
    assert_eq!(bucket.enter(1, 4, SimTime(0)), Gate::Goes);
    assert_eq!((bucket.enter(2, 1, SimTime(1)), bucket.falls_due()), (Gate::Waits, Some(SimTime(2))));
    assert_eq!((bucket.enter(2, 1, SimTime(2)), bucket.enter(3, 1, SimTime(2))), (Gate::Goes, Gate::Waits));
    assert_eq!(bucket.falls_due(), Some(SimTime(3)), "half a byte was left, and so is a quarter");
}

#[test]
fn nobody_waits_for_tokens_after_a_loss_of_power() {
    let mut bucket = bucket();
    assert_eq!([bucket.enter(1, 4, SimTime(0)), bucket.enter(2, 4, SimTime(0))], [Gate::Goes, Gate::Waits]);
    bucket.lose_power();
    assert_eq!((bucket.falls_due(), bucket.let_go(SimTime(9))), (None, None));
    assert_eq!(bucket.enter(2, 4, SimTime(9)), Gate::Goes);
}

const PAGE: Bytes = 4096;
const MS: u64 = 1_000_000;
const RAID5: Level = Level::Raid5(Rotation::LeftSymmetric);

/// A page a millisecond, so many at once.
fn page_a_ms(burst: u64) -> Option<TokenBucket> {
    Some(TokenBucket::new(PAGE * 1000, burst * PAGE))
}

/// What requests complete with, by id, if writes take tokens from such a bucket.
fn serve(config: &ArrayConfig, bucket: Option<TokenBucket>, requests: &[HostRequest]) -> Vec<Completion> {
    let done = completions(config, requests, |array| {
        if let Some(bucket) = bucket {
            array.bucket = Some(Box::new(bucket));
            // Each request is a transaction, which may wait.
            array.access_has_changed(DeviceId(0));
            assert!(array.may_run_ahead().is_err(), "members that run ahead pass no gate");
        }
    });
    let is_explained = |done: &Completion| done.blame.total() == done.response().as_ns();
    assert!(done.iter().all(is_explained), "the parts of blame are the response");
    done
}

fn request(id: u64, at: u64, operation: Operation, page: u64, pages: u64) -> HostRequest {
    HostRequest::new(id, SimTime(at), operation, page * PAGE, pages * PAGE)
}

/// Writes of a page at once, and a read of the first one after a millisecond and a half.
fn three_writes(pages: [u64; 3]) -> Vec<HostRequest> {
    let writes = (0..).zip(pages).map(|(id, page)| request(id, 0, Operation::Write, page, 1));
    writes.chain([request(3, 1_500_000, Operation::Read, pages[0], 1)]).collect()
}

/// When each is done, and how long it waited for the array, and for rows; nanoseconds.
fn waits(done: &[Completion]) -> Vec<(u64, u64, u64)> {
    let waits = |done: &Completion| (done.finish.0, done.blame.data.queue_host, done.blame.stripe_wait);
    done.iter().map(waits).collect()
}

#[test]
fn writes_of_a_stripe_go_at_the_rate_and_a_read_goes_by() {
    let done = serve(&config(Level::Raid0, 2), page_a_ms(1), &three_writes([0, 1, 2]));
    let expected = [(220_000, 0, 0), (1_220_000, MS, 0), (2_220_000, 2 * MS, 0), (1_545_000, 0, 0)];
    assert_eq!(waits(&done), expected);
}

/// The second write is of the row of the first, so that it comes to the gate after the third. It reads what the first has written;
/// what was never written takes no time to read.
#[test]
fn writes_with_parity_go_in_the_order_in_which_they_got_their_rows() {
    let done = serve(&config(RAID5, 3), page_a_ms(1), &three_writes([0, 1, 4]));
    let expected =
        [(220_000, 0, 0), (2_265_000, 2 * MS - 220_000, 220_000), (1_220_000, MS, 0), (1_545_000, 0, 0)];
    assert_eq!(waits(&done), expected);
}

/// A write of a row and a half is two transactions, of two pages and of one, which meet on a die.
#[test]
fn each_transaction_pays_for_what_it_writes_itself() {
    let writes = [request(0, 0, Operation::Write, 0, 3), request(1, 0, Operation::Write, 8, 1)];
    let done = serve(&config(RAID5, 3), page_a_ms(3), &writes);
    assert_eq!([0, 1].map(|id| done[id].finish.0), [440_000, 1_220_000]);
}

/// The bitmap asks again behind its bits.
#[test]
fn a_write_pays_once_where_it_waits_for_the_bitmap() {
    let mut config = config(RAID5, 3);
    config.faults.write_hole = WriteHole::Bitmap { chunk: PAGE, delay: SimDuration::from_us(5_000_000) };
    let done = serve(&config, page_a_ms(1), &three_writes([0, 8, 4]));
    assert!(done[0].blame.log_wait + done[0].blame.parity.service > 0, "the first one sets a bit");
    assert_eq!([0, 1, 2].map(|id| done[id].blame.data.queue_host), [0, MS, 2 * MS]);
}

/// Power is lost after a millisecond and a half. A resync reads the two rows that were written, and has the third as long. The tokens
/// that had flowed in by then are there.
#[test]
fn who_waits_for_tokens_when_power_is_lost_comes_again() {
    let mut config = config(RAID5, 3);
    config.faults.power_losses = vec![When::Time(SimTime(1_500_000))];
    let done = serve(&config, page_a_ms(1), &three_writes([0, 2, 4])[..3]);
    assert_eq!(waits(&done)[..2], [(220_000, 0, 0), (1_220_000, MS, 0)]);
    assert_eq!(waits(&done)[2], (2_220_000, 410_000, 90_000));
    assert_eq!([0, 1, 2].map(|id| done[id].blame.restart), [0, 0, 1_500_000]);
}

fn random(seed: u64) -> Vec<HostRequest> {
    let (mut rng, mut now) = (Rng::stream(seed, "bucket"), 0);
    let requests = (0..200).map(|id| {
        now += rng.below(200_000);
        let operation = if rng.chance(0.5) { Operation::Read } else { Operation::Write };
        request(id, now, operation, rng.below(60), 1 + rng.below(3))
    });
    requests.collect()
}

#[test]
fn an_unlimited_rate_changes_nothing() {
    for (level, members) in [(Level::Raid0, 3), (Level::Raid1, 2), (RAID5, 3)] {
        for seed in 0..4 {
            let (config, requests) = (config(level, members), random(seed));
            let unlimited = TokenBucket::new(u64::MAX, Bytes::MAX);
            let done = serve(&config, Some(unlimited), &requests);
            assert_eq!(done, serve(&config, None, &requests), "{level:?}, seed {seed}");
        }
    }
}

/// `serve` checks that blame adds up.
#[test]
fn no_write_of_a_random_load_is_done_before_its_tokens_flow_in() {
    for (level, members) in [(Level::Raid0, 3), (Level::Raid1, 2), (RAID5, 3)] {
        for seed in 0..4 {
            let requests = random(seed);
            let done = serve(&config(level, members), page_a_ms(2), &requests);
            let mut writes: Vec<_> = done.iter().filter(|done| done.operation == Operation::Write).collect();
            writes.sort_by_key(|done| done.finish);
            let mut pages = 0;
            for done in writes {
                pages += done.length / PAGE;
                // What is more than two pages has flowed in, but for what a write of three owes.
                let least = pages.saturating_sub(3) * MS;
                assert!(done.finish.0 >= least, "{level:?}, seed {seed}, request {}", done.id);
            }
        }
    }
}

//! What was run, how the difference comes about, what it costs, and how far from the bound it ends.

use std::fmt::Write as _;

use harmonia_metrics::Report;
use harmonia_metrics::judgement::Winners;
use harmonia_tables::{label, numbers};
use harmonia_types::units::format_bytes;

use super::Pair;
use super::{
    ALIKE, alike, any_collecting, change, collected, gc_affected, gc_share, mean_ns, more_than, ms, name,
    percent,
};

/// In this order: the load, the mechanism, the price unless the advice names it, the bound.
pub(super) fn paragraph(pair: &Pair<'_>, price_is_said: bool) -> Vec<String> {
    let Pair { part, best, other, bound, .. } = pair;
    let mut said = vec![setting(&part.runs)];
    match other {
        Some(other) => {
            said.extend(mechanism(best, other));
            said.extend(price(&part.runs, best).filter(|_| !price_is_said));
            said.extend(most_wearing(&part.runs, best, &part.comparison.winners));
        }
        None => said.extend(collecting(best)),
    }
    said.extend(
        bound.filter(|_| part.runs.iter().any(collected)).map(|bound| {
            to_the_bound(best, other.filter(|_| !pair.is_tie && !pair.best_is_baseline()), bound)
        }),
    );
    said
}

/// What was run.
pub(super) fn setting(runs: &[Report]) -> String {
    let first = &runs[0];
    let devices = first.members();
    let level = first.scenario.pointer("/array/level").and_then(serde_json::Value::as_str);
    let ssds = match level {
        _ if devices == 1 => "aged SSD".to_owned(),
        Some(level) => format!("aged {} array of {devices} SSDs", level.replace("raid", "RAID-")),
        None => format!("aged array of {devices} SSDs"),
    };
    let requests = format!("{} requests{}", numbers::count(first.host.requests), load(runs));
    if runs.len() == 1 {
        return format!("The run serves {requests} on an {ssds} under {}.", name(first));
    }
    if runs.iter().all(|run| alike(run, first)) {
        // A policy may have stripes of its own, which hold another amount.
        let other = |run: &&Report| run.array.usable_bytes != first.array.usable_bytes;
        let others: Vec<String> = runs.iter().filter(other).map(name).collect();
        if others.is_empty() {
            return format!(
                "Each run serves the same {requests} on the same {ssds}. Only the policy of garbage collection differs."
            );
        }
        return format!(
            "Each run serves the same {requests} on an {ssds}. The policy of garbage collection differs, and under {} the stripes of the \
             array, too: it holds {}, and {} under {}.",
            others.join(" and "),
            format_bytes(runs.iter().find(other).map_or(0, |run| run.array.usable_bytes)),
            format_bytes(first.array.usable_bytes),
            name(first),
        );
    }
    format!("The {} runs differ in what their names say.", runs.len())
}

/// What the requests are, as in " (80% writes, 500 KiB on average, 477 a second)"; the rate where all runs had the same.
fn load(runs: &[Report]) -> String {
    let host = &runs[0].host;
    let (moving, bytes) = (host.read_requests + host.write_requests, host.bytes_read + host.bytes_written);
    if moving == 0 || bytes == 0 {
        return String::new();
    }
    let mut text = match host.write_requests as f64 / moving as f64 {
        0.0 => " (all reads".to_owned(),
        1.0 => " (all writes".to_owned(),
        writes => format!(" ({} writes", percent(writes)),
    };
    let _ = write!(text, ", {} KiB on average", figure(bytes as f64 / moving as f64 / 1024.0));
    let rate = |run: &Report| run.served_requests().unwrap_or(f64::NAN);
    let first = rate(&runs[0]);
    if first.is_finite() && runs.iter().all(|run| change(rate(run), first).abs() < ALIKE) {
        // A week of a quiet volume has less than one in ten seconds.
        let _ = match first {
            rare if rare < 0.1 => write!(text, ", one every {} s", figure(1.0 / rare)),
            _ => write!(text, ", {} a second", figure(first)),
        };
    }
    text + ")"
}

/// A number of moderate size, with a decimal where it is small.
fn figure(value: f64) -> String {
    if value < 10.0 { format!("{value:.1}") } else { numbers::count(value.round() as u64) }
}

/// The mechanism: how often a request can meet a member that collects.
fn mechanism(best: &Report, other: &Report) -> Option<String> {
    (collected(best) || collected(other)).then(|| {
        format!(
            "Under {} at least one SSD collects garbage {} of the time, under {} {} of the time. That affects {} and \
             {} of the requests, and waiting for it is {} and {} of the response time.",
            name(other),
            percent(any_collecting(other)),
            name(best),
            percent(any_collecting(best)),
            percent(gc_affected(other)),
            percent(gc_affected(best)),
            percent(gc_share(other)),
            percent(gc_share(best))
        )
    })
}

/// What the best pays in erased blocks, which wear flash out.
fn price(runs: &[Report], best: &Report) -> Option<String> {
    let base = &runs[0];
    if base.array.erases == 0 || !alike(best, base) {
        return None;
    }
    let erased = numbers::count(best.array.erases);
    Some(match best.array.erases as f64 / base.array.erases as f64 {
        _ if std::ptr::eq(best, base) => format!("{} erases {erased} blocks.", name(best)),
        ratio if (ratio - 1.0).abs() < ALIKE => format!(
            "{} erases as many blocks as {}: {erased} and {}.",
            name(best),
            name(base),
            numbers::count(base.array.erases)
        ),
        ratio if ratio > 1.0 => {
            format!("The price is wear: {} under {}.", more_than(ratio, "erased blocks"), name(base))
        }
        ratio => format!("{} erases {} fewer blocks than {}.", name(best), percent(1.0 - ratio), name(base)),
    })
}

/// Who else pays much more than the best.
fn most_wearing(runs: &[Report], best: &Report, winners: &Winners) -> Option<String> {
    const MUCH: f64 = 1.05;
    let base = &runs[0];
    let erases = |run: &Report| run.array.erases as f64;
    let others =
        runs.iter().filter(|run| alike(run, base) && !std::ptr::eq(*run, best) && !std::ptr::eq(*run, base));
    let most = others.max_by_key(|run| run.array.erases)?;
    let ties = |run: &Report| {
        winners.erases.as_ref().is_some_and(|fewest| fewest.labels.iter().any(|of| of == label(run)))
    };
    let stands_out = erases(base) > 0.0
        && !(ties(most) && ties(base))
        && alike(best, base)
        && erases(most) > erases(base) * MUCH
        && erases(most) > erases(best) * MUCH;
    stands_out.then(|| {
        let ratio = more_than(erases(most) / erases(base), "erased blocks");
        format!("{} wears the flash most: {ratio} under {}.", name(most), name(base))
    })
}

/// One choice only: what garbage collection does to it.
fn collecting(run: &Report) -> Option<String> {
    collected(run).then(|| {
        format!(
            "At least one SSD collects garbage {} of the time, and waiting for that is {} of the response time. {} \
             blocks were erased.",
            percent(any_collecting(run)),
            percent(gc_share(run)),
            numbers::count(run.array.erases)
        )
    })
}

/// How much of what garbage collection costs is won back.
fn to_the_bound(best: &Report, other: Option<&Report>, bound: &Report) -> String {
    let mut text = format!(
        "If garbage collection took no time ({}), the mean would be {}.",
        name(bound),
        ms(mean_ns(bound))
    );
    if let Some(other) = other.filter(|other| alike(other, bound)) {
        let (cost, left) = (mean_ns(other) - mean_ns(bound), mean_ns(best) - mean_ns(bound));
        if cost > ALIKE * mean_ns(bound) && left >= 0.0 {
            let _ = write!(
                text,
                " {} closes {} of the gap between {} and that bound.",
                name(best),
                percent(1.0 - left / cost),
                name(other)
            );
        }
    }
    text
}

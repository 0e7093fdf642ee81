//! Bandwidth over time: a log of fio (`write_bw_log` with `log_avg_msec`), or CSV.
//!
//! A row of the log has milliseconds, KiB/s, the direction (1 writes), and more that is not read. CSV has a heading: `time_s` beside
//! `bytes_per_s`, `mb_per_s` (10^6 bytes) or `iops` (of 4 KiB).

use harmonia_scenario::{BadInput, printable};

use crate::measured::OverTime;

/// Points that are needed at least.
const LEAST: usize = 40;

/// A log of fio.
pub(super) fn log(file: &str, text: &str) -> Result<OverTime, BadInput> {
    let other =
        ["_iops", "_lat", "_clat", "_slat"].into_iter().find(|kind| file.contains(&format!("{kind}.")));
    if let Some(kind) = other {
        let problem = format!("{file}: a log called {kind} has no bandwidth");
        return Err(BadInput::plain(problem, "allowed: the log that write_bw_log writes, NAME_bw.1.log"));
    }
    let mut points = Vec::new();
    for (line, row) in rows(text) {
        let bad = || bad(file, line, row, "milliseconds, KiB/s and 0 or 1, such as 1000, 524288, 1");
        let cells: Vec<f64> = row.split(',').map_while(|cell| cell.trim().parse().ok()).collect();
        let &[ms, kib, direction, ..] = &cells[..] else { return Err(bad()) };
        match direction {
            1.0 => points.push((line, (ms / 1e3, kib * 1024.0))),
            0.0 | 2.0 => {}
            _ => return Err(bad()),
        }
    }
    checked(file, points)
}

/// CSV with a heading.
pub(super) fn csv(file: &str, text: &str) -> Result<OverTime, BadInput> {
    let mut rows = rows(text);
    let (line, heading) = rows.next().unwrap_or((1, ""));
    let names: Vec<String> = heading.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let place = |name: &str| names.iter().position(|known| known == name);
    let rate = [("bytes_per_s", 1.0), ("mb_per_s", 1e6), ("iops", 4096.0)];
    let rate = rate.into_iter().find_map(|(name, unit)| Some((place(name)?, unit)));
    let Some((time, (rate, unit))) = place("time_s").zip(rate) else {
        return Err(bad(file, line, heading, "a heading with time_s, and bytes_per_s, mb_per_s or iops"));
    };
    let mut points = Vec::new();
    for (line, row) in rows {
        let cells: Vec<&str> = row.split(',').map(str::trim).collect();
        let cell = |at: usize| cells.get(at).and_then(|cell| cell.parse::<f64>().ok());
        let point = cell(time).zip(cell(rate).map(|rate| rate * unit));
        points.push((line, point.ok_or_else(|| bad(file, line, row, "a number in each of both columns"))?));
    }
    checked(file, points)
}

/// Lines with something on them, counted from 1.
fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, row)| (at + 1, row.trim())).filter(|(_, row)| !row.is_empty())
}

fn checked(file: &str, points: Vec<(usize, (f64, f64))>) -> Result<OverTime, BadInput> {
    let mut before = -1.0;
    for &(line, (time, rate)) in &points {
        let is_right = time.is_finite() && time > before && rate.is_finite() && rate >= 0.0;
        if !is_right {
            let row = format!("{time} s, {rate} bytes/s");
            return Err(bad(
                file,
                line,
                &row,
                "times that grow, and rates of 0 or more; one job writes the log",
            ));
        }
        before = time;
    }
    if points.len() < LEAST {
        let problem = format!("{file}: has {} points of writing", points.len());
        return Err(BadInput::plain(problem, &format!("allowed: {LEAST} or more")));
    }
    Ok(OverTime { name: file.to_owned(), points: points.into_iter().map(|(_, point)| point).collect() })
}

fn bad(file: &str, line: usize, row: &str, allowed: &str) -> BadInput {
    BadInput::plain(
        format!("{file}:{line}: `{}` cannot be read", printable(row, 60)),
        &format!("allowed: {allowed}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(of: impl Fn(usize) -> String) -> String {
        (1..=50).map(|at| of(at) + "\n").collect()
    }

    #[test]
    fn a_log_and_csv_say_the_same() {
        let logged = log("x_bw.1.log", &lines(|at| format!("{}, {}, 1, 4096, 0", at * 1_000, at * 1_000)))
            .expect("read");
        let table = "time_s,what,iops\n".to_owned() + &lines(|at| format!("{at},x,{}", at * 250));
        let table = csv("x.csv", &table).expect("read");
        assert_eq!(logged.points, table.points);
        assert_eq!(logged.points[1], (2.0, 2_000.0 * 1024.0));
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let message = |result: Result<OverTime, BadInput>| result.map(|_| ()).unwrap_err().to_string();
        let good = lines(|at| format!("{at}, 5, 1"));
        assert!(message(log("x_iops.1.log", &good)).contains("a log called _iops has no bandwidth"));
        assert!(message(log("x", &(good.clone() + "60, 5\n"))).contains("x:51: `60, 5` cannot be read"));
        assert!(message(log("x", &(good.clone() + "60, 5, 7\n"))).contains("x:51: "));
        assert!(message(log("x", &(good + "50, 5, 1\n"))).contains("x:51: `0.05 s, 5120 bytes/s`"));
        assert!(message(log("x", "1, 5, 1\n")).contains("x: has 1 points of writing"));
        assert!(message(csv("y", "time_s,speed\n1,2\n")).contains("y:1: `time_s,speed` cannot be read"));
        assert!(message(csv("y", "time_s,iops\n1,fast\n")).contains("y:2: `1,fast` cannot be read"));
        assert!(message(csv("y", "time_s,iops\n1,nan\n")).contains("y:2: "));
    }
}

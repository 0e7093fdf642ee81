//! Lines over a few settings, one or two panels side by side, one legend.

use harmonia_figure::{Anchor, Canvas};

use super::{WIDTH, figure};

/// One panel.
pub struct Panel<'a> {
    pub title: &'a str,
    /// What is set, and to what.
    pub setting: &'a str,
    pub settings: &'a [&'a str],
    /// By policy, a value for every setting.
    pub lines: Vec<(&'static str, Vec<f64>)>,
}

const HEIGHT: f64 = 170.0;
const TOP: f64 = 66.0;

/// Colour, dashes and shape of a policy's line.
fn pen(policy: &str) -> (&'static str, &'static str, char) {
    match policy {
        "local" => ("red", "", 'o'),
        "reactive-inclusive" => ("blue", "", 's'),
        "reactive-selective" => ("green", "7 3", 't'),
        "proactive-idle" => ("pink", "3 3", 'd'),
        _ => ("grey", "1 4", 'x'),
    }
}

/// Draws the panels.
pub fn draw(title: &str, panels: &[Panel<'_>]) -> String {
    let mut svg = figure(TOP + HEIGHT + 50.0, title);
    let mut left = 16.0;
    let mut named: Vec<&str> = Vec::new();
    for (policy, _) in panels.iter().flat_map(|panel| &panel.lines) {
        if !named.contains(policy) {
            named.push(policy);
            let (class, dashes, shape) = pen(policy);
            svg.trace(&format!("line {class}"), dashes, &[(left, 18.0), (left + 30.0, 18.0)]);
            mark(&mut svg, class, shape, left + 15.0, 18.0);
            svg.text(left + 36.0, 22.0, Anchor::Start, "", policy);
            left += 50.0 + 7.2 * policy.len() as f64;
        }
    }
    let column = WIDTH / panels.len() as f64;
    for (index, panel) in panels.iter().enumerate() {
        draw_panel(&mut svg, column * index as f64 + 58.0, column - 84.0, panel);
    }
    svg.finish()
}

fn draw_panel(svg: &mut Canvas, left: f64, width: f64, panel: &Panel<'_>) {
    let most = panel.lines.iter().flat_map(|(_, values)| values).copied().fold(0.0, f64::max);
    let step = tick_step(most);
    let ticks = (most / step).ceil().max(1.0);
    let y = |value: f64| TOP + HEIGHT * (1.0 - value / (ticks * step));
    let x = |index: usize| {
        let share =
            if panel.settings.len() < 2 { 0.5 } else { index as f64 / (panel.settings.len() - 1) as f64 };
        left + 20.0 + (width - 40.0) * share
    };
    svg.text(left, TOP - 12.0, Anchor::Start, "head", panel.title);
    for tick in 0..=ticks as u32 {
        let value = f64::from(tick) * step;
        svg.trace("grid", "", &[(left, y(value)), (left + width, y(value))]);
        svg.text(left - 6.0, y(value) + 4.0, Anchor::End, "tick", &grouped(value));
    }
    for (index, setting) in panel.settings.iter().enumerate() {
        svg.text(x(index), TOP + HEIGHT + 16.0, Anchor::Middle, "tick", setting);
    }
    svg.text(left + width / 2.0, TOP + HEIGHT + 36.0, Anchor::Middle, "", panel.setting);
    for (policy, values) in &panel.lines {
        let (class, dashes, shape) = pen(policy);
        let points: Vec<_> = values.iter().enumerate().map(|(index, &value)| (x(index), y(value))).collect();
        svg.trace(&format!("line {class}"), dashes, &points);
        for (x, y) in points {
            mark(svg, class, shape, x, y);
        }
    }
}

/// A point of a line: circle, square, triangle, diamond or cross.
fn mark(svg: &mut Canvas, class: &str, shape: char, x: f64, y: f64) {
    let class = format!("mark {class}");
    let corners: &[(f64, f64)] = match shape {
        'o' => &[
            (-4.0, 0.0),
            (-2.8, -2.8),
            (0.0, -4.0),
            (2.8, -2.8),
            (4.0, 0.0),
            (2.8, 2.8),
            (0.0, 4.0),
            (-2.8, 2.8),
        ],
        's' => &[(-3.5, -3.5), (3.5, -3.5), (3.5, 3.5), (-3.5, 3.5)],
        't' => &[(0.0, -4.5), (4.5, 3.5), (-4.5, 3.5)],
        'd' => &[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)],
        _ => &[(-3.5, -3.5), (3.5, 3.5), (0.0, 0.0), (3.5, -3.5), (-3.5, 3.5), (0.0, 0.0)],
    };
    let mut points: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    points.extend(points.first().copied());
    svg.trace(&class, "", &points);
}

/// 1, 2 or 5 times a power of ten, so that there are four to eight ticks.
fn tick_step(most: f64) -> f64 {
    let mut step = 0.001;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if most / (step * factor) <= 6.0 {
                return step * factor;
            }
        }
        step *= 10.0;
    }
}

/// A tick's number: 0.5, 20, 80,000.
fn grouped(value: f64) -> String {
    if value < 10.0 && value.fract() > 0.001 { format!("{value:.1}") } else { thousands(value as u64) }
}

/// A count with commas.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

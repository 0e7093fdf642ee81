//! Where the ticks of an axis go.

/// What an axis holds besides its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// 0.
    FromZero,
    /// Nothing: for differences that are small beside the values.
    Tight,
    /// Equal ratios are equally far apart.
    Log,
}

/// An axis of values, linear or logarithmic, widened to round numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    /// Round values on it.
    pub ticks: Vec<f64>,
}

impl Axis {
    /// The axis that holds these values.
    pub(crate) fn holding(values: impl Iterator<Item = f64>, scale: Scale) -> Axis {
        let log = scale == Scale::Log;
        let (mut low, mut high) = (f64::MAX, f64::MIN);
        for value in values.filter(|value| value.is_finite() && (!log || *value > 0.0)) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            (low, high) = if log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        match scale {
            Scale::Log => Axis::logarithmic(low, high),
            Scale::FromZero => Axis::linear(low.min(0.0), high.max(0.0)),
            Scale::Tight => Axis::linear(low, high.max(low + low.abs() * 1e-3)),
        }
    }

    fn linear(low: f64, high: f64) -> Axis {
        let raw = ((high - low) / 5.0).max(1e-9);
        let magnitude = 10f64.powi(raw.log10().floor() as i32);
        let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|digit| digit * magnitude);
        let step = steps.into_iter().find(|step| *step >= raw * 0.999_999).unwrap_or(magnitude * 10.0);
        let (first, last) =
            ((low / step * 0.999_999).floor() as i64, (high / step * 0.999_999).ceil() as i64);
        let ticks: Vec<f64> = (first..=last.max(first + 1)).map(|tick| tick as f64 * step).collect();
        Axis { low: ticks[0], high: ticks[ticks.len() - 1], log: false, ticks }
    }

    fn logarithmic(low: f64, high: f64) -> Axis {
        let round = || (-9..12).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(power)));
        let low = round().rfind(|round| *round <= low * 1.000_001).unwrap_or(low);
        let high = round().find(|round| *round >= high * 0.999_999 && *round > low).unwrap_or(low * 10.0);
        let inside: Vec<f64> =
            round().filter(|round| *round >= low * 0.999_999 && *round <= high * 1.000_001).collect();
        let decades = |tick: &f64| (tick.log10() - tick.log10().round()).abs() < 1e-9;
        let ticks = if inside.len() <= 9 { inside } else { inside.iter().copied().filter(decades).collect() };
        Axis { low, high, log: true, ticks }
    }

    /// Where a value lies, from 0 at the low end to 1 at the high end.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low).log10() - self.low.log10()) / (self.high.log10() - self.low.log10())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        share.clamp(0.0, 1.0)
    }
}

/// A tick's text, without digits that say nothing.
pub(crate) fn tick_text(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_is_round_and_holds_zero() {
        let axis = Axis::holding([3.0, 8.3].into_iter(), Scale::FromZero);
        assert_eq!(axis.ticks, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!((axis.share(0.0), axis.share(5.0)), (0.0, 0.5));
        assert_eq!(Axis::holding([83.0, 101.0].into_iter(), Scale::Tight).ticks[0], 80.0);
        let below = Axis::holding([-12.0, 30.0].into_iter(), Scale::FromZero);
        assert!(below.ticks[0] <= -12.0 && below.ticks.contains(&0.0), "{below:?}");
    }

    #[test]
    fn a_logarithmic_axis_ends_at_round_numbers() {
        let axis = Axis::holding([1.9, 61.0].into_iter(), Scale::Log);
        assert_eq!((axis.ticks[0], axis.ticks[axis.ticks.len() - 1]), (1.0, 100.0));
        assert!((axis.share(10.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn nothing_and_one_value_have_an_axis_too() {
        for scale in [Scale::FromZero, Scale::Tight, Scale::Log] {
            assert!(Axis::holding(std::iter::empty(), scale).ticks.len() >= 2);
            assert!(Axis::holding([0.0].into_iter(), scale).share(0.0).is_finite());
            assert!(Axis::holding([7.0].into_iter(), scale).ticks.len() >= 2);
        }
    }

    #[test]
    fn ticks_say_no_more_than_they_must() {
        assert_eq!([0.0, 2.5, 10.0, 0.002, -0.0].map(tick_text), ["0", "2.5", "10", "0.002", "0"]);
    }
}

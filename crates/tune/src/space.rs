//! The keys that are varied, and the values they take.
//!
//! ```text
//!   ssd.gc.min_victims=1..8          whole numbers            1 2 3 4 5 6 7 8
//!   ssd.gc.min_victims=1..8:2        a step                   1 3 5 7
//!   ssd.gc.concurrency.low=0.3..0.7  decimals: 33 values      0.3 0.3125 0.325 .. 0.7
//!   ssd.gc.hard_threshold=3%..10%    whole per cents, as every number without decimals
//!   ssd.gc.victim=greedy,fifo        names, or any values, in no order
//! ```
//!
//! Whatever is written becomes a lattice: a point is one index a key, so that points compare exactly and no value is tried
//! twice for a rounding error. A unit (`%`, `us`) or another word around the number (`hard+1..4`) is kept as it stands.
//! Leaves out: values at equal ratios, and ends in different units.

use std::cmp::Ordering;

use harmonia_scenario::{BadInput, values_of};
use serde::Serialize;

use crate::search::{Dimension, Point};

/// Into so many steps a range of decimals is divided; finer than what noise lets one see.
const STEPS: u32 = 32;
/// A range may have so many values.
const MOST_VALUES: f64 = 1e6;
/// What a message offers.
const ALLOWED: &str = "allowed: key=1..8 (whole numbers), key=1..8:2 (with a step), key=0.3..0.7 (decimals), \
                       key=3%..10% (with a unit), key=a,b,c (choices)";

/// One key and its values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// From the scenario's root, such as `ssd.gc.hard_threshold`.
    pub key: String,
    /// Its values as they were asked for.
    pub range: String,
    #[serde(skip)]
    values: Values,
}

#[derive(Debug, Clone, PartialEq)]
enum Values {
    Choices(Vec<String>),
    Steps(Steps),
}

/// Equally distant numbers between words.
#[derive(Debug, Clone, PartialEq)]
struct Steps {
    before: String,
    after: String,
    low: f64,
    step: f64,
    count: u32,
    decimals: usize,
}

/// All keys that are varied.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    /// In the order in which they were given.
    pub axes: Vec<Axis>,
}

impl Space {
    /// Reads `key=range` for every key.
    ///
    /// # Errors
    /// If there is none, one cannot be read, or a key is given twice.
    pub fn parse(overs: &[String]) -> Result<Space, BadInput> {
        let axes: Vec<Axis> = overs.iter().map(|over| Axis::parse(over)).collect::<Result<_, _>>()?;
        if axes.is_empty() {
            return Err(BadInput::plain("nothing is varied: --over is missing", ALLOWED));
        }
        for (index, axis) in axes.iter().enumerate() {
            if axes[..index].iter().any(|other| other.key == axis.key) {
                let problem = format!("--over {}: the key is varied twice", axis.key);
                return Err(BadInput::plain(problem, "allowed: each key once, with all of its values"));
            }
        }
        Ok(Space { axes })
    }

    /// How many values each key has, and whether they are in order.
    pub fn dimensions(&self) -> Vec<Dimension> {
        self.axes.iter().map(Axis::dimension).collect()
    }

    /// `key=value` of every key at a point, as for `--set`.
    pub fn sets(&self, point: &Point) -> Vec<String> {
        let pairs = self.axes.iter().zip(point);
        pairs.map(|(axis, &index)| format!("{}={}", axis.key, axis.value(index))).collect()
    }

    /// Where a scenario stands on each axis, in steps of the lattice; none where that cannot be said.
    pub fn place_of(&self, scenario: &toml::Table) -> Vec<Option<f64>> {
        self.axes.iter().map(|axis| axis.place(&text_at(scenario, &axis.key)?)).collect()
    }
}

/// The value of a key as text.
fn text_at(scenario: &toml::Table, key: &str) -> Option<String> {
    let (last, path) = key.rsplit_once('.').map_or((key, ""), |(path, last)| (last, path));
    let step = |table: &'_ toml::Table, name: &str| table.get(name)?.as_table().cloned();
    let names = path.split('.').filter(|name| !name.is_empty());
    let table = names.into_iter().try_fold(scenario.clone(), |table, name| step(&table, name))?;
    match table.get(last)? {
        toml::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

impl Axis {
    fn parse(over: &str) -> Result<Axis, BadInput> {
        let shown: String = over.chars().filter(|character| !character.is_control()).take(200).collect();
        let fault = |problem: &str| BadInput::plain(format!("--over {shown}: {problem}"), ALLOWED);
        let (key, range) = over.split_once('=').ok_or_else(|| fault("there is no `=`"))?;
        let (key, range) = (key.trim(), range.trim());
        if key.is_empty() {
            return Err(fault("there is no key before `=`"));
        }
        Axis::of(key, range).map_err(|why| fault(&why))
    }

    /// A key with a range such as `3%..10%`, or with choices such as `a,b`.
    ///
    /// # Errors
    /// What is wrong with the range.
    pub fn of(key: &str, range: &str) -> Result<Axis, String> {
        let values = match range.split_once("..") {
            Some((low, high)) if !range.contains(',') => Values::Steps(Steps::parse(low, high)?),
            _ => Values::Choices(choices(range)?),
        };
        Ok(Axis { key: key.to_owned(), range: range.to_owned(), values })
    }

    fn dimension(&self) -> Dimension {
        match &self.values {
            Values::Choices(values) => Dimension::Choices(values.len() as u32),
            Values::Steps(steps) => Dimension::Ordered(steps.count),
        }
    }

    /// The value with this index, as written in a scenario.
    pub fn value(&self, index: u32) -> String {
        match &self.values {
            Values::Choices(values) => values[index as usize].clone(),
            Values::Steps(steps) => steps.at(f64::from(index)),
        }
    }

    /// Whether its values are in order, so that there is something between two of them.
    pub fn is_ordered(&self) -> bool {
        matches!(self.values, Values::Steps(_))
    }

    /// The value that would follow beyond the end at which an index lies.
    pub(crate) fn beyond(&self, index: u32) -> Option<String> {
        match &self.values {
            Values::Steps(steps) if index == 0 => Some(steps.at(-1.0)),
            Values::Steps(steps) => Some(steps.at(f64::from(index) + 1.0)),
            Values::Choices(_) => None,
        }
    }

    /// All values, in order where there is one.
    pub fn all(&self) -> impl Iterator<Item = String> + '_ {
        let (Dimension::Ordered(count) | Dimension::Choices(count)) = self.dimension();
        (0..count).map(|index| self.value(index))
    }

    fn place(&self, value: &str) -> Option<f64> {
        match &self.values {
            Values::Choices(values) => {
                let bare = |text: &str| text.trim_matches(['"', '\'']).to_owned();
                values.iter().position(|known| bare(known) == bare(value)).map(|index| index as f64)
            }
            Values::Steps(steps) => steps.place(value),
        }
    }
}

fn choices(range: &str) -> Result<Vec<String>, &'static str> {
    let values = values_of(range);
    if values.iter().any(|value| value.is_empty()) {
        return Err("a value is empty");
    }
    if values.len() < 2 {
        return Err("one value leaves nothing to choose");
    }
    if (1..values.len()).any(|at| values[..at].contains(&values[at])) {
        return Err("a value is given twice");
    }
    Ok(values.into_iter().map(str::to_owned).collect())
}

impl Steps {
    fn parse(low: &str, high: &str) -> Result<Steps, String> {
        let (high, step) = match high.split_once(':') {
            Some((high, step)) => (high, Some(step)),
            None => (high, None),
        };
        let (low, high) = (Number::parse(low)?, Number::parse(high)?);
        let step = step.map(Number::parse).transpose()?;
        let [before, after] = words(&[Some(&low), Some(&high), step.as_ref()])?;
        let width = high.value - low.value;
        match width.partial_cmp(&0.0) {
            Some(Ordering::Greater) => {}
            _ => return Err("the upper end is not above the lower one".to_owned()),
        }
        let written = low.decimals.max(high.decimals).max(step.as_ref().map_or(0, |step| step.decimals));
        let (step, decimals) = match step {
            Some(step) if step.value <= 0.0 => return Err("the step is not above 0".to_owned()),
            Some(step) => (step.value, written),
            None if written == 0 => (1.0, 0),
            None => {
                let step = width / f64::from(STEPS);
                (step, decimals_for(step))
            }
        };
        // 0.7 is a whole number of steps of 0.1 above 0.3, whatever binary fractions make of it.
        let steps = (width / step * (1.0 + 1e-12) + 1e-9).floor();
        match steps {
            0.0 => Err("the step is wider than the range, which leaves one value".to_owned()),
            steps if steps > MOST_VALUES => Err("more than a million values: write a step".to_owned()),
            steps => Ok(Steps { before, after, low: low.value, step, count: steps as u32 + 1, decimals }),
        }
    }

    fn at(&self, index: f64) -> String {
        let Steps { before, after, low, step, decimals, .. } = self;
        let number = format!("{:.decimals$}", low + index * step);
        let number = match number.contains('.') {
            true => number.trim_end_matches('0').trim_end_matches('.'),
            false => number.as_str(),
        };
        let number = if number == "-0" { "0" } else { number };
        format!("{before}{number}{after}")
    }

    fn place(&self, value: &str) -> Option<f64> {
        let number = Number::parse(value).ok()?;
        let alike = number.before == self.before && number.after == self.after;
        alike.then(|| (number.value - self.low) / self.step)
    }
}

/// So many decimals tell two neighbours apart by far.
fn decimals_for(step: f64) -> usize {
    let mut decimals = 0;
    let mut unit = 1.0;
    while unit > step / 50.0 && decimals < 12 {
        unit /= 10.0;
        decimals += 1;
    }
    decimals
}

/// A number and what stands around it.
struct Number {
    before: String,
    value: f64,
    decimals: usize,
    after: String,
}

impl Number {
    fn parse(text: &str) -> Result<Number, String> {
        let text = text.trim();
        let shown: String = text.chars().take(40).collect();
        let refuse = || format!("`{shown}` has no number in it that could be varied");
        let digit = text.find(|c: char| c.is_ascii_digit()).ok_or_else(refuse)?;
        // A minus belongs to the number if nothing stands before it.
        let start = if &text[..digit] == "-" { 0 } else { digit };
        let rest = &text[digit..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = (&text[start..digit + length], &rest[length..]);
        if after.contains(|c: char| c.is_ascii_digit()) {
            return Err(format!("`{shown}` has more than one number in it"));
        }
        let value: f64 = number.parse().map_err(|_| refuse())?;
        let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        Ok(Number { before: text[..start].to_owned(), value, decimals, after: after.to_owned() })
    }
}

/// What stands before and after all of these numbers; where one has nothing, it means what the others have.
fn words(numbers: &[Option<&Number>]) -> Result<[String; 2], String> {
    let of = |word: fn(&Number) -> &String| {
        let mut words = numbers.iter().flatten().map(|number| word(number)).filter(|word| !word.is_empty());
        let first = words.next().cloned().unwrap_or_default();
        match words.find(|other| **other != first) {
            Some(other) => Err(format!("`{first}` and `{other}` differ: write both ends in the same unit")),
            None => Ok(first),
        }
    };
    Ok([of(|number| &number.before)?, of(|number| &number.after)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(over: &str) -> Vec<String> {
        let space = Space::parse(&[over.to_owned()]).unwrap_or_else(|why| panic!("{over}: {why}"));
        let (Dimension::Ordered(count) | Dimension::Choices(count)) = space.dimensions()[0];
        (0..count).map(|index| space.axes[0].value(index)).collect()
    }

    #[test]
    fn ranges_are_whole_stepped_decimal_or_choices() {
        assert_eq!(values("k=1..4"), ["1", "2", "3", "4"]);
        assert_eq!(values("k=1..8:2"), ["1", "3", "5", "7"]);
        assert_eq!(values("k=0.3..0.7:0.1"), ["0.3", "0.4", "0.5", "0.6", "0.7"]);
        assert_eq!(values("k=3%..6%"), ["3%", "4%", "5%", "6%"]);
        assert_eq!(values("k=3..5%"), ["3%", "4%", "5%"]);
        assert_eq!(values("k=2.5%..3.5%:0.5%"), ["2.5%", "3%", "3.5%"]);
        assert_eq!(values("k=hard+1..3"), ["hard+1", "hard+2", "hard+3"]);
        assert_eq!(values("k=-1..1"), ["-1", "0", "1"]);
        assert_eq!(values("k=25us..100us:25"), ["25us", "50us", "75us", "100us"]);
        assert_eq!(values("k = a, [1,2] ,\"x,y\""), ["a", "[1,2]", "\"x,y\""]);
        let fine = values("ssd.gc.concurrency.low=0.3..0.7");
        assert_eq!((fine.len(), fine[1].as_str(), fine[32].as_str()), (33, "0.3125", "0.7"));
    }

    #[test]
    fn what_cannot_be_varied_is_refused_with_key_value_and_what_is_allowed() {
        for (over, says) in [
            ("k", "there is no `=`"),
            ("=1..2", "no key"),
            ("k=5", "leaves nothing to choose"),
            ("k=a,,b", "a value is empty"),
            ("k=a,b,a", "is given twice"),
            ("k=5..5", "not above the lower"),
            ("k=8..1", "not above the lower"),
            ("k=1..", "has no number"),
            ("k=1..8:0", "step is not above 0"),
            ("k=1..8:9", "step is wider"),
            ("k=1us..2ms", "same unit"),
            ("k=0..10000000", "more than a million"),
            ("k=1..2x3", "more than one number"),
            ("k=0.1.2..3", "has no number"),
        ] {
            let message = Space::parse(&[over.to_owned()]).expect_err(over).to_string();
            assert!(message.contains(&format!("--over {over}: ")), "{over}: {message}");
            assert!(message.contains(says) && message.contains("allowed: key=1..8"), "{over}: {message}");
        }
        let twice = Space::parse(&["k=1..2".to_owned(), "k=a,b".to_owned()]).expect_err("twice").to_string();
        assert!(twice.contains("--over k: the key is varied twice"), "{twice}");
        assert!(Space::parse(&[]).expect_err("nothing").to_string().contains("--over is missing"));
    }

    #[test]
    fn a_scenario_has_a_place_where_its_words_are_those_of_the_range() {
        let overs = ["a.b=3%..7%:2%", "a.c=x,y", "d=1..4", "e=1us..3us"].map(str::to_owned);
        let space = Space::parse(&overs).expect("ranges");
        let scenario: toml::Table = "d = 3\ne = \"2ms\"\n[a]\nb = \"4%\"\nc = \"y\"".parse().expect("TOML");
        assert_eq!(space.place_of(&scenario), [Some(0.5), Some(1.0), Some(2.0), None]);
        assert_eq!(space.sets(&vec![1, 0, 3, 2]), ["a.b=5%", "a.c=x", "d=4", "e=3us"]);
    }
}

//! Kinds of values: what a key takes, as a form and in words, how that is read, and how a value is written again.
//!
//! Only declarations can make a kind, and only a kind looks into the value of a [`Field`]: a reader elsewhere has to ask the key.
//! So a bound that stands in a declaration stands nowhere else.

use harmonia_ssd::Amount;
use harmonia_types::{Bytes, SimDuration, units};

use super::Form;
use crate::error::{Fault, Parsed, nearest, printable};
use crate::presets;
use crate::read::Field;
use crate::shown::Shown;
use crate::tree::Value;

/// What a key takes; `T` is what the configuration has of it.
pub(super) struct Kind<T> {
    /// As a program checks it.
    pub form: Form,
    /// In words.
    pub words: String,
    read: Box<Read<T>>,
    show: Box<Show<T>>,
}

type Read<T> = dyn Fn(&Field<'_>) -> Parsed<T> + Send + Sync;
type Show<T> = dyn Fn(&T) -> Option<Shown> + Send + Sync;

impl<T: 'static> Kind<T> {
    pub fn new(
        form: Form,
        words: impl Into<String>,
        read: impl Fn(&Field<'_>) -> Parsed<T> + Send + Sync + 'static,
        show: impl Fn(&T) -> Option<Shown> + Send + Sync + 'static,
    ) -> Kind<T> {
        Kind { form, words: words.into(), read: Box::new(read), show: Box::new(show) }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// If it is none of this kind.
    pub fn read(&self, field: &Field<'_>) -> Parsed<T> {
        (self.read)(field)
    }

    /// A value as a scenario file has it; `None` if it goes without saying.
    pub fn show(&self, value: &T) -> Option<Shown> {
        (self.show)(value)
    }

    /// The same in other words: those that say more, such as a condition on another key.
    pub fn saying(self, words: &str) -> Kind<T> {
        Kind { words: words.to_owned(), ..self }
    }

    /// The same without values that are not as they must be; `why` says what is wrong with them.
    pub fn checked(self, is_right: fn(&T) -> bool, why: &'static str) -> Kind<T> {
        let read = move |field: &Field<'_>| match (self.read)(field)? {
            value if is_right(&value) => Ok(value),
            _ => Err(field.fault(why)),
        };
        Kind { read: Box::new(read), ..self }
    }

    /// The same as part of something else.
    pub fn map<U: 'static>(self, to: fn(T) -> U, from: fn(&U) -> Option<T>) -> Kind<U> {
        let Kind { form, words, read, show } = self;
        Kind::new(form, words, move |field| read(field).map(to), move |value| show(&from(value)?))
    }

    /// The same, of which the default is not written again.
    pub fn quiet(self) -> Kind<T>
    where
        T: Default + PartialEq + Send + Sync,
    {
        self.usually(T::default())
    }

    /// The same, of which this value is not written again.
    pub fn usually(self, usual: T) -> Kind<T>
    where
        T: PartialEq + Send + Sync,
    {
        let show = move |value: &T| if *value == usual { None } else { (self.show)(value) };
        Kind { show: Box::new(show), ..self }
    }

    /// What need not be there.
    pub fn optional(self) -> Kind<Option<T>>
    where
        T: Clone,
    {
        self.map(Some, Clone::clone)
    }

    /// `none`, or a value.
    pub fn or_none(self) -> Kind<Option<T>> {
        let Kind { form, words, read, show } = self;
        Kind::new(
            Form::Any(vec![Form::OneOf(vec!["none"]), form]),
            words,
            move |field| match &field.node.value {
                Value::Text(text) if text.trim() == "none" => Ok(None),
                _ => read(field).map(Some),
            },
            move |value| value.as_ref().map_or_else(|| Some("none".into()), &show),
        )
    }

    /// A value, or a table with the keys below this one, which is read as `None`.
    pub fn or_table(self) -> Kind<Option<T>> {
        let Kind { form, words, read, show } = self;
        Kind::new(
            Form::Any(vec![form, Form::Table]),
            words,
            move |field| match field.node.value {
                Value::Table(_) => Ok(None),
                _ => read(field).map(Some),
            },
            move |value| show(value.as_ref()?),
        )
    }

    /// One kind, or another where a value looks like that.
    pub fn or(self, is_other: fn(&Value) -> bool, other: Kind<T>) -> Kind<T> {
        let Kind { form, words, read, show } = self;
        Kind::new(
            Form::Any(vec![form, other.form]),
            words,
            move |field| if is_other(&field.node.value) { (other.read)(field) } else { read(field) },
            move |value| show(value).or_else(|| (other.show)(value)),
        )
    }

    /// A list of `least` to `most`.
    pub fn list(self, least: usize, most: usize) -> Kind<Vec<T>> {
        let Kind { form, words, read, show } = self;
        Kind::new(
            Form::List(Box::new(form)),
            words,
            move |field| {
                let Value::List(nodes) = &field.node.value else { return Err(unlike(field, "a list")) };
                if !(least..=most).contains(&nodes.len()) {
                    let problem = format!("has {} values, expected {least} to {most}", nodes.len());
                    return Err(field.fault(problem));
                }
                nodes.iter().map(|node| read(&field.of(node))).collect()
            },
            move |values: &Vec<T>| Some(Shown::List(values.iter().filter_map(&show).collect())),
        )
    }
}

pub(super) fn is_list(value: &Value) -> bool {
    matches!(value, Value::List(_))
}

pub(super) fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

pub(super) fn is_integer(value: &Value) -> bool {
    matches!(value, Value::Integer(_))
}

/// A whole number.
pub(super) fn whole(least: u64, most: u64) -> Kind<u64> {
    Kind::new(
        // As far as TOML counts.
        Form::Whole(least, most.min(i64::MAX as u64)),
        format!("a whole number, {} to {}", power(least), power(most)),
        move |field| match field.node.value {
            Value::Integer(value) => match u64::try_from(value) {
                Ok(value) if (least..=most).contains(&value) => Ok(value),
                _ => Err(field.fault("is out of range")),
            },
            _ => Err(unlike(field, "a whole number")),
        },
        |value| Some(Shown::Whole(*value)),
    )
}

/// A count.
pub(super) fn count(least: u32, most: u32) -> Kind<u32> {
    whole(least.into(), most.into()).map(|value| value as u32, |value| Some((*value).into()))
}

/// The number of a member, or how many there are.
pub(super) fn members(least: u16, most: u16) -> Kind<u16> {
    whole(least.into(), most.into()).map(|value| value as u16, |value| Some((*value).into()))
}

/// A large number as a power, if it is one.
fn power(number: u64) -> String {
    let ten = number.checked_ilog10().filter(|&exponent| exponent >= 6 && 10_u64.pow(exponent) == number);
    match ten {
        Some(exponent) => format!("10^{exponent}"),
        None if number == u64::MAX => "2^64 - 1".to_owned(),
        None if number >= 1 << 20 && number.is_power_of_two() => format!("2^{}", number.ilog2()),
        None => number.to_string(),
    }
}

/// A finite number from `least` to `most`.
pub(super) fn number(least: f64, most: f64) -> Kind<f64> {
    numbers(format!("from {least} to {}", large(most)), false, (least, most), None)
}

/// A number above `least`, at most `most`.
pub(super) fn above(least: f64, most: f64) -> Kind<f64> {
    numbers(format!("above {least}, at most {}", large(most)), true, (least, most), None)
}

/// A number from `least` to below `most`: `why` says what is wrong with `most`.
pub(super) fn below(least: f64, most: f64, why: &'static str) -> Kind<f64> {
    numbers(format!("from {least} to below {most}"), false, (least, most), Some(why))
}

/// A number above `least` and below `most`: `why` says what is wrong with `most`.
pub(super) fn between(least: f64, most: f64, why: &'static str) -> Kind<f64> {
    numbers(format!("above {least}, below {most}"), true, (least, most), Some(why))
}

fn large(number: f64) -> String {
    if number >= 1e6 { power(number as u64) } else { number.to_string() }
}

fn numbers(
    words: String,
    is_above: bool,
    (least, most): (f64, f64),
    most_is: Option<&'static str>,
) -> Kind<f64> {
    let read = move |field: &Field<'_>| {
        let value = match field.node.value {
            Value::Integer(value) => value as f64,
            Value::Float(value) => value,
            _ => return Err(unlike(field, "a number")),
        };
        if !value.is_finite() {
            return Err(field.fault("is not a finite number"));
        }
        let is_low = if is_above { value <= least } else { value < least };
        match most_is {
            _ if is_low || value > most => Err(field.fault("is out of range")),
            Some(why) if value == most => Err(field.fault(why)),
            // -0.0 would print as another value than it was read as.
            _ => Ok(value + 0.0),
        }
    };
    let words = format!("a number {words}");
    Kind::new(Form::Number(least, most), words, read, |value| Some(Shown::Number(*value)))
}

/// `true` or `false`.
pub(super) fn flag() -> Kind<bool> {
    Kind::new(
        Form::Flag,
        "true or false",
        |field| match field.node.value {
            Value::Boolean(value) => Ok(value),
            _ => Err(unlike(field, "true or false")),
        },
        |value| Some(Shown::Flag(*value)),
    )
}

const HOUR: SimDuration = SimDuration(3_600_000_000_000);

/// A time of at most 1 hour.
pub(super) fn time() -> Kind<SimDuration> {
    times("a time such as \"25us\" or \"1.5ms\", at most 1h", 0, HOUR)
}

/// A time above 0, of at most 1 hour.
pub(super) fn positive_time() -> Kind<SimDuration> {
    times("a time such as \"25us\" or \"1.5ms\", above 0, at most 1h", 1, HOUR)
}

/// A time without that limit, of at least so many ns.
pub(super) fn long_time(least: u64) -> Kind<SimDuration> {
    times("a time such as \"25us\" or \"1.5ms\"", least, SimDuration(u64::MAX))
}

fn times(words: &str, least: u64, most: SimDuration) -> Kind<SimDuration> {
    let read = move |field: &Field<'_>| match quantity(field, units::parse_duration, "a time")? {
        value if (SimDuration(least)..=most).contains(&value) => Ok(value),
        _ => Err(field.fault("is out of range")),
    };
    Kind::new(Form::Time, words, read, |value| Some(value.to_string().into()))
}

/// Sizes of any number of bytes.
pub(super) const ANY: Bytes = Bytes::MAX;

/// A size in bytes, `least` to `most`.
pub(super) fn size(least: Bytes, most: Bytes) -> Kind<Bytes> {
    let shown = units::format_bytes;
    let read = move |field: &Field<'_>| match quantity(field, units::parse_bytes, "a size")? {
        value if (least..=most).contains(&value) => Ok(value),
        _ => Err(field.fault("is out of range")),
    };
    let words = format!("a size such as \"4KiB\", {} to {}", shown(least), shown(most));
    Kind::new(Form::Size, words, read, move |value| Some(shown(*value).into()))
}

/// Bytes a second, with an example.
pub(super) fn rate(example: &str) -> Kind<Bytes> {
    const LEAST: Bytes = 1000;
    let shown = |bytes| format!("{}/s", units::format_bytes(bytes));
    let read = |field: &Field<'_>| match quantity(field, units::parse_bandwidth, "a rate")? {
        value if value >= LEAST => Ok(value),
        _ => Err(field.fault("is out of range")),
    };
    let words = format!("a rate such as \"{example}\", at least {}", shown(LEAST));
    Kind::new(Form::Rate, words, read, move |value| Some(shown(*value).into()))
}

/// A share in percent, from `least` to `most`, both as fractions of 1.
pub(super) fn share(least: f64, most: f64) -> Kind<f64> {
    // Rounded to what anybody writes, so that 0.07 is shown as 7%.
    let percent = |share: f64| format!("{}%", (share * 1e12).round() / 1e10);
    let words = format!("a share such as \"10%\", {} to {}", percent(least), percent(most));
    let read = move |field: &Field<'_>| {
        let number =
            field.node.value.text().and_then(|text| text.trim().strip_suffix('%')).map(str::trim_end);
        let Some(number) = number else { return Err(unlike(field, "a share")) };
        let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        match number.parse::<f64>().map(|percent| percent / 100.0) {
            Ok(share) if plain && (least..=most).contains(&share) => Ok(share),
            Ok(_) if plain => Err(field.fault("is out of range")),
            _ => Err(field.fault("is not a share")),
        }
    };
    Kind::new(Form::Share, words, read, move |share| Some(percent(*share).into()))
}

/// A number of blocks, a share of them, or bytes of the device.
pub(super) fn amount() -> Kind<Amount> {
    amounts(false)
}

/// The same, or hard and a distance.
pub(super) fn threshold() -> Kind<Amount> {
    amounts(true)
}

fn amounts(is_relative: bool) -> Kind<Amount> {
    // No allocation unit has more blocks: 64 planes of 2^20.
    const MOST: u32 = 1 << 26;
    const MOST_BYTES: Bytes = 1 << 50;
    let blocks = count(0, MOST);
    let mut forms = vec![Form::Share, blocks.form.clone(), Form::Size];
    forms.extend(is_relative.then_some(Form::AboveHard));
    let bytes = |text: &str| units::parse_bytes(text).ok().filter(|bytes| (1..=MOST_BYTES).contains(bytes));
    let read = move |field: &Field<'_>| {
        let text = match &field.node.value {
            Value::Integer(_) => return blocks.read(field).map(Amount::Blocks),
            Value::Text(text) => text.trim(),
            _ => return Err(unlike(field, "a number of blocks or a share")),
        };
        let refused = || field.fault("is not a number of blocks, a share or a size");
        if let Some(percent) = text.strip_suffix('%') {
            let plain = percent.trim_end().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let value: f64 = percent.trim_end().parse().map_err(|_| refused())?;
            return match value {
                _ if !plain => Err(refused()),
                0.0..=100.0 => Ok(Amount::Percent(value)),
                _ => Err(field.fault("is out of range: a share is 0% to 100%")),
            };
        }
        let distance = match text.strip_prefix("hard") {
            Some(rest) if is_relative && rest.is_empty() => return Ok(Amount::AboveHard(0)),
            Some(rest) if is_relative => {
                rest.trim_start().strip_prefix('+').ok_or_else(refused)?.trim_start()
            }
            _ => return bytes(text).map(Amount::Bytes).ok_or_else(refused),
        };
        match distance.parse::<u32>() {
            Ok(blocks) if blocks <= MOST && !distance.starts_with('+') => Ok(Amount::AboveHard(blocks)),
            _ => bytes(distance).map(Amount::BytesAboveHard).ok_or_else(refused),
        }
    };
    let words = "blocks (5), a share (\"5%\"), bytes of the device (\"8GiB\"), or relative to hard (\"hard\", \"hard+1\", \"hard+4GiB\")";
    Kind::new(Form::Any(forms), words, read, |amount| match amount {
        Amount::Blocks(blocks) => Some(Shown::Whole((*blocks).into())),
        other => Some(other.to_string().into()),
    })
}

/// One of a few names. A variant that has numbers beside it is shown by the name of its like.
pub(super) fn choice<T>(names: &'static [(&'static str, T)]) -> Kind<T>
where
    T: Clone + PartialEq + Send + Sync + 'static,
{
    let quoted: Vec<String> = names.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let words = match quoted.split_last() {
        Some((last, names)) if !names.is_empty() => format!("{} or {last}", names.join(", ")),
        _ => quoted.concat(),
    };
    let read = |field: &Field<'_>| {
        let name = name_among(field, names.iter().map(|(name, _)| *name))?;
        Ok(names.iter().find(|(known, _)| *known == name).expect("it is among them").1.clone())
    };
    Kind::new(Form::OneOf(names.iter().map(|(name, _)| *name).collect()), words, read, |value| {
        let is_like = |known: &T| std::mem::discriminant(known) == std::mem::discriminant(value);
        let same = names.iter().find(|(_, known)| known == value);
        let name = same.or_else(|| names.iter().find(|(_, known)| is_like(known)));
        name.map(|(name, _)| (*name).into())
    })
}

/// One of the names of a registry.
pub(super) fn named<I>(form: Form, words: &str, names: fn() -> I) -> Kind<&'static str>
where
    I: Iterator<Item = &'static str> + 'static,
{
    Kind::new(form, words, move |field| name_among(field, names()), |name| Some((*name).into()))
}

/// Any text.
pub(super) fn text(words: &str) -> Kind<String> {
    meant(words, |text| Ok(text.to_owned()), Clone::clone)
}

/// Text that stands for something; `read` says what is wrong with it.
pub(super) fn meant<T: 'static>(
    words: &str,
    read: fn(&str) -> Result<T, String>,
    show: fn(&T) -> String,
) -> Kind<T> {
    let read =
        move |field: &Field<'_>| read(text_of(field)?).map_err(|why| field.fault(printable(&why, 200)));
    Kind::new(Form::Text, words, read, move |value| Some(show(value).into()))
}

/// What is no value: tables, whose keys are declared below them, or a name that decides what its table has.
pub(super) fn opened(form: Form, words: &str) -> Kind<()> {
    Kind::new(form, words, |_| Ok(()), |()| None)
}

/// A table.
pub(super) fn table(words: &str) -> Kind<()> {
    opened(Form::Table, words)
}

/// A table with the keys of another one.
pub(super) fn like(path: &'static str, words: &str) -> Kind<()> {
    opened(Form::Like(path), words)
}

/// The name of a policy, or a table with it and with the policy's own keys.
pub(super) fn policy(words: &str) -> Kind<()> {
    opened(Form::Any(vec![Form::Policy, Form::Table]), words)
}

/// The name of a device preset.
pub(super) fn device_preset(words: &str) -> Kind<()> {
    opened(Form::Preset(presets::Kind::Device), words)
}

/// A fault of a value that is not even like what is wanted.
pub(super) fn unlike(field: &Field<'_>, wanted: &str) -> Box<Fault> {
    field.fault(format!("must be {wanted}, not {}", field.node.kind()))
}

fn text_of<'a>(field: &Field<'a>) -> Parsed<&'a str> {
    field.node.value.text().ok_or_else(|| unlike(field, "text"))
}

fn quantity<T>(field: &Field<'_>, read: fn(&str) -> Result<T, String>, what: &str) -> Parsed<T> {
    match &field.node.value {
        Value::Text(text) => read(text).map_err(|why| field.fault(printable(&why, 200))),
        Value::Integer(_) | Value::Float(_) => {
            Err(field.fault(format!("has no unit: {what} is written in quotes with its unit")))
        }
        _ => Err(unlike(field, what)),
    }
}

/// The name that is written, which is one of these.
pub(crate) fn name_among<'n>(field: &Field<'_>, known: impl Iterator<Item = &'n str>) -> Parsed<&'n str> {
    let text = text_of(field)?;
    let known: Vec<&str> = known.collect();
    if let Some(name) = known.iter().find(|name| **name == text) {
        return Ok(name);
    }
    let allowed = known.join(", ");
    let problem = match nearest(text, known) {
        _ if super::planned(&field.schema, text) => "is planned, but not available yet".to_owned(),
        Some(near) => format!("there is no such name; did you mean \"{near}\"?"),
        None => "there is no such name".to_owned(),
    };
    Err(field.fault_allowing(problem, allowed))
}

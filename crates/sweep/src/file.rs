//! A sweep file as it was written, each part with its place. Nothing of it has been held against a scenario.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use harmonia_run::MOST_SEEDS;
use harmonia_scenario::{BadInput, files, nearest, printable};
use harmonia_tune::space;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::value::{Entry, inline, kind, leaves, shown};

/// A sweep file may have so many bytes: 1 MiB.
const MOST_BYTES: u64 = 1 << 20;
/// What a sweep file may say.
const KEYS: [&str; 9] =
    ["scenario", "policies", "seeds", "method", "samples", "draw_seed", "skip_invalid", "set", "axes"];
const POINT: &str = "point";

/// Which combinations of the values of its axes a sweep visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// All of them.
    Grid,
    /// Those that are written out.
    List,
    /// So many, drawn at random.
    Random,
    /// So many, such that each axis is covered evenly.
    Lhs,
}

const METHODS: [(&str, Method); 4] =
    [("grid", Method::Grid), ("list", Method::List), ("random", Method::Random), ("lhs", Method::Lhs)];

/// Seeds as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Seeds {
    /// The scenario's own and those that follow.
    Count(u64),
    /// These.
    Listed(Vec<u64>),
}

/// One axis: a key with its values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenAxis {
    pub key: String,
    /// As `--set` takes them.
    pub values: Vec<String>,
    /// Of each value of a list.
    pub spans: Vec<Range<usize>>,
    pub span: Range<usize>,
}

impl WrittenAxis {
    /// The value with this index, where it was written.
    pub fn entry(&self, index: usize) -> Entry {
        let span = self.spans.get(index).unwrap_or(&self.span).clone();
        Entry { key: self.key.clone(), value: self.values[index].clone(), span }
    }
}

/// All that a sweep file says.
#[derive(Debug)]
pub(crate) struct SweepFile {
    pub origin: String,
    pub text: String,
    pub scenario: Option<Entry>,
    /// Names of policies with their places.
    pub policies: Vec<Entry>,
    pub seeds: Seeds,
    pub method: Method,
    /// Combinations that are drawn.
    pub samples: u64,
    pub draw_seed: u64,
    pub skip_invalid: bool,
    pub sets: Vec<Entry>,
    pub axes: Vec<WrittenAxis>,
    pub points: Vec<Vec<Entry>>,
}

impl SweepFile {
    pub fn open(path: &Path) -> Result<SweepFile, BadInput> {
        let shown = printable(&path.display().to_string(), 300);
        let allowed = "allowed: a sweep file (TOML); docs/sweeps.md shows one";
        let refuse = |why: &str| BadInput::plain(format!("`{shown}` cannot be read: {why}"), allowed);
        let mut bytes = Vec::new();
        let file = files::open_named(path).map_err(|error| refuse(&error.to_string()))?;
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refuse(&error.to_string()))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refuse(&format!("it is larger than {MOST_BYTES} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| refuse("it is not UTF-8 text"))?;
        SweepFile::parse(text, &path.display().to_string())
    }

    pub fn parse(text: String, origin: &str) -> Result<SweepFile, BadInput> {
        let origin = printable(origin, 1000);
        let document = DeTable::parse(&text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let problem = format!("this is not TOML: {}", printable(error.message(), 300));
            let allowed = "allowed: TOML: [table] headers and key = value lines, text in quotes";
            BadInput::at(&origin, &text, span, "", problem, allowed)
        })?;
        let reader = Reader { origin: &origin, text: &text, root: document.get_ref() };
        reader.check_names()?;
        let points = reader.points()?;
        let axes = reader.axes()?;
        let sets = reader.entries("set")?;
        reader.check_keys(&sets, &axes, &points)?;
        let method = reader.method(&axes, &points)?;
        let samples = reader.number("samples", 1, 1_000_000)?;
        let is_drawn = matches!(method, Method::Random | Method::Lhs);
        reader.check_samples(samples, is_drawn)?;
        let (policies, seeds) = (reader.policies()?, reader.seeds()?);
        let scenario = reader.scenario()?;
        let draw_seed = reader.number("draw_seed", 0, u64::MAX)?.unwrap_or(1);
        let skip_invalid = reader.flag("skip_invalid")?;
        let samples = samples.unwrap_or(0);
        Ok(SweepFile {
            scenario,
            policies,
            seeds,
            method,
            samples,
            draw_seed,
            skip_invalid,
            sets,
            axes,
            points,
            origin,
            text,
        })
    }

    /// A message at a place of this file.
    pub fn fault(&self, span: Range<usize>, key: &str, problem: &str, allowed: &str) -> BadInput {
        BadInput::at(&self.origin, &self.text, span, key, problem, &format!("allowed: {allowed}"))
    }
}

type Node<'i> = Spanned<DeValue<'i>>;

struct Reader<'a, 'i> {
    origin: &'a str,
    text: &'a str,
    root: &'a DeTable<'i>,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn get(&self, name: &str) -> Option<&'a Node<'i>> {
        self.root.get(name)
    }

    fn at(&self, span: Range<usize>, key: &str, problem: &str, allowed: &str) -> BadInput {
        let allowed = format!("allowed: {allowed}");
        BadInput::at(self.origin, self.text, span, key, problem, &allowed)
    }

    /// A value that cannot be used.
    fn bad(&self, key: &str, node: &Node<'_>, problem: &str, allowed: &str) -> BadInput {
        let problem = format!("`{}` = {}: {problem}", printable(key, 120), shown(self.text, node));
        self.at(node.span(), key, &problem, allowed)
    }

    fn check_names(&self) -> Result<(), BadInput> {
        for key in self.root.keys() {
            let name: &str = key.get_ref();
            if !KEYS.contains(&name) && name != POINT {
                let near = nearest(name, KEYS).map(|near| format!("did you mean `{near}`? "));
                let allowed = format!(
                    "{}allowed: {}, [[{POINT}]]; keys of the scenario stand under [set] or [axes]",
                    near.unwrap_or_default(),
                    KEYS.join(", ")
                );
                let problem = format!("`{}`: a sweep file has no such key", printable(name, 120));
                return Err(BadInput::at(self.origin, self.text, key.span(), name, problem, &allowed));
            }
        }
        Ok(())
    }

    fn scenario(&self) -> Result<Option<Entry>, BadInput> {
        let Some(node) = self.get("scenario") else { return Ok(None) };
        match node.get_ref() {
            DeValue::String(name) if !name.is_empty() => {
                let (key, value, span) = ("scenario".to_owned(), name.to_string(), node.span());
                Ok(Some(Entry { key, value, span }))
            }
            _ => Err(self.bad(
                "scenario",
                node,
                "is not a scenario",
                "the name of a built-in scenario, or a path from this file",
            )),
        }
    }

    fn list(&self, key: &str, node: &'a Node<'i>, allowed: &str) -> Result<&'a [Node<'i>], BadInput> {
        match node.get_ref() {
            DeValue::Array(items) if items.is_empty() => {
                Err(self.bad(key, node, "is an empty list", allowed))
            }
            DeValue::Array(items) => Ok(items),
            _ => Err(self.bad(key, node, &format!("is {}, not a list", kind(node)), allowed)),
        }
    }

    fn policies(&self) -> Result<Vec<Entry>, BadInput> {
        let Some(node) = self.get("policies") else { return Ok(Vec::new()) };
        let allowed = "a list of names such as [\"local\", \"ideal\"], each once; see `harmonia policies`";
        let mut policies: Vec<Entry> = Vec::new();
        for item in self.list("policies", node, allowed)? {
            let DeValue::String(name) = item.get_ref() else {
                return Err(self.bad("policies", item, &format!("is {}, not a name", kind(item)), allowed));
            };
            if policies.iter().any(|known| known.value == **name) {
                return Err(self.bad("policies", item, "is named twice", allowed));
            }
            let key = "array.coordination.policy".to_owned();
            policies.push(Entry { key, value: name.to_string(), span: item.span() });
        }
        Ok(policies)
    }

    fn seeds(&self) -> Result<Seeds, BadInput> {
        let allowed = format!("1 to {MOST_SEEDS}, or a list of different seeds such as [1, 7, 42]");
        let Some(node) = self.get("seeds") else { return Ok(Seeds::Count(1)) };
        if let DeValue::Array(_) = node.get_ref() {
            let mut seeds = Vec::new();
            for item in self.list("seeds", node, &allowed)? {
                match whole(item) {
                    Some(seed) if !seeds.contains(&seed) => seeds.push(seed),
                    Some(_) => return Err(self.bad("seeds", item, "is named twice", &allowed)),
                    None => return Err(self.bad("seeds", item, "is not a seed", &allowed)),
                }
            }
            return Ok(Seeds::Listed(seeds));
        }
        match whole(node) {
            Some(count @ 1..=MOST_SEEDS) => Ok(Seeds::Count(count)),
            _ => Err(self.bad("seeds", node, "is not a number of seeds", &allowed)),
        }
    }

    fn method(&self, axes: &[WrittenAxis], points: &[Vec<Entry>]) -> Result<Method, BadInput> {
        let (has_points, has_axes) = (!points.is_empty(), !axes.is_empty());
        let names = METHODS.map(|(name, _)| name).join(", ");
        let Some(node) = self.get("method") else {
            if has_points && has_axes {
                let problem = "`axes`: combinations are listed as [[point]] already";
                return Err(self.at(self.axes_span(), "axes", problem, "either [axes] or [[point]]"));
            }
            return Ok(if has_points { Method::List } else { Method::Grid });
        };
        let known = match node.get_ref() {
            DeValue::String(name) => METHODS.iter().find(|(known, _)| known == name),
            _ => None,
        };
        let Some(&(_, method)) = known else {
            return Err(self.bad("method", node, "there is no such method", &names));
        };
        match (method, has_axes, has_points) {
            (Method::List, _, false) => {
                Err(self.bad("method", node, "there is no [[point]]", "a [[point]] for each combination"))
            }
            (Method::List, true, _) => {
                Err(self.bad("method", node, "does not go with [axes]", "[[point]] alone with \"list\""))
            }
            (Method::Grid | Method::Random | Method::Lhs, _, true) => {
                Err(self.bad("method", node, "does not go with [[point]]", "\"list\" with [[point]]"))
            }
            (Method::Random | Method::Lhs, false, _) => {
                Err(self.bad("method", node, "there are no [axes] to draw from", "[axes] with values"))
            }
            _ => Ok(method),
        }
    }

    fn axes_span(&self) -> Range<usize> {
        self.root.iter().find(|(key, _)| key.get_ref() == "axes").map_or(0..0, |(key, _)| key.span())
    }

    fn check_samples(&self, samples: Option<u64>, is_drawn: bool) -> Result<(), BadInput> {
        match (samples, is_drawn, self.get("samples"), self.get("method")) {
            (None, true, _, Some(method)) => {
                Err(self.bad("method", method, "`samples` is missing", "samples = N, how many are drawn"))
            }
            (Some(_), false, Some(node), _) => Err(self.bad(
                "samples",
                node,
                "nothing is drawn",
                "samples with method = \"random\" or \"lhs\"",
            )),
            _ => Ok(()),
        }
    }

    fn number(&self, key: &str, least: u64, most: u64) -> Result<Option<u64>, BadInput> {
        let Some(node) = self.get(key) else { return Ok(None) };
        match whole(node) {
            Some(number) if (least..=most).contains(&number) => Ok(Some(number)),
            _ => Err(self.bad(key, node, "is not such a number", &format!("{least} to {most}"))),
        }
    }

    fn flag(&self, key: &str) -> Result<bool, BadInput> {
        match self.get(key).map(|node| (node, node.get_ref())) {
            None => Ok(false),
            Some((_, DeValue::Boolean(flag))) => Ok(*flag),
            Some((node, _)) => Err(self.bad(key, node, "is not a flag", "true or false")),
        }
    }

    fn entries(&self, name: &str) -> Result<Vec<Entry>, BadInput> {
        match self.get(name).map(|node| (node, node.get_ref())) {
            None => Ok(Vec::new()),
            Some((_, DeValue::Table(table))) => Ok(self.entries_of(table)),
            Some((node, _)) => Err(self.bad(
                name,
                node,
                "is not a table",
                "keys of the scenario with values, such as array.devices = 4",
            )),
        }
    }

    fn entries_of(&self, table: &DeTable<'_>) -> Vec<Entry> {
        let entry = |(key, node): (String, &Node<'_>)| Entry {
            key,
            value: inline(self.text, node),
            span: node.span(),
        };
        leaves(self.text, table, "").into_iter().map(entry).collect()
    }

    fn points(&self) -> Result<Vec<Vec<Entry>>, BadInput> {
        let Some(node) = self.get(POINT) else { return Ok(Vec::new()) };
        let allowed = "a [[point]] for each combination, with keys of the scenario";
        let mut points = Vec::new();
        for item in self.list(POINT, node, allowed)? {
            let DeValue::Table(table) = item.get_ref() else {
                return Err(self.bad(POINT, item, "is not a table", allowed));
            };
            points.push(self.entries_of(table));
        }
        Ok(points)
    }

    fn axes(&self) -> Result<Vec<WrittenAxis>, BadInput> {
        let allowed = "a list of values such as [2, 4], or a range such as \"1..8\", \"1..8:2\", \"0.3..0.7\", \"3%..10%\"";
        let table = match self.get("axes").map(|node| (node, node.get_ref())) {
            None => return Ok(Vec::new()),
            Some((_, DeValue::Table(table))) => table,
            Some((node, _)) => return Err(self.bad("axes", node, "is not a table", allowed)),
        };
        let axis = |(key, node): (String, &'a Node<'i>)| {
            let (values, spans) = match node.get_ref() {
                DeValue::String(range) if range.contains("..") => {
                    let axis = space::Axis::of(&key, range.trim());
                    let axis = axis.map_err(|why| self.bad(&key, node, &why, allowed))?;
                    (axis.all().collect(), Vec::new())
                }
                _ => {
                    let items = self.list(&key, node, allowed)?;
                    (self.values(&key, items, allowed)?, items.iter().map(Spanned::span).collect())
                }
            };
            Ok(WrittenAxis { key, values, spans, span: node.span() })
        };
        leaves(self.text, table, "").into_iter().map(axis).collect()
    }

    fn values(&self, key: &str, items: &[Node<'_>], allowed: &str) -> Result<Vec<String>, BadInput> {
        let mut values = Vec::new();
        for item in items {
            let value = inline(self.text, item);
            if values.contains(&value) {
                return Err(self.bad(key, item, "this value is given twice", allowed));
            }
            values.push(value);
        }
        Ok(values)
    }

    /// Seeds have a key of their own, and no key may be said twice.
    fn check_keys(
        &self,
        sets: &[Entry],
        axes: &[WrittenAxis],
        points: &[Vec<Entry>],
    ) -> Result<(), BadInput> {
        let axes = || axes.iter().map(|axis| (&axis.key, &axis.span));
        let listed = || points.iter().flatten().map(|entry| (&entry.key, &entry.span));
        let swept = || axes().chain(listed());
        let all = || sets.iter().map(|entry| (&entry.key, &entry.span)).chain(swept());
        for (key, span) in all() {
            let fault = |problem: &str, allowed: &str| {
                let problem = format!("`{}`: {problem}", printable(key, 120));
                Err(self.at(span.clone(), key, &problem, allowed))
            };
            if !is_key(key) {
                return fault("is not a key", "a key from the scenario's root, such as array.devices");
            }
            if key == "seed" {
                return fault("seeds are paired, not swept", "seeds = N or a list of seeds, above [set]");
            }
            if key == "array.coordination.policy" && self.get("policies").is_some() {
                return fault("policies are listed already", "either policies = [..] or this key");
            }
        }
        let twice = sets.iter().find(|entry| swept().any(|(key, _)| *key == entry.key));
        match twice {
            Some(entry) => {
                let problem = format!("`{}`: is fixed here and swept as well", entry.key);
                Err(self.at(entry.span.clone(), &entry.key, &problem, "each key in one place"))
            }
            None => Ok(()),
        }
    }
}

fn is_key(key: &str) -> bool {
    let is_name = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
    };
    key.split('.').count() <= 12 && key.split('.').all(is_name)
}

fn whole(node: &Node<'_>) -> Option<u64> {
    match node.get_ref() {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

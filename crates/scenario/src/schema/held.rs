//! Keys with a place in a configuration: one loop reads all of a table, another shows all of it again.

use super::{Declared, Key, KeyInfo};
use crate::error::Parsed;
use crate::read::{Field, Section};
use crate::shown::Shown;

/// What tables are laid over.
pub(crate) trait Draft {
    type Config;

    fn config(&mut self) -> &mut Self::Config;

    /// Remembers where a value comes from.
    fn note(&mut self, _: &Field<'_>) {}
}

/// A key with its place.
pub(crate) trait Held<D: Draft>: Declared + Send {
    /// Lays its value in this table over a draft.
    fn lay(&self, draft: &mut D, table: &Section<'_>, field: &Field<'_>) -> Parsed<()>;

    /// Refuses a table without it, where it has to be written.
    fn absent(&self, _: &D::Config, _: &Section<'_>) -> Parsed<()> {
        Ok(())
    }

    /// What a configuration has of it, as a scenario file says it; `None` if it goes without saying.
    fn show(&self, config: &D::Config) -> Option<Shown>;
}

pub(super) struct Place<T: 'static, D: Draft> {
    pub key: Key<T>,
    /// Refuses the key, whatever its value, where nothing would come of it.
    pub needs: fn(&D::Config, &Section<'_>, &Field<'_>) -> Parsed<()>,
    pub lay: fn(&mut D, T, &Section<'_>, &Field<'_>) -> Parsed<()>,
    pub show: fn(&Key<T>, &D::Config) -> Option<Shown>,
}

impl<T, D: Draft> Declared for Place<T, D> {
    fn path(&self) -> &'static str {
        self.key.path
    }

    fn info(&self) -> KeyInfo {
        self.key.info()
    }
}

impl<T, D: Draft> Held<D> for Place<T, D> {
    fn lay(&self, draft: &mut D, table: &Section<'_>, field: &Field<'_>) -> Parsed<()> {
        (self.needs)(draft.config(), table, field)?;
        (self.lay)(draft, self.key.read(field)?, table, field)
    }

    fn show(&self, config: &D::Config) -> Option<Shown> {
        (self.show)(&self.key, config)
    }
}

/// A key that is read and shown elsewhere, because its value follows from more than this key.
struct Elsewhere(&'static dyn Declared);

impl Declared for Elsewhere {
    fn path(&self) -> &'static str {
        self.0.path()
    }

    fn info(&self) -> KeyInfo {
        self.0.info()
    }
}

impl<D: Draft> Held<D> for Elsewhere {
    fn lay(&self, _: &mut D, _: &Section<'_>, _: &Field<'_>) -> Parsed<()> {
        Ok(())
    }

    fn show(&self, _: &D::Config) -> Option<Shown> {
        None
    }
}

/// A key, and keys with places that are documented behind it.
type Group<D> = (&'static dyn Declared, Vec<Box<dyn Held<D>>>);

/// Keys that are read elsewhere, and behind each of the named ones a group of keys with places.
pub(super) fn documented<D: Draft + 'static>(
    elsewhere: &[&'static dyn Declared],
    groups: Vec<Group<D>>,
) -> Vec<Box<dyn Held<D>>> {
    let mut keys: Vec<Box<dyn Held<D>>> = Vec::new();
    let mut groups = groups.into_iter().peekable();
    for &key in elsewhere {
        keys.push(Box::new(Elsewhere(key)));
        if let Some((_, group)) = groups.next_if(|(after, _)| after.path() == key.path()) {
            keys.extend(group);
        }
    }
    assert!(groups.next().is_none(), "groups stand in the order of the keys that they follow");
    keys
}

/// The keys of one or more tables, in the order in which they are documented.
pub(crate) type Keys<D> = [Box<dyn Held<D>>];

/// The keys of the table that is described at `schema`, each with its name there.
fn of_table<'k, D: Draft>(
    keys: &'k Keys<D>,
    schema: &str,
) -> impl Iterator<Item = (&'static str, &'k dyn Held<D>)> {
    keys.iter().filter_map(move |held| {
        let name = held.path().strip_prefix(schema)?.strip_prefix('.')?;
        (!name.contains('.')).then_some((name, &**held))
    })
}

/// Lays the keys of one table over a draft. What does not belong is told before what is missing.
pub(crate) fn lay<D: Draft>(keys: &Keys<D>, draft: &mut D, table: &Section<'_>) -> Parsed<()> {
    for (name, held) in of_table(keys, table.schema) {
        if let Some(field) = table.named(name) {
            held.lay(draft, table, &field)?;
        }
    }
    for (name, held) in of_table(keys, table.schema) {
        if table.named(name).is_none() {
            held.absent(draft.config(), table)?;
        }
    }
    Ok(())
}

/// Puts what a configuration has of the keys of the table described at `schema` at the end of that table.
pub(crate) fn put<D: Draft>(keys: &Keys<D>, config: &D::Config, schema: &str, table: &mut Shown) {
    of_table(keys, schema).for_each(|(name, held)| table.put(name, held.show(config)));
}

/// What a configuration has of these keys: those of a table before the tables in it, as TOML has them.
pub(crate) fn show<D: Draft>(keys: &Keys<D>, config: &D::Config) -> Shown {
    let mut shown = Shown::table();
    let mut keys: Vec<_> = keys.iter().collect();
    keys.sort_by_key(|key| key.path().matches('.').count());
    for key in keys {
        let Some(value) = key.show(config) else { continue };
        let (tables, name) = key.path().rsplit_once('.').unwrap_or_default();
        let table = tables.split('.').skip(1).fold(&mut shown, |table, name| table.below(name));
        table.put(name, Some(value));
    }
    shown
}

/// A key with a function that lays its value over a draft, and one that shows it again. `Drafted` is the kind of draft. A key `of`
/// a kind of load is refused beside another one.
macro_rules! by {
    ($path:literal $(of $owner:literal)?, $kind:expr, $lay:expr, $show:expr, $default:expr, $meaning:expr) => {
        by!($path $(of $owner)?, needs | _, _, _ | Ok(()), $kind, $lay, $show, $default, $meaning)
    };
    ($path:literal $(of $owner:literal)?, needs $needs:expr, $kind:expr, $lay:expr, $show:expr, $default:expr, $meaning:expr) => {{
        let owner = concat!($($owner)?);
        let key = Key { path: $path, kind: $kind, owner, default: $default, meaning: $meaning };
        Box::new(Place::<_, Drafted> { key, needs: $needs, lay: $lay, show: $show }) as Box<dyn Held<Drafted>>
    }};
}

/// A key at a place of the configuration, which is shown always or `if` a function says so. What it `needs` of the rest is checked
/// before its value is looked at.
macro_rules! at {
    ($path:literal, $($place:ident).+ $(if $is_said:path)?, needs $needs:path, $kind:expr, $default:expr, $meaning:expr) => {
        at!($path, ($($place).+) ($(if $is_said)?) ($needs), $kind, $default, $meaning)
    };
    ($path:literal, $($place:ident).+ $(if $is_said:path)?, $kind:expr, $default:expr, $meaning:expr) => {
        at!($path, ($($place).+) ($(if $is_said)?) (|_, _, _| Ok(())), $kind, $default, $meaning)
    };
    ($path:literal, ($($place:ident).+) ($(if $is_said:path)?) ($needs:expr), $kind:expr, $default:expr, $meaning:expr) => {
        by!(
            $path,
            needs $needs,
            $kind,
            |draft, value, _, field| {
                draft.config().$($place).+ = value;
                draft.note(field);
                Ok(())
            },
            |key, config| if true $(&& $is_said(config))? { key.show(&config.$($place).+) } else { None },
            $default,
            $meaning
        )
    };
}

pub(super) use {at, by};

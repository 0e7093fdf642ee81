//! Declustered levels as they are written: `draid1:4d:1s`, after OpenZFS.
//!
//! ```text
//! draid<parities>[:<data>d][:<children>c][:<spares>s]
//! ```
//!
//! Without `d` a group has eight data units, or as many as there is room for; without `s` there is no spare. `c` may
//! repeat what `array.devices` says.

use harmonia_array::Level;
use harmonia_array::layout::{Groups, MOST_CHILDREN, MOST_SPARES};

use crate::error::Parsed;
use crate::read::Field;

/// Data units of a group where none are written, as in OpenZFS.
const USUAL_DATA: u16 = 8;
/// What a level may be.
const GRAMMAR: &str =
    "draid1 or draid2, then the data units of a group and the distributed spares, such as \"draid1:4d:1s\"";

/// What a declustered level says; what is not written is `None`.
pub(crate) struct Parts {
    parities: u16,
    data: Option<u16>,
    children: Option<u16>,
    spares: Option<u16>,
}

/// The parts of a declustered level.
pub(crate) fn parts(field: &Field<'_>) -> Parsed<Parts> {
    let text = field.node.value.text().unwrap_or_default();
    let mut parts = text.strip_prefix("draid").unwrap_or(text).split(':');
    let parities = match parts.next().unwrap_or_default() {
        "" | "1" => 1,
        "2" => 2,
        "3" => return Err(field.fault_allowing("three parities are not built", GRAMMAR)),
        _ => return Err(field.fault_allowing("is no declustered level", GRAMMAR)),
    };
    let (mut data, mut children, mut spares) = (None, None, None);
    for part in parts {
        // The last character may be longer than a byte: then there is no number before it.
        let number = part.get(..part.len().saturating_sub(1)).and_then(number);
        let place = match part.chars().last() {
            Some('d') => &mut data,
            Some('c') => &mut children,
            Some('s') => &mut spares,
            _ => &mut None,
        };
        match (number, &place, part.chars().last()) {
            (Some(number), None, Some('d' | 'c' | 's')) => *place = Some(number),
            (Some(_), Some(_), Some(unit)) => {
                return Err(field.fault_allowing(format!("says `{unit}` twice"), GRAMMAR));
            }
            _ => return Err(field.fault_allowing(format!("has `{part}`, which says nothing"), GRAMMAR)),
        }
    }
    Ok(Parts { parities, data, children, spares })
}

/// The level of these parts, for so many members.
pub(crate) fn level(field: &Field<'_>, parts: Parts, devices: u16) -> Parsed<Level> {
    let Parts { parities, data, children, spares } = parts;
    if let Some(children) = children.filter(|&children| children != devices) {
        let problem = format!("says {children} members, and array.devices says {devices}");
        return Err(field.fault_allowing(problem, format!("no `c` in it, or {devices}c")));
    }
    let spares = spares.unwrap_or(0);
    let room = devices.saturating_sub(spares).saturating_sub(parities);
    let shape = Groups { parities, data: data.unwrap_or(USUAL_DATA.min(room).max(1)), spares };
    checked(field, shape, devices)
}

/// A whole number without signs or leading zeros.
fn number(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

/// A level whose groups and spares are all members.
fn checked(field: &Field<'_>, shape: Groups, devices: u16) -> Parsed<Level> {
    let level = Level::Draid(shape);
    if shape.data == 0 {
        return Err(field.fault_allowing("has groups without data", GRAMMAR));
    }
    if shape.spares > MOST_SPARES {
        let problem = format!("keeps the space of {} members for rebuilding", shape.spares);
        return Err(field.fault_allowing(problem, format!("at most {MOST_SPARES} spares")));
    }
    if devices > MOST_CHILDREN {
        let problem = format!("has at most {MOST_CHILDREN} members, and there are {devices}");
        return Err(field.fault_allowing(problem, format!("array.devices up to {MOST_CHILDREN}")));
    }
    let (width, spares) = (u32::from(shape.data) + u32::from(shape.parities), u32::from(shape.spares));
    if width + spares <= u32::from(devices) && shape.fits(devices) {
        return Ok(level);
    }
    let fitting = |groups: u32| groups * width + spares;
    let below = (u32::from(devices).saturating_sub(spares) / width).max(1);
    let fit = [fitting(below), fitting(below + 1)].into_iter().filter(|&fit| fit <= u32::from(MOST_CHILDREN));
    let fit: Vec<String> = fit.map(|fit| fit.to_string()).collect();
    let problem = format!(
        "needs as many members as whole groups of {width} and {spares} for spares make, and there are {devices}"
    );
    let members =
        if fit.is_empty() { "smaller groups".to_owned() } else { format!("{} devices", fit.join(" or ")) };
    Err(field.fault_allowing(problem, format!("{members}, or other data units or spares")))
}

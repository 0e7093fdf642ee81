//! What the codes in a table's column of operations mean, as the person who has it says: `r=1,2,5/w=3,4,6`.
//!
//! A letter (`r` read, `w` write, `t` trim, `f` flush), `=`, and the codes that mean it, separated by commas; groups are
//! separated by `/`. A code is a number or a word. Case does not count, and a number is compared as one: `2a` is a
//! word, `0x2a` is 42. Where codes are named, nothing else is an operation.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use harmonia_types::Operation;
use serde::{Serialize, Serializer};

use crate::read::fields::number_or_hex;

/// More codes are not those of operations.
const MOST: usize = 64;
/// Nor are longer ones.
const LONGEST: usize = 16;
/// Every operation's letter.
const LETTERS: [(&str, Operation); 4] =
    [("r", Operation::Read), ("w", Operation::Write), ("t", Operation::Trim), ("f", Operation::Flush)];
const FORM: &str = "expected r=1,2,5/w=3,4,6 with a group for each of r, w, t and f that has codes";

/// One code: its text, in lower case, its value if it is a number, and what it means.
#[derive(PartialEq, Eq)]
struct Code {
    text: String,
    number: Option<u64>,
    operation: Operation,
}

impl Code {
    fn of(text: &str, operation: Operation) -> Result<Self, String> {
        let fits = (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if !fits {
            let text = text.escape_debug();
            return Err(format!(
                "has the code `{text}`: a code has 1 to {LONGEST} characters and no blank; {FORM}"
            ));
        }
        let number = number_or_hex(text.as_bytes());
        Ok(Code { text: text.to_ascii_lowercase(), number, operation })
    }

    fn is(&self, word: &[u8]) -> bool {
        self.text.as_bytes().eq_ignore_ascii_case(word)
            || (self.number.is_some() && self.number == number_or_hex(word))
    }
}

/// What the codes of a column mean.
#[derive(Clone, PartialEq, Eq)]
pub struct OperationCodes {
    codes: Arc<[Code]>,
}

impl OperationCodes {
    /// What `word` means, if it is one of the codes.
    #[inline]
    pub(crate) fn meaning(&self, word: &[u8]) -> Option<Operation> {
        self.codes.iter().find(|code| code.is(word)).map(|code| code.operation)
    }
}

impl FromStr for OperationCodes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut codes: Vec<Code> = Vec::new();
        for group in text.split('/') {
            let (letter, list) = group
                .split_once('=')
                .ok_or_else(|| format!("has the group `{}`: {FORM}", group.escape_debug()))?;
            let known = LETTERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(letter.trim()));
            let (_, operation) = known
                .ok_or_else(|| format!("names the operation `{}`: {FORM}", letter.trim().escape_debug()))?;
            for code in list.split(',').map(str::trim) {
                if codes.iter().any(|known| known.is(code.as_bytes())) {
                    return Err(format!(
                        "names the code `{}` twice: it means one operation",
                        code.escape_debug()
                    ));
                }
                codes.push(Code::of(code, *operation)?);
            }
        }
        if codes.len() > MOST {
            return Err(format!("names {} codes: at most {MOST} are possible", codes.len()));
        }
        // Shown in this order, and equal to what is read from what is shown.
        codes.sort_by_key(|code| LETTERS.iter().position(|(_, operation)| *operation == code.operation));
        Ok(OperationCodes { codes: codes.into() })
    }
}

impl fmt::Display for OperationCodes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = |(letter, operation): &(&str, Operation)| {
            let codes = self.codes.iter().filter(|code| code.operation == *operation);
            let codes: Vec<&str> = codes.map(|code| code.text.as_str()).collect();
            (!codes.is_empty()).then(|| format!("{letter}={}", codes.join(",")))
        };
        out.write_str(&LETTERS.iter().filter_map(group).collect::<Vec<_>>().join("/"))
    }
}

impl fmt::Debug for OperationCodes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "OperationCodes({self})")
    }
}

impl Serialize for OperationCodes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_mean_what_they_were_said_to_mean_and_are_shown_so() {
        let codes: OperationCodes = " w = 3,4, 6/r=1,0x2,Get/t=9".parse().unwrap();
        assert_eq!(codes.to_string(), "r=1,0x2,get/w=3,4,6/t=9");
        assert_eq!(codes.to_string().parse(), Ok(codes.clone()));
        let meaning = |word: &str| codes.meaning(word.as_bytes());
        assert_eq!(["1", "02", "GET"].map(meaning), [Some(Operation::Read); 3]);
        assert_eq!((meaning("0x6"), meaning("9")), (Some(Operation::Write), Some(Operation::Trim)));
        assert_eq!(["", "5", "R", "read", "ge"].map(meaning), [None; 5]);
    }

    #[test]
    fn what_is_no_mapping_is_refused() {
        let table: &[(&str, &str)] = &[
            ("", "has the group ``: expected r=1,2,5/w=3,4,6"),
            ("r", "has the group `r`"),
            ("r=", "has the code ``: a code has 1 to 16 characters"),
            ("r=1,/w=2", "has the code ``"),
            ("r=12345678901234567", "has the code `12345678901234567`"),
            ("x=1", "names the operation `x`: expected r=1,2,5"),
            ("r=1/w=01", "names the code `01` twice"),
            ("r=1/w=2/r=1", "names the code `1` twice"),
        ];
        for (text, expected) in table {
            let error = text.parse::<OperationCodes>().unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        let many = "r=".to_owned() + &(0..65).map(|code| code.to_string()).collect::<Vec<_>>().join(",");
        assert!(many.parse::<OperationCodes>().unwrap_err().contains("65 codes"));
    }
}

//! Symbolic contents: sums of symbols with factors, of which two parities can be made that do not follow from one another.
//!
//! Factors are whole numbers modulo a prime. P is the sum of units, Q the sum of each times its number. As in the field that arrays
//! use, no two units have factors that are multiples of one another, and nothing else of that field matters here.

const PRIME: u32 = 251;

/// What a place holds: symbols and their factors, by symbol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum(Vec<(u32, u32)>);

impl Sum {
    pub fn of(symbol: u32) -> Sum {
        Sum(vec![(symbol, 1)])
    }

    /// The sum with another one, so many times.
    pub fn plus(mut self, times: u32, other: &Sum) -> Sum {
        for &(symbol, factor) in &other.0 {
            match self.place(symbol) {
                Ok(at) => {
                    self.0[at].1 = (self.0[at].1 + times * factor) % PRIME;
                    if self.0[at].1 == 0 {
                        self.0.remove(at);
                    }
                }
                Err(at) if !(times * factor).is_multiple_of(PRIME) => {
                    self.0.insert(at, (symbol, times * factor % PRIME))
                }
                Err(_) => {}
            }
        }
        self
    }

    pub fn minus(self, other: &Sum) -> Sum {
        self.plus(PRIME - 1, other)
    }

    /// The sum with what a parity has of a unit: P is parity 0, Q parity 1.
    pub fn with_unit(self, parity: u16, unit: u16, content: &Sum) -> Sum {
        let times = if parity == 0 { 1 } else { u32::from(unit) + 1 };
        self.plus(times, content)
    }

    fn factor(&self, symbol: u32) -> u32 {
        self.place(symbol).map_or(0, |at| self.0[at].1)
    }

    fn place(&self, symbol: u32) -> Result<usize, usize> {
        self.0.binary_search_by_key(&symbol, |&(symbol, _)| symbol)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Sums of what is known, each with a symbol that no other one has.
#[derive(Default)]
pub struct Span(Vec<(u32, Sum)>);

impl Span {
    fn rest(&self, sum: &Sum) -> Sum {
        self.0.iter().fold(sum.clone(), |rest, (own, known)| match rest.factor(*own) {
            0 => rest,
            factor => rest.plus(PRIME - factor, known),
        })
    }

    pub fn add(&mut self, sum: &Sum) {
        let rest = self.rest(sum);
        let Some(&(own, factor)) = rest.0.first() else { return };
        let inverse = (1..PRIME).find(|inverse| inverse * factor % PRIME == 1).expect("it is a prime");
        let rest = Sum::default().plus(inverse, &rest);
        for (_, known) in &mut self.0 {
            let factor = known.factor(own);
            if factor > 0 {
                *known = std::mem::take(known).plus(PRIME - factor, &rest);
            }
        }
        self.0.push((own, rest));
    }

    pub fn says(&self, sum: &Sum) -> bool {
        self.rest(sum).is_empty()
    }
}

/// Whether a sum can be made of some of these.
pub fn says(known: &[Sum], sum: &Sum) -> bool {
    let mut span = Span::default();
    known.iter().for_each(|known| span.add(known));
    span.says(sum)
}

#[test]
fn two_parities_say_any_two_units_and_no_more() {
    let unit = |number: u16| Sum::of(u32::from(number));
    let parity =
        |parity| (0..6).fold(Sum::default(), |sum, number| sum.with_unit(parity, number, &unit(number)));
    for (one, other) in (0..6).flat_map(|one| (0..one).map(move |other| (one, other))) {
        let left = (0..6).filter(|&number| number != one && number != other).map(unit);
        let known: Vec<Sum> = left.chain([parity(0), parity(1)]).collect();
        assert!(says(&known, &unit(one)) && says(&known, &unit(other)));
        assert!(!says(&known[1..], &unit(one)) && !says(&known[..5], &unit(one)));
    }
}

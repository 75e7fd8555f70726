//! Numbers with their precision, and how they are written.

/// The meaning of a colour. Where there are no colours, words say the same.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Tone {
    /// None.
    #[default]
    Plain,
    /// Of less importance: a fitted figure, an unchanged row.
    Faint,
    /// Better, or near.
    Good,
    /// Changed, or not quite near.
    Middling,
    /// Worse, or far off.
    Bad,
}

/// The digits with which a number is written.
#[derive(Clone, Debug, PartialEq)]
enum Digits {
    /// Four or so, and three of what is small: 1234, 123.4, 12.34, 0.0213.
    Few,
    /// This many decimals.
    Decimals(usize),
    /// Decimals of a number in scientific notation: 1.23e4.
    Scientific(usize),
    /// As many as tell it from every other number.
    All,
    /// A whole number with groups of three digits.
    Grouped,
}

/// A number with its precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// Its value, in the unit of its column.
    pub value: f64,
    digits: Digits,
    signed: bool,
    before: &'static str,
    after: String,
    /// The meaning of its colour.
    pub tone: Tone,
}

const fn with(value: f64, digits: Digits) -> Number {
    Number {
        value,
        digits,
        signed: false,
        before: "",
        after: String::new(),
        tone: Tone::Plain,
    }
}

/// "2.8 to 16.5"; one of the two where both are written alike.
pub fn one_or_range(ends: [impl ToString; 2]) -> String {
    let [low, high] = ends.map(|end| end.to_string());
    if low == high {
        low
    } else {
        format!("{low} to {high}")
    }
}

/// A number with four digits or so.
pub const fn figure(value: f64) -> Number {
    with(value, Digits::Few)
}

/// A number with a given number of decimals.
pub const fn fixed(value: f64, decimals: usize) -> Number {
    with(value, Digits::Decimals(decimals))
}

/// A number as it is counted, without decimals where it has none.
pub const fn whole(value: f64) -> Number {
    with(value, Digits::All)
}

/// A number in scientific notation with a given number of decimals.
pub const fn scientific(value: f64, decimals: usize) -> Number {
    with(value, Digits::Scientific(decimals))
}

/// A share in percent, with its sign: 0.125 is "12.5 %".
pub fn percent(share: f64, decimals: usize) -> Number {
    fixed(100.0 * share, decimals).after(" %")
}

/// A whole number in groups of three digits.
pub const fn grouped(value: u64) -> Number {
    with(value as f64, Digits::Grouped)
}

/// A number of a unit: what is counted, such as instructions, has no decimals; times have four
/// digits or so.
pub fn quantity(value: f64, unit: &str) -> Number {
    if value.fract() == 0.0 && recording::units::nanoseconds(unit).is_none() {
        fixed(value, 0)
    } else {
        figure(value)
    }
}

/// The microseconds in the unit in which a time of some microseconds is read best, and that unit.
pub fn unit_of_us(us: f64) -> (f64, &'static str) {
    match us {
        long if long >= 2e6 => (1e6, "s"),
        middle if middle >= 1e4 => (1e3, "ms"),
        _ => (1.0, "us"),
    }
}

impl Number {
    /// With its sign, be it plus.
    pub fn signed(mut self) -> Self {
        self.signed = true;
        self
    }

    /// With something before it, such as `<`.
    pub fn before(mut self, words: &'static str) -> Self {
        self.before = words;
        self
    }

    /// With something behind it, such as ` %` or a mark.
    pub fn after(mut self, words: impl Into<String>) -> Self {
        self.after.push_str(&words.into());
        self
    }

    /// With a colour that means something.
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The number with what stands behind it, but not what stands before.
    fn digits(&self) -> String {
        let value = self.value;
        let decimals = match self.digits {
            Digits::Few => match value.abs() {
                large if large >= 1000.0 => 0,
                middle if middle >= 100.0 => 1,
                // At least three digits that count, down to a millionth.
                small if small < 1.0 && small != 0.0 => {
                    let zeros = (1..7)
                        .take_while(|zeros| small < 10_f64.powi(-zeros))
                        .count();
                    if zeros == 6 {
                        return with(value, Digits::Scientific(2)).digits();
                    } else {
                        3 + zeros
                    }
                }
                _ => 2,
            },
            Digits::Decimals(decimals) => decimals,
            Digits::Scientific(decimals) => return format!("{value:.decimals$e}"),
            Digits::All => {
                return if self.signed {
                    format!("{value:+}")
                } else {
                    value.to_string()
                };
            }
            Digits::Grouped => return in_groups(value),
        };
        if self.signed {
            format!("{value:+.decimals$}")
        } else {
            format!("{value:.decimals$}")
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{}{}", self.before, self.digits(), self.after)
    }
}

/// A whole number with a thin grouping of thousands, as in "306 151".
fn in_groups(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_they_are_given() {
        let texts = [
            figure(1234.5).to_string(),
            figure(123.45).to_string(),
            figure(1.0).to_string(),
            figure(0.0213).to_string(),
            figure(-0.5).to_string(),
            figure(0.0).to_string(),
            figure(3e-8).to_string(),
            fixed(2.0, 3).to_string(),
            fixed(5.25, 1).signed().after(" %").to_string(),
            fixed(0.5, 2).before("<").to_string(),
            whole(7.0).to_string(),
            percent(0.125, 1).to_string(),
            scientific(12345.0, 2).to_string(),
        ];
        assert_eq!(
            texts,
            [
                "1234", "123.5", "1.00", "0.0213", "-0.500", "0.00", "3.00e-8", "2.000", "+5.2 %",
                "<0.50", "7", "12.5 %", "1.23e4"
            ]
        );
    }

    #[test]
    fn what_is_counted_has_no_decimals() {
        let texts = [
            quantity(428.0, "instructions"),
            quantity(4.5, "clk"),
            quantity(12.0, "us"),
        ];
        assert_eq!(
            texts.map(|number| number.to_string()),
            ["428", "4.50", "12.00"]
        );
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(
            [7, 1000, 1_234_567].map(|value| grouped(value).to_string()),
            ["7", "1 000", "1 234 567"]
        );
    }
}

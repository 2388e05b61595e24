//! A JSON number as it was spelled: no digit is lost on the way through.

use std::borrow::Cow;
use std::fmt;

/// A number with the digits it had on the wire.
///
/// Two numbers are equal when they have the same value: `1`, `1.0` and `10e-1` are.
#[derive(Clone)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    /// A spelling that a scan has just checked.
    pub(super) fn scanned(spelling: &'a str) -> Self {
        Self(Cow::Borrowed(spelling))
    }

    /// The shortest spelling that reads back as `value`; JSON has none for what is not finite.
    pub fn from_f64(value: f64) -> Option<Number<'static>> {
        value.is_finite().then(|| Number(Cow::Owned(format!("{value:?}"))))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, if it is spelled without fraction and exponent and fits.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The value, if it is whole and not negative, however it is spelled. Above 2^53 only integers spelled as such are.
    pub fn as_whole(&self) -> Option<u64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let is_whole = |value: &f64| value.fract() == 0.0 && (0.0..=EXACT).contains(value);
        self.as_u64().or_else(|| self.as_f64().filter(is_whole).map(|value| value as u64))
    }

    /// The value, if it is spelled without fraction and exponent and fits.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The nearest value, if it is finite.
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    pub fn reborrow(&self) -> Number<'_> {
        Number(Cow::Borrowed(&self.0))
    }

    pub fn into_owned(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }
}

/// Appends the decimal digits of `value`, without the detour through a formatter.
pub(crate) fn push_whole(out: &mut String, value: u64) {
    // Most are places in short lists.
    if value < 10 {
        return out.push(char::from(b'0' + value as u8));
    }
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = value;
    loop {
        start -= 1;
        // A digit is below ten.
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    // The mask tells the compiler that a digit is ASCII.
    digits[start..].iter().for_each(|digit| out.push(char::from(*digit & 0x7f)));
}

/// A number taken apart: the digits without zeros at either end, times a power of ten.
#[derive(PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// None when the exponent is beyond all reason.
    fn parse(spelling: &str) -> Option<Self> {
        let magnitude = spelling.strip_prefix('-').unwrap_or(spelling);
        let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (magnitude, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        let digits = format!("{whole}{fraction}");
        let significant = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { is_negative: false, digits, exponent: 0 });
        }
        let is_negative = magnitude.len() < spelling.len();
        Some(Self { is_negative, digits, exponent: exponent.checked_add(zeros)? })
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        let value = || Decimal::parse(&self.0);
        self.0 == other.0 || value().is_some_and(|it| Decimal::parse(&other.0) == Some(it))
    }
}

impl Eq for Number<'_> {}

impl From<u64> for Number<'_> {
    fn from(value: u64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

impl From<i64> for Number<'_> {
    fn from(value: i64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(spelling: &str) -> Number<'_> {
        Number::scanned(spelling)
    }

    #[test]
    fn equal_values_are_equal_however_they_are_spelled() {
        for (one, two) in
            [("1", "1.0"), ("1", "10e-1"), ("0", "-0.00"), ("0.10", "1E-1"), ("1e2", "100")]
        {
            assert_eq!(number(one), number(two));
        }
        assert_eq!(number("1e99999999999999999999"), number("1e99999999999999999999"));
    }

    #[test]
    fn different_values_differ_even_beyond_the_precision_of_floats() {
        for (one, two) in [
            ("9007199254740992", "9007199254740993.0"),
            ("1", "-1"),
            ("1", "10"),
            ("0.1", "0.01"),
            ("1e99999999999999999999", "2e99999999999999999999"),
        ] {
            assert_ne!(number(one), number(two));
        }
    }

    #[test]
    fn integers_are_those_spelled_as_such() {
        assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
        assert_eq!(number("18446744073709551616").as_u64(), None);
        assert_eq!(number("-1").as_u64(), None);
        assert_eq!(number("-9223372036854775808").as_i64(), Some(i64::MIN));
        assert_eq!(number("1.0").as_i64(), None);
        assert_eq!(number("1e3").as_u64(), None);
    }

    #[test]
    fn whole_numbers_have_many_spellings() {
        let check = |text, expected| assert_eq!(number(text).as_whole(), expected, "{text}");
        check("18446744073709551615", Some(u64::MAX));
        check("1e+3", Some(1000));
        check("1024.0", Some(1024));
        check("-1", None);
        check("0.5", None);
        check("1e300", None);
    }

    #[test]
    fn whole_numbers_are_spelled_as_the_formatter_does() {
        for value in [0, 7, 10, 99, 100, 4_096, u64::from(u32::MAX), u64::MAX] {
            let mut out = "x".to_owned();
            push_whole(&mut out, value);
            assert_eq!(out, format!("x{value}"));
        }
    }

    #[test]
    fn floats_are_finite() {
        assert_eq!(number("1e3").as_f64(), Some(1000.0));
        assert_eq!(number("1e999").as_f64(), None);
        assert_eq!(Number::from_f64(f64::NAN), None);
        assert_eq!(Number::from_f64(f64::INFINITY), None);
    }

    #[test]
    fn floats_are_spelled_as_json() {
        for value in [0.0, -0.5, 0.7, 1.0, 1e21, 1e-9, f64::MAX, f64::MIN_POSITIVE] {
            let spelled = Number::from_f64(value).unwrap();
            assert_eq!(serde_json::from_str::<f64>(spelled.as_str()).unwrap(), value);
        }
    }
}

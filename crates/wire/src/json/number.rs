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

    /// The shortest spelling that reads back as `value`; JSON has none for infinities and for what is not a number.
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

/// A number taken apart: the digits without zeros at either end, to be multiplied by a power of ten.
#[derive(PartialEq, Eq)]
struct Decimal {
    sign: Sign,
    digits: String,
    exponent: i64,
}

#[derive(PartialEq, Eq)]
enum Sign {
    Positive,
    Negative,
}

impl Decimal {
    /// None when the exponent is beyond all reason.
    fn parse(spelling: &str) -> Option<Self> {
        let (sign, magnitude) = match spelling.strip_prefix('-') {
            Some(magnitude) => (Sign::Negative, magnitude),
            None => (Sign::Positive, spelling),
        };
        let (mantissa, exponent) = match magnitude.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (magnitude, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?;
        Self::normal(sign, &format!("{whole}{fraction}"), exponent)
    }

    fn normal(sign: Sign, digits: &str, exponent: i64) -> Option<Self> {
        let significant = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
        let digits = significant.trim_start_matches('0').to_owned();
        if digits.is_empty() {
            return Some(Self { sign: Sign::Positive, digits, exponent: 0 });
        }
        Some(Self { sign, digits, exponent: exponent.checked_add(zeros)? })
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        if self.0 == other.0 {
            return true;
        }
        match (Decimal::parse(&self.0), Decimal::parse(&other.0)) {
            (Some(one), Some(two)) => one == two,
            _ => false,
        }
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

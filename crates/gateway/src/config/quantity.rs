//! Durations such as `"5s"` and sizes such as `"20MB"`, as people write them.

use std::time::Duration;

/// The longest duration that is taken: beyond it a limit is a slip of the pen.
const DURATION_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);

pub(super) const DURATION_FORM: &str = "a duration such as \"5s\", \"200ms\", \"2m\" or \"1h\"";
pub(super) const SIZE_FORM: &str = "a size such as \"20MB\", \"64KiB\" or a number of bytes";

/// Reads a whole or decimal number with its unit, such as `7d` or `1.5h`.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let (number, unit) = split(text)?;
    let milliseconds = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    let duration = Duration::try_from_secs_f64(number * milliseconds / 1_000.0).ok()?;
    (duration <= DURATION_MAX).then_some(duration)
}

/// Reads a size: `KB` is a thousand bytes and `KiB` 1,024 of them.
pub(super) fn parse_size(text: &str) -> Option<usize> {
    let (number, unit) = split(text)?;
    let bytes = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "kib" => 1024.0,
        "mib" => 1024.0 * 1024.0,
        "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let size = number * bytes;
    (size <= SIZE_MAX).then_some(size as usize)
}

/// The largest size that is taken, a tebibyte; every whole number up to it is exact.
const SIZE_MAX: f64 = 1024.0 * 1024.0 * 1024.0 * 1024.0;

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.' && it != '_');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    if !number.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    Some((number.replace('_', "").parse().ok()?, unit.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        let cases = [
            ("5s", Some(5_000)),
            ("200ms", Some(200)),
            ("2m", Some(120_000)),
            ("2min", Some(120_000)),
            ("1h", Some(3_600_000)),
            ("1d", Some(86_400_000)),
            ("1.5s", Some(1_500)),
            ("0s", Some(0)),
            (" 5 s ", Some(5_000)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_duration(text), expected.map(Duration::from_millis), "{text}");
        }
        for text in ["", "5", "s", "-5s", "5 parsecs", "1e99h", "99999999h", "5s5", ".5s", "1.2.3s"]
        {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_know_both_kinds_of_kilo() {
        let cases = [
            ("20MB", Some(20_000_000)),
            ("64KiB", Some(65_536)),
            ("64kib", Some(65_536)),
            ("1.5 MiB", Some(1_572_864)),
            ("1_000", Some(1_000)),
            ("12b", Some(12)),
            ("2GB", Some(2_000_000_000)),
            ("", None),
            ("MB", None),
            ("-1MB", None),
            ("5MBit", None),
            ("9999999GB", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_size(text), expected, "{text}");
        }
    }
}

//! Where something stands in a session file, and when it was written there.

use super::line::Members;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Counted from 1.
    pub(super) line: usize,
    /// In milliseconds since 1970, if the file says it.
    pub(super) time: Option<i64>,
}

impl Place {
    /// The place of an object with these members.
    pub(super) fn of(line: usize, members: &Members<'_>) -> Self {
        let time = members.text("timestamp").and_then(|text| milliseconds(&text));
        // No conversation is older than the clocks that date it.
        Self { line, time: time.filter(|time| *time >= 0) }
    }

    /// A place of which nothing but the line is known.
    pub(super) fn line(line: usize) -> Self {
        Self { line, time: None }
    }
}

/// A moment such as `2026-11-17T12:17:40.250Z` or `2026-11-17T14:17:40+02:00`, in milliseconds since 1970.
fn milliseconds(text: &str) -> Option<i64> {
    let (date, rest) = text.split_once(['T', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let zone = rest.find(['Z', '+', '-'])?;
    let (clock, zone) = rest.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(clock, ':')?;
    let is_moment = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24;
    if !is_moment || minute > 59 || second > 60 || !fraction.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let thousandths: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some((seconds - offset(zone)?) * 1_000 + thousandths)
}

/// How many seconds a zone is before UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'Z' => return (zone == "Z").then_some(0),
        b'-' => -1,
        _ => 1,
    };
    let [hours, minutes] = numbers(zone.get(1..)?, ':')?;
    Some(sign * (hours * 3_600 + minutes * 60))
}

/// Numbers of at most four digits, one between each two marks.
fn numbers<const N: usize>(text: &str, mark: char) -> Option<[i64; N]> {
    let is_number =
        |text: &&str| (1..=4).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    let numbers = text.split(mark).map(|text| Some(text).filter(is_number)?.parse().ok());
    numbers.collect::<Option<Vec<i64>>>()?.try_into().ok()
}

/// Days since 1970 in the calendar of today. Years begin in March, so that a leap day is a year's last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let since_march = (153 * ((month + 9) % 12) + 2) / 5;
    year * 365 + leaps + since_march + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_to_the_millisecond_in_any_zone() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1969-12-31T23:59:59.999Z", Some(-1)),
            ("2026-11-17T12:17:40.250Z", Some(1_794_917_860_250)),
            ("2026-11-17T14:17:40.2509+02:00", Some(1_794_917_860_250)),
            ("2026-11-17T07:47:40.25-04:30", Some(1_794_917_860_250)),
            ("2024-02-29T00:00:00.000Z", Some(1_709_164_800_000)),
            ("2000-03-01T00:00:00Z", Some(951_868_800_000)),
            ("2026-11-17", None),
            ("2026-11-17T12:17:40", None),
            ("2026-13-17T12:17:40Z", None),
            ("2026-11-17T12:17:40.x1Z", None),
            ("2026-11-17T12:17:40Zulu", None),
            ("noon", None),
            ("", None),
            ("-T-Z", None),
        ] {
            assert_eq!(milliseconds(text), expected, "{text}");
        }
    }
}

//! A time as the session files of agent CLIs write it.

use std::time::{SystemTime, UNIX_EPOCH};

/// A time of the calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    year: i64,
    month: u64,
    day: u64,
    /// Milliseconds since midnight.
    time_ms: u64,
}

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Moment {
    pub(super) fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::at(u64::try_from(since.as_millis()).unwrap_or_default())
    }

    /// So many milliseconds after the beginning of 1970.
    fn at(ms: u64) -> Self {
        // Years begin in March here, so that a leap day is the last of its year.
        let days = ms / DAY_MS + 719_468;
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + u64::from(month <= 2);
        Self { year: i64::try_from(year).unwrap_or_default(), month, day, time_ms: ms % DAY_MS }
    }

    /// `2026-11-18T09:05:07.042Z`
    pub(super) fn stamp(&self) -> String {
        let [hour, minute, second] = self.clock();
        let (date, ms) = (self.date('-'), self.time_ms % 1000);
        format!("{date}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }

    /// `2026-11-18T09-05-07`, which can be part of a file's name.
    pub(super) fn in_a_name(&self) -> String {
        let [hour, minute, second] = self.clock();
        format!("{}T{hour:02}-{minute:02}-{second:02}", self.date('-'))
    }

    /// `2026/11/18`
    pub(super) fn folders(&self) -> String {
        self.date('/')
    }

    fn date(&self, between: char) -> String {
        format!("{:04}{between}{:02}{between}{:02}", self.year, self.month, self.day)
    }

    fn clock(&self) -> [u64; 3] {
        let seconds = self.time_ms / 1000;
        [seconds / 3600, seconds / 60 % 60, seconds % 60]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_by_the_calendar() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"),
            (1_794_963_504_042, "2026-11-18T00:58:24.042Z"),
            (1_798_761_599_000, "2026-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(Moment::at(ms).stamp(), expected);
        }
        let moment = Moment::at(1_794_963_504_042);
        assert_eq!(moment.in_a_name(), "2026-11-18T00-58-24");
        assert_eq!(moment.folders(), "2026/11/18");
    }
}

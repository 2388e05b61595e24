//! Days as people write them.

/// The date of a day since 1970, in UTC and the Gregorian calendar: `2026-11-17`.
pub fn date(day: i64) -> String {
    // Counted from a first of March, so that the day that leap years have more is the last of its year.
    let day = day.saturating_add(719_468);
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, is_next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day_of_month:02}", year + era * 400 + is_next_year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_dates() {
        let dates =
            [(0, "1970-01-01"), (-1, "1969-12-31"), (11_016, "2000-02-29"), (20_774, "2026-11-17")];
        for (day, expected) in dates {
            assert_eq!(date(day), expected);
        }
        assert_eq!(date(11_017), "2000-03-01");
        assert_eq!(date(47_541), "2100-03-01");
    }
}

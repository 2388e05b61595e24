//! The table of known families, one file per vendor, and the search in it.
//! Most specific pattern wins, and generations have a row for releases that are yet to come.

mod anthropic;
mod google;
mod open_weights;
mod openai;

use crate::target::family::Family;
use crate::target::pattern::ModelName;

type Row = (&'static str, Family);

const TABLES: [&[Row]; 4] = [anthropic::TABLE, google::TABLE, openai::TABLE, open_weights::TABLE];

pub(super) fn find(model: &str) -> Family {
    let name = ModelName::new(model);
    rows()
        .filter_map(|(pattern, family)| Some((name.matches(pattern)?, family)))
        .max_by_key(|(specificity, _)| *specificity)
        .map_or(Family::UNKNOWN, |(_, family)| *family)
}

fn rows() -> impl Iterator<Item = &'static Row> {
    TABLES.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_pattern_is_in_the_spelling_that_names_are_brought_to() {
        for (pattern, _) in rows() {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            let fits = |byte: u8| plain(byte) || matches!(byte, b'-' | b'*' | b'#');
            assert!(pattern.bytes().all(fits), "{pattern}");
            assert!(pattern.bytes().next().is_some_and(plain), "{pattern} begins with a letter");
        }
    }

    #[test]
    fn no_pattern_stands_twice() {
        let patterns: BTreeSet<_> = rows().map(|(pattern, _)| pattern).collect();
        assert_eq!(patterns.len(), rows().count());
    }
}

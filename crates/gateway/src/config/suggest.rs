//! "Did you mean": the nearest of the known words to one that is not known.

/// `; did you mean …?` for the nearest word, else the list of all, as the end of a message.
pub(super) fn suggestion<'w>(wrong: &str, known: impl IntoIterator<Item = &'w str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(wrong, &known) {
        Some(word) => did_you_mean(word),
        None if known.is_empty() => String::new(),
        None => format!("; expected {}", listed(&known)),
    }
}

pub(super) fn did_you_mean(word: &str) -> String {
    format!("; did you mean `{word}`?")
}

/// Words as `a`, `b` or `c`.
pub(super) fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The known word that is at most a third of its length away.
pub(super) fn nearest<'w>(wrong: &str, known: &[&'w str]) -> Option<&'w str> {
    let wrong = folded(wrong);
    let distances = known.iter().map(|word| (distance(&wrong, &folded(word)), *word));
    let near = distances.filter(|(distance, word)| *distance <= word.len().max(3) / 3);
    near.min_by_key(|(distance, _)| *distance).map(|(_, word)| word)
}

/// Case and the choice of `-` or `_` are the commonest slips: they cost nothing.
fn folded(word: &str) -> Vec<char> {
    let plain = word.chars().take(WORD_LEN_MAX).flat_map(char::to_lowercase);
    plain.map(|character| if character == '-' { '_' } else { character }).collect()
}

/// Longer words are compared by their beginning; no word of ours is near this length.
const WORD_LEN_MAX: usize = 64;

/// How many characters must be put in, taken out, replaced or swapped with their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, here) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, there) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(here != there);
            let mut best = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped =
                row > 0 && column > 0 && *here == right[column - 1] && left[row - 1] == *there;
            if swapped {
                best = best.min(before_last[column - 1] + 1);
            }
            current.push(best);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wrong: &str, expected: &str) {
        let known = ["preset", "protocol", "base_url", "api_key", "retries"];
        assert_eq!(suggestion(wrong, known), expected);
    }

    #[test]
    fn slips_find_their_word() {
        check("presets", "; did you mean `preset`?");
        check("base-url", "; did you mean `base_url`?");
        check("BASEURL", "; did you mean `base_url`?");
        check("proctool", "; did you mean `protocol`?");
        check("apikey", "; did you mean `api_key`?");
    }

    #[test]
    fn a_word_that_is_near_to_none_gets_the_list() {
        check("colour", "; expected `preset`, `protocol`, `base_url`, `api_key` or `retries`");
    }

    #[test]
    fn a_swap_of_neighbours_is_one_step() {
        let characters = |word: &str| word.chars().collect::<Vec<_>>();
        assert_eq!(distance(&characters("gmeini"), &characters("gemini")), 1);
        assert_eq!(distance(&characters(""), &characters("abc")), 3);
    }
}

//! Words as a POSIX shell reads them.

/// One word for the shell, whatever it holds.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// One word, quoted only where the shell would read something into it.
pub(crate) fn word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_the_shell() {
        assert_eq!(quoted("a'b $c"), r"'a'\''b $c'");
        assert_eq!(word("--settings"), "--settings");
        assert_eq!(word("k=\"v\""), "'k=\"v\"'");
        assert_eq!(word(""), "''");
    }
}

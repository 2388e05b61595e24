//! A Rust file with its comments and literals blanked out, so that rules can search code as text.
//! Far from a parser: it knows just enough to tell code from prose, tests from the rest, and where an item ends.

use std::ops::RangeInclusive;

const TEST_ATTRIBUTE: &str = "#[cfg(test)]";

pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
    /// `text` with every comment and literal replaced by spaces, byte for byte, line breaks kept.
    code: String,
    /// Lines of the items behind `#[cfg(test)]`.
    test_lines: Vec<RangeInclusive<usize>>,
}

/// A function and the lines from its `fn` to its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) lines: RangeInclusive<usize>,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let code = blank_prose(text);
        let test_lines = find(&code, TEST_ATTRIBUTE)
            .map(|start| line_at(&code, start)..=line_at(&code, item_end(&code, start)))
            .collect();
        Self { path: path.to_owned(), text: text.to_owned(), code, test_lines }
    }

    pub(super) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The lines where `needle` stands in code. A needle that begins or ends a word matches whole words only.
    pub(super) fn lines_with(&self, needle: &str) -> impl Iterator<Item = usize> {
        find(&self.code, needle).map(|start| line_at(&self.code, start))
    }

    /// Whether only test builds compile this line: `#[cfg(test)]` items, test folders and files named `tests.rs`.
    pub(super) fn is_test(&self, line: usize) -> bool {
        self.path.split('/').any(|name| matches!(name, "tests" | "tests.rs" | "benches"))
            || self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// How many lines the file has beside its `#[cfg(test)]` items.
    pub(super) fn line_count(&self) -> usize {
        let in_items = |line: &usize| self.test_lines.iter().any(|lines| lines.contains(line));
        (1..=self.text.lines().count()).filter(|line| !in_items(line)).count()
    }

    pub(super) fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        find(&self.code, "fn").filter_map(|start| {
            let rest = self.code[start..].strip_prefix("fn ")?;
            let name = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
            let first = line_at(&self.code, start);
            let last = line_at(&self.code, item_end(&self.code, start));
            // `fn $name` in a macro has no name and is no function yet.
            (!name.is_empty()).then_some(Function { name, lines: first..=last })
        })
    }

    /// Every name and keyword of the code, with its line.
    pub(super) fn names(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.code.lines()).flat_map(|(number, line)| {
            let names = line.split(|c| !is_word(c)).filter(|name| name.starts_with(is_word));
            names.map(move |name| (number, name))
        })
    }

    /// Each item or expression that begins with `start`, up to the brace that closes it, with its line.
    pub(super) fn blocks(&self, start: &str) -> impl Iterator<Item = (usize, &str)> {
        find(&self.code, start)
            .map(|at| (line_at(&self.code, at), &self.code[at..item_end(&self.code, at)]))
    }

    /// Each statement that begins with `start`, up to its semicolon, with its line.
    pub(super) fn statements(&self, start: &str) -> impl Iterator<Item = (usize, &str)> {
        find(&self.code, start).map(|at| {
            let rest = &self.code[at..];
            (line_at(&self.code, at), &rest[..rest.find(';').unwrap_or(rest.len())])
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn find(code: &str, needle: &str) -> impl Iterator<Item = usize> {
    let opens = needle.starts_with(is_word);
    let closes = needle.ends_with(is_word);
    code.match_indices(needle).map(|(start, _)| start).filter(move |&start| {
        let inside_left = opens && code[..start].ends_with(is_word);
        let inside_right = closes && code[start + needle.len()..].starts_with(is_word);
        !inside_left && !inside_right
    })
}

fn line_at(code: &str, offset: usize) -> usize {
    1 + code[..offset].matches('\n').count()
}

/// Where the item that starts at `start` ends: its semicolon, or the brace that closes its body.
fn item_end(code: &str, start: usize) -> usize {
    let mut braces = 0_usize;
    let mut brackets = 0_usize;
    for (offset, byte) in code[start..].bytes().enumerate() {
        match byte {
            b'(' | b'[' => brackets += 1,
            b')' | b']' => brackets = brackets.saturating_sub(1),
            b'{' => braces += 1,
            b'}' if braces <= 1 => return start + offset,
            b'}' => braces -= 1,
            b';' if braces == 0 && brackets == 0 => return start + offset,
            _ => {}
        }
    }
    code.len()
}

fn blank_prose(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let inside_word = code.ends_with(is_word);
        let prose = prose_length(rest, inside_word);
        let (taken, after) = rest.split_at(prose.unwrap_or(first.len_utf8()));
        match prose {
            Some(_) => code.extend(taken.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' })),
            None => code.push_str(taken),
        }
        rest = after;
    }
    code
}

/// The length of the comment or literal with which `rest` begins, if it does.
fn prose_length(rest: &str, inside_word: bool) -> Option<usize> {
    match rest.as_bytes() {
        [b'/', b'/', ..] => Some(rest.find('\n').unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(block_comment_length(rest)),
        [b'"', ..] => Some(quoted_length(rest, '"')),
        [b'\'', ..] => character_length(rest),
        [b'r' | b'b' | b'c', ..] if !inside_word => raw_string_length(rest),
        _ => None,
    }
}

/// Block comments nest.
fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

/// From the opening quote past the closing one; a backslash takes the next character with it.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// A quote opens a character literal or a lifetime; a lifetime is code.
fn character_length(rest: &str) -> Option<usize> {
    let mut characters = rest.chars().skip(1);
    let escaped = characters.next() == Some('\\');
    let closed = characters.next() == Some('\'');
    (escaped || closed).then(|| quoted_length(rest, '\''))
}

/// `r"…"` and its kin with hashes, and with `b` or `c` in front. `r#name` is code.
fn raw_string_length(rest: &str) -> Option<usize> {
    let unprefixed = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let fence = unprefixed.strip_prefix('r')?;
    let body = fence.trim_start_matches('#').strip_prefix('"')?;
    let hashes = fence.len() - body.len() - 1;
    let closing = format!("\"{}", "#".repeat(hashes));
    let opening = rest.len() - body.len();
    Some(body.find(&closing).map_or(rest.len(), |at| opening + at + closing.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, code: &str) {
        let blanked = blank_prose(text);
        assert_eq!(blanked.len(), text.len(), "offsets must stay");
        assert_eq!(blanked.split_whitespace().collect::<Vec<_>>().join(" "), code);
    }

    #[test]
    fn comments_are_blank() {
        check("a // b\nc", "a c");
        check("a /* b /* c */ d */ e", "a e");
        check("//! a\n/// b\nc", "c");
    }

    #[test]
    fn literals_are_blank() {
        check(r#"a("b \" c", d)"#, "a( , d)");
        check("a(r#\"b \" c\"#, d)", "a( , d)");
        check("a(br\"b\\\", d)", "a( , d)");
        check(r"a('\'', '\u{1f}', 'é', b)", "a( , , , b)");
        check("\"an unclosed literal", "");
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        check("fn a<'b>(c: &'b str) {}", "fn a<'b>(c: &'b str) {}");
        check("r#fn, for, b, bar(x)", "r#fn, for, b, bar(x)");
    }

    #[test]
    fn words_match_whole() {
        let source = Source::new("a.rs", "rand\nstrand\nrandom\nuse rand::Rng;\n");
        assert_eq!(source.lines_with("rand").collect::<Vec<_>>(), [1, 4]);
    }

    #[test]
    fn test_items_are_told_from_the_rest() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n#[cfg(test)]\nmod d;\n";
        let source = Source::new("src/a.rs", text);
        let tests: Vec<usize> = (1..=8).filter(|&line| source.is_test(line)).collect();
        assert_eq!(tests, [2, 3, 4, 5, 7, 8]);
        assert_eq!(source.line_count(), 2);
        assert!(Source::new("crates/a/tests/b.rs", "fn a() {}").is_test(1));
        assert!(Source::new("crates/a/src/b/tests.rs", "fn a() {}").is_test(1));
    }

    #[test]
    fn functions_run_to_their_closing_brace() {
        let text =
            "fn a(b: [u8; 2]) -> fn(u8) {\n    if c {\n    }\n}\ntrait D {\n    fn e();\n}\n";
        let source = Source::new("a.rs", text);
        let functions: Vec<_> = source.functions().collect();
        assert_eq!(
            functions,
            [Function { name: "a", lines: 1..=4 }, Function { name: "e", lines: 6..=6 }]
        );
    }
}

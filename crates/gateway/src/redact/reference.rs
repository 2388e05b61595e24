//! HTML's ways to write a character: references by its number or by a name, and those in HTML that was escaped again.

/// A character as the text behind an ampersand may name it.
pub(super) struct Reference {
    code: u32,
    names: &'static [&'static str],
}

/// How often an ampersand may itself be written as a reference.
const LEVELS_MAX: usize = 2;

/// The most digits of a number, leading zeros included.
const DIGITS_MAX: usize = 7;

/// The longest reference of one level, and of all.
const LEVEL_BYTES_MAX: usize = "#x;".len() + DIGITS_MAX;
pub(super) const BYTES_MAX: usize = (LEVELS_MAX + 1) * LEVEL_BYTES_MAX;

const AMPERSAND: Reference = Reference::of('&');

impl Reference {
    pub(super) const fn of(character: char) -> Self {
        Self { code: character as u32, names: names(character) }
    }

    /// Hands over the length of each reference to the character that a text behind an ampersand begins with, and none where the
    /// whole text may be the beginning of one.
    pub(super) fn read(&self, text: &[u8], found: &mut dyn FnMut(Option<usize>)) {
        let mut from = 0;
        for _ in 0..=LEVELS_MAX {
            self.read_level(&text[from..], &mut |length| found(length.map(|it| from + it)));
            match ampersand(&text[from..]) {
                Ampersand::Whole(length) => from += length,
                Ampersand::Cut => return found(None),
                Ampersand::Other => return,
            }
        }
    }

    fn read_level(&self, text: &[u8], found: &mut dyn FnMut(Option<usize>)) {
        if let [b'#', number @ ..] = text {
            self.read_number(number, &mut |length| found(length.map(|it| 1 + it)));
        } else if text.is_empty() {
            found(None);
        } else {
            self.names.iter().for_each(|name| read_name(name.as_bytes(), text, found));
        }
    }

    fn read_number(&self, text: &[u8], found: &mut dyn FnMut(Option<usize>)) {
        let end = number_bytes(text);
        if number(&text[..end]) == Some(self.code) {
            ended(text, end, found);
        } else if end == text.len() {
            found(None);
        }
    }
}

/// An ampersand that is written as a reference, as a text behind another one begins with it.
enum Ampersand {
    Whole(usize),
    /// The text is over before the reference is.
    Cut,
    Other,
}

fn ampersand(text: &[u8]) -> Ampersand {
    // Most of what an ampersand stands before is another reference, or none.
    if matches!(text, [first, ..] if !b"aA#".contains(first)) {
        return Ampersand::Other;
    }
    let mut ampersand = Ampersand::Other;
    AMPERSAND.read_level(text, &mut |length| match length {
        Some(length) if text[length - 1] == b';' => ampersand = Ampersand::Whole(length),
        Some(_) => {}
        None => ampersand = Ampersand::Cut,
    });
    ampersand
}

/// Characters that are looked for by any reference.
pub(super) struct References {
    /// Their numbers, sorted.
    codes: Vec<u32>,
    /// Their names.
    names: Vec<&'static str>,
    /// Bytes that a reference to one of them can begin with.
    begins: [bool; 256],
}

impl References {
    pub(super) fn to(characters: impl Iterator<Item = char>) -> Self {
        let mut codes: Vec<u32> = characters.map(u32::from).collect();
        codes.sort_unstable();
        codes.dedup();
        let known = codes.iter().filter_map(|code| char::from_u32(*code));
        let names: Vec<&str> = known.flat_map(names).copied().collect();
        let mut begins = [false; 256];
        let firsts = names.iter().filter_map(|name| name.bytes().next());
        for first in firsts.chain(*b"a#") {
            begins[usize::from(first)] = true;
            begins[usize::from(first.to_ascii_uppercase())] = true;
        }
        Self { codes, names, begins }
    }

    /// Whether a text behind an ampersand begins with a reference to one of the characters.
    pub(super) fn begin(&self, text: &[u8]) -> bool {
        // Most bytes behind an ampersand show by themselves that there is none.
        text.first().is_some_and(|first| self.begins[usize::from(*first)]) && self.begin_at(text)
    }

    #[inline(never)]
    fn begin_at(&self, text: &[u8]) -> bool {
        let mut from = 0;
        for _ in 0..=LEVELS_MAX {
            let level = &text[from..];
            let is_one = match level {
                [first, ..] if !self.begins[usize::from(*first)] => return false,
                [b'#', number @ ..] => self.have(number),
                name => self.have_name(name),
            };
            match ampersand(level) {
                _ if is_one => return true,
                Ampersand::Whole(length) => from += length,
                Ampersand::Cut | Ampersand::Other => return false,
            }
        }
        false
    }

    fn have(&self, text: &[u8]) -> bool {
        let code = number(&text[..number_bytes(text)]);
        code.is_some_and(|code| self.codes.binary_search(&code).is_ok())
    }

    fn have_name(&self, text: &[u8]) -> bool {
        let begins = |name: &&str| {
            let begin = text.get(..name.len());
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(name.as_bytes()))
        };
        self.names.iter().any(begins)
    }
}

fn read_name(name: &[u8], text: &[u8], found: &mut dyn FnMut(Option<usize>)) {
    let length = text.len().min(name.len());
    if !text[..length].eq_ignore_ascii_case(&name[..length]) {
        return;
    }
    match length == name.len() {
        true => ended(text, length, found),
        false => found(None),
    }
}

/// A reference ends here, or behind the semicolon that browsers do without.
fn ended(text: &[u8], end: usize, found: &mut dyn FnMut(Option<usize>)) {
    found(Some(end));
    match text.get(end) {
        Some(b';') => found(Some(end + 1)),
        Some(_) => {}
        None => found(None),
    }
}

/// How many bytes of a text are a number, with the letter that makes it hexadecimal.
fn number_bytes(text: &[u8]) -> usize {
    let is_hex = matches!(text, [b'x' | b'X', ..]);
    let digits = text.iter().skip(usize::from(is_hex)).take(DIGITS_MAX);
    let digits = digits.take_while(|digit| match is_hex {
        true => digit.is_ascii_hexdigit(),
        false => digit.is_ascii_digit(),
    });
    usize::from(is_hex) + digits.count()
}

fn number(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    match text.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The names of the characters that secrets are made of and a writer of HTML may escape.
const fn names(character: char) -> &'static [&'static str] {
    match character {
        '"' => &["quot"],
        '&' => &["amp"],
        '\'' => &["apos"],
        '<' => &["lt"],
        '>' => &["gt"],
        '/' => &["sol"],
        '\\' => &["bsol"],
        '+' => &["plus"],
        '=' => &["equals"],
        '_' => &["lowbar", "underbar"],
        '.' => &["period"],
        ',' => &["comma"],
        ':' => &["colon"],
        ';' => &["semi"],
        '!' => &["excl"],
        '?' => &["quest"],
        '#' => &["num"],
        '$' => &["dollar"],
        '%' => &["percnt"],
        '(' => &["lpar"],
        ')' => &["rpar"],
        '*' => &["ast", "midast"],
        '@' => &["commat"],
        '[' => &["lsqb", "lbrack"],
        ']' => &["rsqb", "rbrack"],
        '^' => &["hat"],
        '`' => &["grave"],
        '{' => &["lcub", "lbrace"],
        '|' => &["verbar", "vert"],
        '}' => &["rcub", "rbrace"],
        '\t' => &["tab"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest reference to a character that a text begins with, and whether more may follow.
    fn read(character: char, text: &str) -> (Option<usize>, bool) {
        let (mut whole, mut is_begun) = (None, false);
        Reference::of(character).read(text.as_bytes(), &mut |length| match length {
            Some(_) => whole = whole.max(length),
            None => is_begun = true,
        });
        (whole, is_begun)
    }

    #[test]
    fn numbers_and_names_stand_for_their_character() {
        for text in
            ["#47;", "#047;", "#x2f;", "#X2F;", "#x002F;", "sol;", "amp;#47;", "#38;#x26;sol;"]
        {
            assert_eq!(read('/', text), (Some(text.len()), false), "{text}");
            assert_eq!(read('/', &format!("{text};")), (Some(text.len()), false), "{text}");
            let without = &text[..text.len() - 1];
            assert_eq!(read('/', without), (Some(without.len()), true), "{without}");
            assert!(read('/', &text[..text.len() - 2]).1, "{text}");
        }
        for text in
            ["#470;", "#x2e;", "#;", "so;", "#x;", "amp;amp;amp;#47;", "quot;", "#00000047;"]
        {
            assert_eq!(read('/', text), (None, false), "{text}");
        }
        assert_eq!(read('&', "amp;amp;").0, Some(8));
    }
}

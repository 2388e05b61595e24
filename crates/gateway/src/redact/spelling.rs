//! The ways in which one secret can be written: plainly, with any of its characters escaped as JSON does it, also in JSON
//! that is a string in JSON, and with any of them percent-encoded.

use std::fmt::Write;

use memchr::memmem::Finder;

/// A secret and how each of its characters may look.
pub(super) struct Spelling {
    text: String,
    plain: Finder<'static>,
    steps: Vec<Step>,
}

/// What a text begins with.
pub(super) enum Reading {
    /// The secret, in so many bytes.
    Whole(usize),
    /// Nothing but the beginning of the secret: more may follow.
    Begun,
    Other,
}

/// A character of the secret, with the backslashes of the secret before it. They are read together because each level of
/// JSON doubles them and may add one of its own.
struct Step {
    backslashes: usize,
    plain: String,
    /// What stands for the character behind a backslash.
    escapes: Vec<String>,
    percents: String,
}

/// The longest escape: that of a character beyond the first 65,536.
const ESCAPE_BYTES_MAX: usize = r"ud83d\ude00".len();

/// What one backslash has become behind four levels of JSON in JSON. An escape has one less.
const BACKSLASHES_MAX: usize = 16;

impl Spelling {
    pub(super) fn of(secret: &str) -> Self {
        let mut backslashes = 0;
        let mut steps = Vec::new();
        for character in secret.chars() {
            match character {
                '\\' => backslashes += 1,
                _ => steps.push(Step::of(character, std::mem::take(&mut backslashes))),
            }
        }
        let plain = Finder::new(secret).into_owned();
        Self { text: secret.to_owned(), plain, steps }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// No spelling is longer.
    pub(super) fn bytes_max(&self) -> usize {
        self.steps.iter().map(Step::bytes_max).sum()
    }

    pub(super) fn is_plainly_in(&self, text: &[u8]) -> bool {
        self.plain.find(text).is_some()
    }

    /// Reads a text that may begin with the secret.
    pub(super) fn read(&self, text: &[u8]) -> Reading {
        if self.is_other(text) {
            return Reading::Other;
        }
        if text.starts_with(self.bytes()) {
            return Reading::Whole(self.text.len());
        }
        if self.bytes().starts_with(text) {
            return Reading::Begun;
        }
        let mut read = 0;
        for step in &self.steps {
            match step.read(&text[read..]) {
                Reading::Whole(length) => read += length,
                other => return other,
            }
        }
        Reading::Whole(read)
    }
}

impl Spelling {
    /// Whether two bytes are enough to see that a text is something else, as they are for most.
    fn is_other(&self, text: &[u8]) -> bool {
        match (text, self.bytes()) {
            ([b'\\', second, ..], _) => !b"\\uU\"/tT".contains(second),
            ([b'%', ..], _) => false,
            ([first, second, ..], [own, next, ..]) => {
                first != own || second != next && !b"\\%".contains(second)
            }
            _ => false,
        }
    }
}

impl Step {
    fn of(character: char, backslashes: usize) -> Self {
        let plain = character.to_string();
        let units: Vec<String> =
            character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("u{unit:04x}")).collect();
        let mut escapes = vec![units.join("\\")];
        match character {
            '"' | '/' => escapes.push(plain.clone()),
            '\t' => escapes.push("t".to_owned()),
            _ => {}
        }
        let mut percents = String::new();
        for byte in plain.bytes() {
            let _ = write!(percents, "%{byte:02x}");
        }
        Self { backslashes, plain, escapes, percents }
    }

    fn bytes_max(&self) -> usize {
        let characters = self.backslashes + 1;
        characters * (self.run_max() + ESCAPE_BYTES_MAX.max(self.percents.len()))
    }

    /// The most backslashes before a character.
    fn run_max(&self) -> usize {
        (self.backslashes + 1) * BACKSLASHES_MAX - 1
    }

    /// How many backslashes a text begins with.
    fn run(&self, text: &[u8]) -> usize {
        text.iter().take(self.run_max()).take_while(|byte| **byte == b'\\').count()
    }

    fn read(&self, text: &[u8]) -> Reading {
        let (mut seen, mut read) = (0, 0);
        // Backslashes of the secret may themselves be escaped.
        for _ in 0..self.backslashes {
            let run = self.run(&text[read..]);
            let spelled = if run > 0 { "u005c" } else { "%5c" };
            match begins(&text[read + run..], spelled) {
                Reading::Whole(length) => (seen, read) = (seen + run.max(1), read + run + length),
                Reading::Begun => return Reading::Begun,
                Reading::Other => break,
            }
        }
        let run = self.run(&text[read..]);
        match self.read_behind(&text[read + run..], run) {
            Reading::Whole(_) if seen + run < self.backslashes => Reading::Other,
            Reading::Whole(length) => Reading::Whole(read + run + length),
            other => other,
        }
    }

    /// Reads the character itself behind so many backslashes.
    fn read_behind(&self, text: &[u8], backslashes: usize) -> Reading {
        let mut reading = Reading::Other;
        let escapes = self.escapes.iter().filter(|_| backslashes > 0);
        let percents = Some(&self.percents).filter(|_| backslashes == 0 || self.backslashes > 0);
        for spelled in escapes.chain(percents) {
            match begins(text, spelled) {
                Reading::Other => {}
                whole @ Reading::Whole(_) => return whole,
                Reading::Begun => reading = Reading::Begun,
            }
        }
        let is_plain = backslashes == 0 || self.backslashes > 0;
        match reading {
            Reading::Other if is_plain && text.starts_with(self.plain.as_bytes()) => {
                Reading::Whole(self.plain.len())
            }
            Reading::Other if is_plain && self.plain.as_bytes().starts_with(text) => Reading::Begun,
            reading => reading,
        }
    }
}

/// Whether a text begins with an escape, whose digits may be capitals.
fn begins(text: &[u8], escape: &str) -> Reading {
    let length = text.len().min(escape.len());
    if !text[..length].eq_ignore_ascii_case(&escape.as_bytes()[..length]) {
        return Reading::Other;
    }
    match length == escape.len() {
        true => Reading::Whole(length),
        false => Reading::Begun,
    }
}

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
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The secret, in so many bytes.
    pub(super) whole: Option<usize>,
    /// The whole text is the beginning of the secret: more may follow.
    pub(super) is_begun: bool,
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
            return Reading::default();
        }
        if text.starts_with(self.bytes()) {
            return Reading { whole: Some(self.text.len()), is_begun: false };
        }
        if self.bytes().starts_with(text) {
            return Reading { whole: None, is_begun: true };
        }
        self.read_steps(text)
    }

    /// Reads character by character. `%25` may be a percent sign or the three characters that it looks like, so that there
    /// may be several places where a character ends.
    fn read_steps(&self, text: &[u8]) -> Reading {
        let (mut ends, mut is_begun) = (Ends::default(), false);
        ends.add(0);
        for step in &self.steps {
            let mut next = Ends::default();
            for from in ends.all() {
                step.read(&text[from..], &mut |read| match read {
                    Some(length) => next.add(from + length),
                    None => is_begun = true,
                });
            }
            ends = next;
        }
        Reading { whole: ends.all().max(), is_begun }
    }
}

/// Where a character may end: in one place mostly, which takes no memory.
#[derive(Default)]
struct Ends {
    first: Option<usize>,
    more: Vec<usize>,
}

impl Ends {
    fn add(&mut self, end: usize) {
        match self.first {
            None => self.first = Some(end),
            Some(_) if self.all().all(|known| known != end) => self.more.push(end),
            Some(_) => {}
        }
    }

    fn all(&self) -> impl Iterator<Item = usize> {
        self.first.into_iter().chain(self.more.iter().copied())
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

    /// Hands over the length of each spelling that a text begins with, and none where the whole text may be the beginning
    /// of one.
    fn read(&self, text: &[u8], found: &mut dyn FnMut(Option<usize>)) {
        let (mut seen, mut read) = (0, 0);
        // Backslashes of the secret may themselves be escaped.
        for _ in 0..self.backslashes {
            let run = self.run(&text[read..]);
            let spelled = if run > 0 { "u005c" } else { "%5c" };
            match begins(&text[read + run..], spelled) {
                Begins::Whole => (seen, read) = (seen + run.max(1), read + run + spelled.len()),
                Begins::Cut => return found(None),
                Begins::Other => break,
            }
        }
        let run = self.run(&text[read..]);
        let is_enough = seen + run >= self.backslashes;
        self.read_behind(&text[read + run..], run, &mut |length| match length {
            Some(length) if is_enough => found(Some(read + run + length)),
            Some(_) => {}
            None => found(None),
        });
    }

    /// Reads the character itself behind so many backslashes.
    fn read_behind(&self, text: &[u8], backslashes: usize, found: &mut dyn FnMut(Option<usize>)) {
        let is_plain = backslashes == 0 || self.backslashes > 0;
        let escapes = self.escapes.iter().filter(|_| backslashes > 0);
        let percents = Some(&self.percents).filter(|_| is_plain);
        for spelled in escapes.chain(percents) {
            match begins(text, spelled) {
                Begins::Whole => found(Some(spelled.len())),
                Begins::Cut => found(None),
                Begins::Other => {}
            }
        }
        if is_plain && text.starts_with(self.plain.as_bytes()) {
            found(Some(self.plain.len()));
        } else if is_plain && self.plain.as_bytes().starts_with(text) {
            found(None);
        }
    }
}

/// How a text begins, held against an escape.
enum Begins {
    Whole,
    /// The text is over before the escape is.
    Cut,
    Other,
}

/// Whether a text begins with an escape, whose digits may be capitals.
fn begins(text: &[u8], escape: &str) -> Begins {
    let length = text.len().min(escape.len());
    if !text[..length].eq_ignore_ascii_case(&escape.as_bytes()[..length]) {
        return Begins::Other;
    }
    match length == escape.len() {
        true => Begins::Whole,
        false => Begins::Cut,
    }
}

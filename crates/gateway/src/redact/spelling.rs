//! The ways in which one secret can be written: plainly, with any of its characters escaped as JSON does it, also in JSON
//! that is a string in JSON, and with any of them written as URLs and forms, or as HTML, have them.

use std::fmt::Write;

use memchr::memmem::Finder;

use crate::redact::reference;
use crate::redact::reference::Reference;

/// A secret and how each of its characters may look.
pub(super) struct Spelling {
    text: String,
    /// Its longest piece without a blank, of which forms make a plus sign.
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
    /// What stands for it in URLs and forms, also in those that were escaped again.
    percents: Vec<String>,
    reference: Reference,
    /// Whether JSON may put nothing but a backslash before it.
    is_quotable: bool,
}

/// The longest escape: that of a character beyond the first 65,536.
const ESCAPE_BYTES_MAX: usize = r"ud83d\ude00".len();

/// What one backslash has become behind four levels of JSON in JSON. An escape has one less.
const BACKSLASHES_MAX: usize = 16;

/// The most backslashes before the first character of a secret, which has none of its own before it.
pub(super) const FIRST_RUN_MAX: usize = BACKSLASHES_MAX - 1;

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
        let pieces = secret.split(' ').max_by_key(|piece| piece.len());
        let plain = Finder::new(pieces.unwrap_or(secret)).into_owned();
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
            if ends.first.is_none() {
                break;
            }
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
            ([b'\\', second, ..], _) => !b"\\uU\"/tT%&".contains(second),
            ([b'%', second, ..], [own, ..]) => own != &b'%' && !second.is_ascii_hexdigit(),
            ([b'&', second, ..], [own, ..]) => {
                own != &b'&' && second != &b'#' && !second.is_ascii_alphabetic()
            }
            ([first, second, ..], [own, next, ..]) => {
                first != own || second != next && !b"\\%&+".contains(second)
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
        let is_quotable = matches!(character, '"' | '/');
        let (percents, reference) = (percents(&plain, is_quotable), Reference::of(character));
        Self { backslashes, plain, escapes, percents, reference, is_quotable }
    }

    fn bytes_max(&self) -> usize {
        let characters = self.backslashes + 1;
        let percents = self.percents.iter().map(String::len).max().unwrap_or(0);
        let reference = AMPERSAND_UNIT.len() + reference::BYTES_MAX;
        characters * (self.run_max() + ESCAPE_BYTES_MAX.max(percents).max(reference))
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
            match begins_with_backslash(&text[read + run..], run) {
                // Those before it may be its escape, or others of the secret.
                (Begins::Whole, length) => (seen, read) = (seen + run + 1, read + run + length),
                (Begins::Cut, _) => return found(None),
                (Begins::Other, _) => break,
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
        let may_be_percents = matches!(text, [] | [b'%' | b'+', ..]);
        let may_be_percents = may_be_percents && (is_plain || self.is_quotable);
        let percents = self.percents.iter().filter(|_| may_be_percents);
        for spelled in escapes.chain(percents) {
            match begins(text, spelled) {
                Begins::Whole => found(Some(spelled.len())),
                Begins::Cut => found(None),
                Begins::Other => {}
            }
        }
        self.read_reference(text, backslashes, found);
        if is_plain && text.starts_with(self.plain.as_bytes()) {
            found(Some(self.plain.len()));
        } else if is_plain && self.plain.as_bytes().starts_with(text) {
            found(None);
        }
    }

    /// Reads the character as a reference of HTML.
    fn read_reference(
        &self,
        text: &[u8],
        backslashes: usize,
        found: &mut dyn FnMut(Option<usize>),
    ) {
        let may_be_bare = backslashes == 0 || self.backslashes > 0 || self.is_quotable;
        match begins_with_ampersand(text, backslashes) {
            (Begins::Whole, 1) if !may_be_bare => {}
            (Begins::Whole, length) => {
                let found = &mut |read: Option<usize>| found(read.map(|it| length + it));
                self.reference.read(&text[length..], found);
            }
            (Begins::Cut, _) => found(None),
            (Begins::Other, _) => {}
        }
    }
}

/// Whether a text behind so many backslashes begins with an ampersand, which some writers of JSON escape, and how long that is.
fn begins_with_ampersand(text: &[u8], backslashes: usize) -> (Begins, usize) {
    match (text.first(), backslashes) {
        (Some(b'&'), _) => (Begins::Whole, 1),
        (_, 0) => (Begins::Other, 0),
        _ => (begins(text, AMPERSAND_UNIT), AMPERSAND_UNIT.len()),
    }
}

/// An ampersand behind a backslash.
const AMPERSAND_UNIT: &str = "u0026";

/// What stands for a character in URLs and forms: percent signs may be escaped again, and JSON in a URL has a backslash before
/// some characters.
fn percents(plain: &str, is_quotable: bool) -> Vec<String> {
    let mut percents = vec![String::new()];
    for byte in plain.bytes() {
        let _ = write!(percents[0], "%{byte:02x}");
    }
    for _ in 0..PERCENT_LEVELS_MAX {
        percents.push(percents[percents.len() - 1].replace('%', "%25"));
    }
    if is_quotable {
        percents.extend([format!("%5c{}", percents[0]), format!("%5c{plain}")]);
    }
    percents.extend((plain == " ").then(|| "+".to_owned()));
    percents
}

/// How often a percent sign may itself be percent-encoded.
pub(super) const PERCENT_LEVELS_MAX: usize = 2;

/// Whether a text behind so many backslashes begins with a backslash that is itself escaped, and how long that is.
fn begins_with_backslash(text: &[u8], backslashes: usize) -> (Begins, usize) {
    if let (Begins::Whole, length) = begins_with_ampersand(text, backslashes) {
        let (mut whole, mut is_begun) = (None, false);
        BACKSLASH.read(&text[length..], &mut |read| match read {
            Some(_) => whole = whole.max(read),
            None => is_begun = true,
        });
        return match whole {
            _ if is_begun => (Begins::Cut, 0),
            Some(whole) => (Begins::Whole, length + whole),
            None => (Begins::Other, 0),
        };
    }
    let unit = Some("u005c").filter(|_| backslashes > 0);
    let spelled = unit.filter(|unit| !matches!(begins(text, unit), Begins::Other));
    let spelled = spelled.unwrap_or("%5c");
    (begins(text, spelled), spelled.len())
}

const BACKSLASH: Reference = Reference::of('\\');

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

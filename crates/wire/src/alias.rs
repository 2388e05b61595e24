//! Reversible stand-ins for tool names and call ids that a protocol refuses.
//! An alias depends on the name alone, so the same name is spelt alike in every turn.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, ErrorKind, Result};

/// Characters of the hash in an alias that also has a readable part: all 64 bits.
const HASH_CHARS: usize = 13;
const HASH_ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// What a tool without a name is called.
const UNNAMED_TOOL: &str = "tool";
const UNNAMED_CALL: &str = "call";

/// Which characters a place in a name may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    Anything,
    /// `A-Z`, `a-z`, `0-9`.
    Alphanumeric,
    /// Alphanumeric, `_` and `-`.
    Word,
    /// A letter or `_`: what Gemini wants a name to begin with.
    Start,
    /// Word, `.` and `:`.
    Dotted,
}

impl Charset {
    fn holds(self, character: char) -> bool {
        let is_held = |byte: u8| SETS[usize::from(byte)] & self.bit() != 0;
        self == Self::Anything || u8::try_from(character).is_ok_and(is_held)
    }

    /// Whether the set holds every character. All of them are looked at, since nearly always all are held.
    fn holds_all(self, characters: &str) -> bool {
        let sets = |sets, byte| sets & SETS[usize::from(byte)];
        self == Self::Anything || characters.bytes().fold(u8::MAX, sets) & self.bit() != 0
    }

    /// The bit of this set in [`SETS`].
    const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// One bit for each character of ASCII, set where the set holds it.
    const fn ascii(self) -> u128 {
        const DIGITS: u128 = range(b'0', b'9');
        const LETTERS: u128 = range(b'A', b'Z') | range(b'a', b'z');
        const UNDERSCORE: u128 = range(b'_', b'_');
        const WORD: u128 = DIGITS | LETTERS | UNDERSCORE | range(b'-', b'-');
        match self {
            Self::Anything => u128::MAX,
            Self::Alphanumeric => DIGITS | LETTERS,
            Self::Word => WORD,
            Self::Start => LETTERS | UNDERSCORE,
            Self::Dotted => WORD | range(b'.', b'.') | range(b':', b':'),
        }
    }
}

/// For each byte the bits of the sets that hold it; of what is not ASCII only [`Charset::Anything`] holds anything.
const SETS: [u8; 256] = {
    const NARROW: [Charset; 4] =
        [Charset::Alphanumeric, Charset::Word, Charset::Start, Charset::Dotted];
    let mut sets = [Charset::Anything.bit(); 256];
    let mut index = 0;
    while index < NARROW.len() {
        let (held, bit) = (NARROW[index].ascii(), NARROW[index].bit());
        let mut byte = 0;
        while byte < 128 {
            if held >> byte & 1 == 1 {
                sets[byte] |= bit;
            }
            byte += 1;
        }
        index += 1;
    }
    sets
};

/// The bits from `first` to `last`.
const fn range(first: u8, last: u8) -> u128 {
    (u128::MAX >> (127 - last)) & (u128::MAX << first)
}

/// What a protocol accepts as the name of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ToolNameRule {
    pub first: Charset,
    pub rest: Charset,
    pub max_len: usize,
}

impl ToolNameRule {
    pub const CHAT: Self = Self { first: Charset::Word, rest: Charset::Word, max_len: 64 };
    pub const RESPONSES: Self = Self { max_len: 128, ..Self::CHAT };
    /// Models before Claude 4 stop at 64; see [`with_max_len`](Self::with_max_len).
    pub const ANTHROPIC: Self = Self { max_len: 128, ..Self::CHAT };
    pub const GEMINI: Self = Self { first: Charset::Start, rest: Charset::Dotted, max_len: 64 };

    /// The same rule, no longer than `max_len`: a model may be narrower than its protocol.
    pub const fn with_max_len(self, max_len: usize) -> Self {
        let max_len = if max_len < self.max_len { max_len } else { self.max_len };
        Self { max_len, ..self }
    }

    pub fn accepts(self, name: &str) -> bool {
        self.shape().accepts(name)
    }

    /// The name itself if the rule accepts it, else its alias.
    ///
    /// ```
    /// use sabir_wire::alias::ToolNameRule;
    ///
    /// assert_eq!(ToolNameRule::CHAT.alias("read_file"), "read_file");
    /// assert_eq!(ToolNameRule::CHAT.alias(""), "tool");
    /// assert!(ToolNameRule::CHAT.alias("fs.read/file").starts_with("fs_read_file_"));
    /// ```
    pub fn alias(self, name: &str) -> Cow<'_, str> {
        self.shape().alias(name)
    }

    /// For callers that would rather refuse a name than rename the tool.
    pub fn check(self, name: &str) -> Result<()> {
        let message = if self.accepts(name) {
            return Ok(());
        } else if name.is_empty() {
            "Tool name is empty".to_owned()
        } else if name.chars().count() > self.max_len {
            format!("Tool name exceeds max length of {}", self.max_len)
        } else {
            "Tool name has a character that the target does not allow".to_owned()
        };
        Err(Error::new(ErrorKind::Refused, message))
    }

    fn shape(self) -> Shape {
        let Self { first, rest, max_len } = self;
        Shape { first, rest, min_len: 1, max_len, unnamed: UNNAMED_TOOL }
    }
}

/// What a protocol or server accepts as the id of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CallIdRule {
    pub charset: Charset,
    pub min_len: usize,
    pub max_len: usize,
}

impl CallIdRule {
    pub const CHAT: Self = Self { charset: Charset::Anything, min_len: 1, max_len: 40 };
    pub const RESPONSES: Self = Self { max_len: 64, ..Self::CHAT };
    pub const ANTHROPIC: Self = Self { charset: Charset::Word, min_len: 1, max_len: 64 };
    pub const GEMINI: Self = Self { charset: Charset::Anything, min_len: 0, max_len: usize::MAX };
    pub const MISTRAL: Self = Self { charset: Charset::Alphanumeric, min_len: 9, max_len: 9 };

    pub fn accepts(self, id: &str) -> bool {
        self.shape().accepts(id)
    }

    /// The id itself if the rule accepts it, else its alias.
    pub fn alias(self, id: &str) -> Cow<'_, str> {
        self.shape().alias(id)
    }

    fn shape(self) -> Shape {
        let Self { charset, min_len, max_len } = self;
        Shape { first: charset, rest: charset, min_len, max_len, unnamed: UNNAMED_CALL }
    }
}

/// The names of one request with their aliases, both ways.
///
/// Needed only because a client may own a name that is spelt like another name's alias: its own
/// name wins, and the alias is made anew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aliases {
    by_name: BTreeMap<String, String>,
    by_alias: BTreeMap<String, String>,
}

impl Aliases {
    /// Aliases for the tool names of one request, in the order in which they appear.
    ///
    /// ```
    /// use sabir_wire::alias::{Aliases, ToolNameRule};
    ///
    /// let aliases = Aliases::for_tool_names(ToolNameRule::CHAT, ["fs.read", "list"]);
    /// assert_eq!(aliases.name_of(aliases.alias_of("fs.read")), "fs.read");
    /// assert_eq!(aliases.alias_of("list"), "list");
    /// ```
    pub fn for_tool_names<'a>(
        rule: ToolNameRule,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        Self::for_names(rule.shape(), names.into_iter().collect())
    }

    /// Aliases for the call ids of one request, in the order in which they appear.
    pub fn for_call_ids<'a>(rule: CallIdRule, ids: impl IntoIterator<Item = &'a str>) -> Self {
        Self::for_names(rule.shape(), ids.into_iter().collect())
    }

    /// How `name` is spelt on the wire.
    pub fn alias_of<'a>(&'a self, name: &'a str) -> &'a str {
        self.by_name.get(name).map_or(name, String::as_str)
    }

    /// The client's own name for what the wire calls `alias`.
    pub fn name_of<'a>(&'a self, alias: &'a str) -> &'a str {
        self.by_alias.get(alias).map_or(alias, String::as_str)
    }

    /// Every renamed name with its alias.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name.iter().map(|(name, alias)| (name.as_str(), alias.as_str()))
    }

    fn for_names(shape: Shape, names: Vec<&str>) -> Self {
        let (valid, invalid): (Vec<&str>, Vec<&str>) =
            names.into_iter().partition(|name| shape.accepts(name));
        let mut aliases = Self::default();
        if !invalid.is_empty() {
            let valid: BTreeSet<&str> = valid.into_iter().collect();
            invalid.into_iter().for_each(|name| aliases.add(shape, name, &valid));
        }
        aliases
    }

    fn add(&mut self, shape: Shape, name: &str, valid: &BTreeSet<&str>) {
        if self.by_name.contains_key(name) {
            return;
        }
        let free =
            |alias: &String| !valid.contains(alias.as_str()) && !self.by_alias.contains_key(alias);
        // Attempts differ, so one more of them than there are names taken finds a free one.
        let attempts = 0..=valid.len() + self.by_alias.len();
        let mut invented = attempts.map(|attempt| shape.invent(name, attempt));
        let alias = invented.find(free).unwrap_or_else(|| shape.invent(name, 0));
        self.by_alias.insert(alias.clone(), name.to_owned());
        self.by_name.insert(name.to_owned(), alias);
    }
}

/// What both rules come down to.
#[derive(Clone, Copy)]
struct Shape {
    first: Charset,
    rest: Charset,
    min_len: usize,
    max_len: usize,
    unnamed: &'static str,
}

impl Shape {
    fn accepts(self, name: &str) -> bool {
        let mut characters = name.chars();
        self.fits(name)
            && characters.next().is_none_or(|first| self.first.holds(first))
            && self.rest.holds_all(characters.as_str())
    }

    /// Whether a name has as many characters as it may. They are counted only where its bytes, one to four for each, leave
    /// that open.
    fn fits(self, name: &str) -> bool {
        let fits_however = self.min_len <= name.len().div_ceil(4) && name.len() <= self.max_len;
        fits_however || (self.min_len..=self.max_len).contains(&name.chars().count())
    }

    fn alias(self, name: &str) -> Cow<'_, str> {
        if self.accepts(name) { Cow::Borrowed(name) } else { Cow::Owned(self.invent(name, 0)) }
    }

    /// `attempt` is 0 unless the first alias is another name of the same request.
    fn invent(self, name: &str, attempt: usize) -> String {
        if name.is_empty() && attempt == 0 && self.accepts(self.unnamed) {
            return self.unnamed.to_owned();
        }
        let hash = spell(hash(name, attempt));
        let room = self.max_len.saturating_sub(HASH_CHARS + 1);
        if room == 0 || !self.rest.holds('_') {
            return hash.chars().take(self.max_len).collect();
        }
        format!("{}_{hash}", self.readable(name, room))
    }

    /// The part of the alias that reminds a person, and the model, of the name.
    fn readable(self, name: &str, room: usize) -> String {
        let words = name.split(|character| !Charset::Word.holds(character) || character == '_');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let mut readable = if words.is_empty() { self.unnamed.to_owned() } else { words.join("_") };
        if !readable.starts_with(|first| self.first.holds(first)) {
            readable.insert(0, '_');
        }
        readable.truncate(room);
        readable
    }
}

/// FNV-1a with a final mix, because a short alias keeps only the lower bits.
fn hash(name: &str, attempt: usize) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    let named = name.bytes().fold(OFFSET, step);
    let salt = (attempt as u64).to_le_bytes();
    let salted = if attempt == 0 { named } else { salt.into_iter().fold(named, step) };
    mix(salted)
}

/// Spreads every input bit over the whole word; no two inputs give the same output.
fn mix(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

fn spell(hash: u64) -> String {
    let digit = |index: usize| usize::try_from((hash >> (5 * index)) & 31).unwrap_or_default();
    (0..HASH_CHARS).map(|index| char::from(HASH_ALPHABET[digit(index)])).collect()
}

#[cfg(test)]
mod tests;

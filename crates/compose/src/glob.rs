//! Patterns of names, of models and of tools: `gpt-*`, `o[0-9]*`, `read_?`.
//! A pattern is taken apart once; matching never tries a part of the name more than once per star.

use std::cmp::Reverse;
use std::fmt;
use std::str::Chars;

/// A pattern, or a plain name.
///
/// `*` stands for any characters, also none and also slashes, `?` for one, `[a-z]` for one of a
/// set and `[!a-z]` for one outside it. A bracket takes `*`, `?` and `[` literally.
///
/// ```
/// use sabir_compose::Glob;
///
/// let glob = Glob::new("o[0-9]*").unwrap();
/// assert!(glob.matches("o3-mini"));
/// assert!(!glob.matches("omni"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    tokens: Vec<Token>,
    /// How much of the text stands for itself before anything that does not: most names differ there.
    literal_bytes: usize,
}

/// How narrow a pattern is; of all that match a name, the greatest wins.
///
/// A plain name is narrower than any pattern. Then more literal characters win, then more sets,
/// then more `?`, then fewer `*`. Where two are equal, whoever uses them decides by their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Specificity {
    exact: bool,
    literals: usize,
    sets: usize,
    singles: usize,
    stars: Reverse<usize>,
}

/// Why a text is no pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobError {
    Empty,
    UnclosedSet,
    EmptySet,
    BackwardRange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Literal(char),
    Single,
    Set { negated: bool, ranges: Vec<(char, char)> },
    Star,
}

impl Glob {
    pub fn new(text: &str) -> Result<Self, GlobError> {
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            match character {
                // Two stars mean what one means, and one is faster.
                '*' if tokens.last() == Some(&Token::Star) => {}
                '*' => tokens.push(Token::Star),
                '?' => tokens.push(Token::Single),
                '[' => {
                    let (set, after) = read_set(rest.as_str())?;
                    tokens.push(set);
                    rest = after.chars();
                }
                literal => tokens.push(Token::Literal(literal)),
            }
        }
        if tokens.is_empty() {
            return Err(GlobError::Empty);
        }
        let literal_bytes = text.find(['*', '?', '[']).unwrap_or(text.len());
        Ok(Self { text: text.to_owned(), tokens, literal_bytes })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is a plain name, which only itself matches.
    pub fn is_exact(&self) -> bool {
        self.tokens.iter().all(|token| matches!(token, Token::Literal(_)))
    }

    pub fn matches(&self, name: &str) -> bool {
        if !name.as_bytes().starts_with(&self.text.as_bytes()[..self.literal_bytes]) {
            return false;
        }
        let (mut tokens, mut rest) = (self.tokens.as_slice(), name.chars());
        // Where to go on when the way since the last star fails: that star takes one more.
        let mut retry: Option<(&[Token], Chars<'_>)> = None;
        while let Some(character) = rest.clone().next() {
            match tokens {
                [Token::Star, after @ ..] => {
                    tokens = after;
                    retry = Some((tokens, rest.clone()));
                }
                [one, after @ ..] if one.takes(character) => {
                    tokens = after;
                    rest.next();
                }
                _ => {
                    let Some((after_star, taken)) = &mut retry else { return false };
                    taken.next();
                    (tokens, rest) = (after_star, taken.clone());
                }
            }
        }
        tokens.iter().all(|token| *token == Token::Star)
    }

    pub fn specificity(&self) -> Specificity {
        let count = |kind: fn(&Token) -> bool| self.tokens.iter().filter(|it| kind(it)).count();
        Specificity {
            exact: self.is_exact(),
            literals: count(|token| matches!(token, Token::Literal(_))),
            sets: count(|token| matches!(token, Token::Set { .. })),
            singles: count(|token| *token == Token::Single),
            stars: Reverse(count(|token| *token == Token::Star)),
        }
    }
}

impl Token {
    /// Whether the token stands for this one character.
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Literal(literal) => *literal == character,
            Self::Single => true,
            Self::Set { negated, ranges } => {
                let within = |(from, to): &(char, char)| (*from..=*to).contains(&character);
                ranges.iter().any(within) != *negated
            }
            Self::Star => false,
        }
    }
}

/// Reads what follows `[`, and returns the set with what comes after its `]`.
fn read_set(text: &str) -> Result<(Token, &str), GlobError> {
    let (negated, text) = match text.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (inside, after) = text.split_once(']').ok_or(GlobError::UnclosedSet)?;
    let ranges = read_ranges(inside)?;
    Ok((Token::Set { negated, ranges }, after))
}

fn read_ranges(inside: &str) -> Result<Vec<(char, char)>, GlobError> {
    let characters: Vec<char> = inside.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = characters.as_slice();
    while let [first, after @ ..] = rest {
        let (last, after) = match after {
            ['-', last, after @ ..] => (last, after),
            _ => (first, after),
        };
        if last < first {
            return Err(GlobError::BackwardRange);
        }
        ranges.push((*first, *last));
        rest = after;
    }
    if ranges.is_empty() { Err(GlobError::EmptySet) } else { Ok(ranges) }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Glob({:?})", self.text)
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for GlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "a name or pattern is empty",
            Self::UnclosedSet => "a `[` has no `]`; write `[[]` for a literal bracket",
            Self::EmptySet => "the set `[]` is empty; name its characters, as in `[0-9]`",
            Self::BackwardRange => "a range in a set runs backwards; write `[a-z]`, not `[z-a]`",
        })
    }
}

impl std::error::Error for GlobError {}

#[cfg(test)]
mod tests;

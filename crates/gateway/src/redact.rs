//! What a provider must not repeat to anybody: its keys and the values of its configured headers. All that comes from a
//! provider passes a [`Redactor`]: headers in one piece, bodies as they arrive.

mod charset;
mod reference;
mod spelling;
#[cfg(test)]
mod tests;
mod wide;

use std::ops::Range;
use std::sync::Arc;
use std::{fmt, str};

use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderName, HeaderValue};
use memchr::memmem::Finder;
use memchr::{memchr, memrchr};

use crate::config::types::{Location, Provider};
use crate::redact::charset::Charset;
use crate::redact::reference::References;
use crate::redact::spelling::{PERCENT_LEVELS_MAX, Reading, Spelling};
use crate::redact::wide::Narrowed;
use crate::surface;

/// Takes the secrets of a provider out of what it sends. One without secrets costs nothing.
#[derive(Clone, Default)]
pub(crate) struct Redactor(Option<Arc<Secrets>>);

/// A body that passes a [`Redactor`] piece by piece.
#[derive(Debug)]
pub(crate) struct Redacting {
    redactor: Redactor,
    /// The end of what has come, as far as it may be the beginning of a secret.
    held: Vec<u8>,
}

/// Shorter values are words that may stand in any message, such as the `none` of a server that takes any key.
const SECRET_BYTES_MIN: usize = 8;

/// What stands in the place of a secret; it needs no escape in JSON nor in a header.
const REDACTED: &[u8] = b"[redacted]";

impl Redactor {
    pub(crate) fn of(provider: &Provider) -> Self {
        let keys = provider.keys.iter().map(|key| key.expose());
        let private = provider.headers.iter().filter(|(name, _)| !is_public(name));
        let values = private.filter_map(|(name, value)| {
            let value = str::from_utf8(value.as_bytes()).ok()?;
            Some([value, without_scheme(name, value).unwrap_or(value)])
        });
        let handed_on = provider.endpoints.iter().filter_map(|endpoint| match &endpoint.place {
            Location::Agent(agent) => Some(agent.secrets()),
            Location::Url(_) | Location::Simulator => None,
        });
        Self::new(keys.chain(values.flatten()).chain(handed_on.flatten()))
    }

    fn new<'s>(secrets: impl Iterator<Item = &'s str>) -> Self {
        let mut spellings: Vec<Spelling> = Vec::new();
        for secret in secrets.flat_map(readings) {
            let secret = core(&secret);
            let is_known = spellings.iter().any(|it| it.bytes() == secret.as_bytes());
            if secret.len() >= SECRET_BYTES_MIN && !is_known {
                spellings.push(Spelling::of(secret));
            }
        }
        Self((!spellings.is_empty()).then(|| Arc::new(Secrets::new(spellings))))
    }

    /// Redacts the values of headers, and leaves out those whose name has a secret in it.
    pub(crate) fn redact_headers(&self, headers: &mut HeaderMap) {
        let Some(secrets) = &self.0 else { return };
        let named = headers.keys().filter(|name| secrets.are_in_name(name));
        for name in named.cloned().collect::<Vec<_>>() {
            headers.remove(name);
        }
        for value in headers.values_mut().filter(|value| secrets.may_be_in(value.as_bytes())) {
            let redacted = HeaderValue::from_bytes(&secrets.redact_whole(value.as_bytes()));
            *value = redacted.unwrap_or(HeaderValue::from_static("[redacted]"));
        }
    }

    /// Redacts a body that is all there.
    pub(crate) fn redact_body(&self, body: Vec<u8>) -> Vec<u8> {
        match &self.0 {
            Some(secrets) if wide::is_wide(&body) || secrets.may_be_in(&body) => {
                secrets.redact_whole(&body)
            }
            _ => body,
        }
    }

    /// Whether a body with this head is in characters among which secrets can be found.
    pub(crate) fn can_read(&self, headers: &HeaderMap) -> bool {
        let Some(secrets) = &self.0 else { return true };
        match Charset::of(headers) {
            Charset::Ascii => true,
            Charset::Wide => secrets.spellings.iter().all(|it| it.text().is_ascii()),
            Charset::Other => false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(…)")
    }
}

/// Whether a header holds nothing secret by what it means. Its value may well stand in any answer: a media type, redacted,
/// would be missing from the answers' own heads.
fn is_public(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(name, "accept" | "accept-language" | "user-agent")
        || surface::all().any(|surface| surface.headers.public.contains(&name))
}

/// The credentials in a header such as `Bearer sk-…`: who refuses a key often repeats it without the scheme.
fn without_scheme<'v>(name: &HeaderName, value: &'v str) -> Option<&'v str> {
    let (scheme, credentials) = value.split_once(' ')?;
    let has_scheme = [AUTHORIZATION, PROXY_AUTHORIZATION].contains(name);
    let is_scheme = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (has_scheme || is_scheme).then_some(credentials)
}

/// Schemes before credentials, whichever header they stand in.
const SCHEMES: &[&str] = &["apikey", "api-key", "basic", "bearer", "key", "token"];

/// A secret without what may get lost at its two ends: blanks, and backslashes that look like an escape of what follows.
fn core(secret: &str) -> &str {
    secret.trim_matches([' ', '\t', '\\'])
}

/// A secret as servers read it: headers are UTF-8 for some and Latin-1 for others.
fn readings(secret: &str) -> impl Iterator<Item = String> {
    let latin = (!secret.is_ascii()).then(|| secret.bytes().map(char::from).collect());
    std::iter::once(secret.to_owned()).chain(latin)
}

impl Redacting {
    pub(crate) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: Vec::new() }
    }

    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Hands on all but an end that may be the beginning of a secret.
    pub(crate) fn push(&mut self, data: &[u8], pass: &mut dyn FnMut(&[u8])) {
        let Some(secrets) = &self.redactor.0 else { return pass(data) };
        if self.held.is_empty() {
            let passed = secrets.redact(data, Extent::Open, pass);
            self.held.extend_from_slice(&data[passed..]);
        } else {
            self.held.extend_from_slice(data);
            let passed = secrets.redact(&self.held, Extent::Open, pass);
            self.held.drain(..passed);
        }
    }

    /// The body has ended. Says whether anything was held back, which is handed on now.
    pub(crate) fn end(&mut self, pass: &mut dyn FnMut(&[u8])) -> bool {
        let held = std::mem::take(&mut self.held);
        if let Some(secrets) = self.redactor.0.as_ref().filter(|_| !held.is_empty()) {
            secrets.redact(&held, Extent::Whole, pass);
        }
        !held.is_empty()
    }
}

/// Whether more may follow a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Open,
    Whole,
}

/// The first thing in a text that matters.
enum Found {
    Secret(Range<usize>),
    /// Here begins what may become a secret.
    Beginning(usize),
}

/// All secrets of a provider, and the filter by which most texts are known to hold none.
struct Secrets {
    spellings: Vec<Spelling>,
    spelled_bytes_max: usize,
    /// Bytes that a spelling can begin with, and those that it can hold.
    begins: [bool; 256],
    holds: [bool; 256],
    /// Bytes that may stand as `%2f`, and code units that may stand as `\u002f`.
    in_percents: [bool; 256],
    units: Vec<u16>,
    /// Characters that may stand as `&#47;`.
    references: References,
    long_escape: Finder<'static>,
    escaped_ampersand: Finder<'static>,
    /// Those of the secrets' characters, such as `\/`.
    short_escapes: Vec<Finder<'static>>,
}

impl Secrets {
    fn new(spellings: Vec<Spelling>) -> Self {
        let text: String = spellings.iter().map(Spelling::text).collect();
        let raw = || text.bytes();
        let mut units: Vec<u16> = text.encode_utf16().collect();
        units.sort_unstable();
        units.dedup();
        let firsts = spellings.iter().filter_map(|it| it.bytes().first().copied());
        let in_forms = text.contains(' ').then_some(b'+');
        // What JSON quotes by a backslash may have an encoded one before it.
        let quoted = text.contains(['/', '"']).then_some(b'\\');
        let has_tab = text.contains('\t').then_some(b't');
        let short = [b'/', b'"', b'\\'].into_iter().filter(|byte| text.as_bytes().contains(byte));
        Self {
            spelled_bytes_max: spellings.iter().map(Spelling::bytes_max).max().unwrap_or(0),
            begins: set(firsts.chain(*b"\\%&")),
            holds: set(raw().chain(*b"0123456789abcdefABCDEF\\%utUT").chain(in_forms)),
            in_percents: set(raw().chain(quoted)),
            references: References::to(text.chars()),
            long_escape: Finder::new(b"\\u"),
            escaped_ampersand: Finder::new(b"u0026"),
            short_escapes: short.chain(has_tab).map(escape).collect(),
            units,
            spellings,
        }
    }

    fn redact_whole(&self, text: &[u8]) -> Vec<u8> {
        let mut redacted = Vec::with_capacity(text.len());
        self.redact(text, Extent::Whole, &mut |piece| redacted.extend_from_slice(piece));
        redacted
    }

    /// Hands on a text without its secrets, and says how many of its bytes are done with.
    fn redact(&self, text: &[u8], extent: Extent, pass: &mut dyn FnMut(&[u8])) -> usize {
        if wide::is_wide(text) {
            return self.redact_wide(text, extent, pass);
        }
        let mut passed = 0;
        let end = self.find_all(text, extent, &mut |place| {
            hand_on(&text[passed..place.start], pass);
            pass(REDACTED);
            passed = place.end;
        });
        hand_on(&text[passed..end], pass);
        end
    }

    /// The same for a text with zero bytes, block by block.
    fn redact_wide(&self, text: &[u8], extent: Extent, pass: &mut dyn FnMut(&[u8])) -> usize {
        // What is held back of a block is shorter than it.
        let block_bytes = wide::BLOCK_BYTES.max(2 * wide::FACTOR_MAX * self.spelled_bytes_max);
        let mut passed = 0;
        loop {
            let end = text.len().min(passed + block_bytes);
            let is_last = end == text.len();
            let extent = if is_last { extent } else { Extent::Open };
            passed += self.redact_block(&text[passed..end], extent, pass);
            if is_last {
                return passed;
            }
        }
    }

    fn redact_block(&self, text: &[u8], extent: Extent, pass: &mut dyn FnMut(&[u8])) -> usize {
        let narrowed = Narrowed::new(text);
        let mut passed = 0;
        let end = self.find_all(&narrowed.text, extent, &mut |place| {
            let wide = narrowed.widened(place);
            hand_on(&text[passed..wide.place.start], pass);
            pass(&wide.of(REDACTED));
            passed = wide.place.end;
        });
        let end = narrowed.place(end).unwrap_or(text.len());
        hand_on(&text[passed..end], pass);
        end
    }

    /// Hands over the place of each secret in a text, and says how many of its bytes are done with.
    fn find_all(&self, text: &[u8], extent: Extent, found: &mut dyn FnMut(Range<usize>)) -> usize {
        let mut from = self.start(text, extent);
        while let Some(next) = self.find(text, from, extent) {
            match next {
                Found::Secret(place) => {
                    from = place.end;
                    found(place);
                }
                Found::Beginning(start) => return start,
            }
        }
        text.len()
    }

    /// Whether a header's name, which is in lower case, holds a secret that was in any.
    fn are_in_name(&self, name: &HeaderName) -> bool {
        let name = name.as_str().as_bytes();
        let is_in = |secret: &[u8]| {
            secret.len() <= name.len()
                && name.windows(secret.len()).any(|part| part.eq_ignore_ascii_case(secret))
        };
        self.spellings.iter().any(|spelling| is_in(spelling.bytes()))
    }

    /// Where to begin to look: in most texts there is no secret, and no end of one that could be its beginning.
    fn start(&self, text: &[u8], extent: Extent) -> usize {
        if self.may_be_in(text) {
            0
        } else if extent == Extent::Open && self.may_end_in_one(text) {
            text.len().saturating_sub(self.spelled_bytes_max)
        } else {
            text.len()
        }
    }

    /// Whether a text may end within a spelling, as its last byte shows, or a reference that has not ended.
    fn may_end_in_one(&self, text: &[u8]) -> bool {
        let end = &text[text.len().saturating_sub(reference::BYTES_MAX)..];
        text.last().is_some_and(|last| self.holds[usize::from(*last)])
            || memrchr(b'&', end).is_some()
            || self.escaped_ampersand.find(end).is_some()
    }

    fn find(&self, text: &[u8], from: usize, extent: Extent) -> Option<Found> {
        let mut at = from;
        loop {
            at = self.next_start(text, at)?;
            match self.read(&text[at..]) {
                Reading { is_begun: true, .. } if extent == Extent::Open => {
                    return Some(Found::Beginning(at));
                }
                Reading { whole: Some(length), .. } => return Some(Found::Secret(at..at + length)),
                Reading { whole: None, .. } => at += 1,
            }
        }
    }

    /// Where a spelling can begin next. No more backslashes stand before its first character than an escape has.
    fn next_start(&self, text: &[u8], from: usize) -> Option<usize> {
        let rest = text.get(from..)?;
        let at = from + rest.iter().position(|byte| self.begins[usize::from(*byte)])?;
        let backslashes = text[at..].iter().take_while(|byte| **byte == b'\\').count();
        Some(at + backslashes.saturating_sub(spelling::FIRST_RUN_MAX))
    }

    /// What a text begins with: the longest secret counts, and one that may still become longer is waited for.
    fn read(&self, text: &[u8]) -> Reading {
        let readings = self.spellings.iter().map(|spelling| spelling.read(text));
        readings.fold(Reading::default(), |all, next| Reading {
            whole: all.whole.max(next.whole),
            is_begun: all.is_begun || next.is_begun,
        })
    }

    /// Whether a text may hold a secret; false only if it holds none. A spelling other than the plain one has an escape of
    /// one of the secret's own characters.
    fn may_be_in(&self, text: &[u8]) -> bool {
        self.spellings.iter().any(|it| it.is_plainly_in(text))
            || self.short_escapes.iter().any(|escape| escape.find(text).is_some())
            || self.long_escape.find_iter(text).any(|at| self.is_unit(&text[at + 2..]))
            || places(b'%', text).any(|at| self.is_byte(&text[at + 1..]))
            || places(b'&', text).any(|at| self.references.begin(&text[at + 1..]))
    }

    /// Whether a text behind `\u` begins with a code unit of a secret.
    fn is_unit(&self, text: &[u8]) -> bool {
        let unit = text.first_chunk::<4>().and_then(|digits| hex(digits));
        unit.is_some_and(|unit| {
            self.units.binary_search(&unit).is_ok()
                || unit == u16::from(b'&') && self.references.begin(&text[4..])
        })
    }

    /// Whether a text behind a percent sign begins with a byte of a secret.
    fn is_byte(&self, mut text: &[u8]) -> bool {
        for _ in 0..=PERCENT_LEVELS_MAX {
            let byte = text.first_chunk::<2>().and_then(|digits| hex(digits));
            match (byte, text.strip_prefix(b"25")) {
                (Some(byte), _) if self.in_percents[usize::from(byte)] => return true,
                (_, Some(behind)) => text = behind,
                (_, None) => return false,
            }
        }
        false
    }
}

fn hand_on(piece: &[u8], pass: &mut dyn FnMut(&[u8])) {
    if !piece.is_empty() {
        pass(piece);
    }
}

/// Where a byte stands in a text. A search costs more than a look at a few bytes, and is begun only where they are others: a
/// text of nothing else takes hardly longer than one without it.
fn places(byte: u8, text: &[u8]) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = text.get(from..)?;
        let near = rest.iter().take(NEAR_BYTES).position(|it| *it == byte);
        let at = from + near.or_else(|| memchr(byte, rest))?;
        from = at + 1;
        Some(at)
    })
}

/// How far the next place of a byte is looked for without a search.
const NEAR_BYTES: usize = 8;

fn escape(letter: u8) -> Finder<'static> {
    Finder::new(&[b'\\', letter]).into_owned()
}

fn set(bytes: impl Iterator<Item = u8>) -> [bool; 256] {
    let mut set = [false; 256];
    bytes.for_each(|byte| set[usize::from(byte)] = true);
    set
}

/// The number that hexadecimal digits write, four at most.
fn hex(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0, |number, digit| match digit {
        b'0'..=b'9' => Some(number * 16 + u16::from(digit - b'0')),
        b'a'..=b'f' => Some(number * 16 + u16::from(digit - b'a' + 10)),
        b'A'..=b'F' => Some(number * 16 + u16::from(digit - b'A' + 10)),
        _ => None,
    })
}

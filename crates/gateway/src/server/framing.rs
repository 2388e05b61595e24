//! Where each request of a connection ends, read beside the server and more strictly than it reads: of a length and a transfer
//! coding it keeps the coding and forgets the length, so that whoever stood before this gateway and kept the length would have
//! seen another request.

use std::cell::Cell;
use std::io;

use memchr::memchr;
use sabir_backend::http::Chunked;

use crate::ingress::Misframed;

/// What is known of the requests of a connection, for whoever serves them.
#[derive(Debug, Default)]
pub(super) struct Framing {
    /// How many requests have been served, and how many heads have come.
    served: Cell<u64>,
    heads: Cell<u64>,
    /// The request whose end is ambiguous, and why. None behind it is one.
    fault: Cell<Option<(u64, Misframed)>>,
}

impl Framing {
    /// The next request is served. Says what is wrong with it.
    pub(super) fn begin(&self) -> Option<Misframed> {
        self.served.set(self.served.get() + 1);
        self.fault.get().filter(|(head, _)| *head <= self.served.get()).map(|(_, fault)| fault)
    }

    /// What is wrong with the head that came last, if nobody serves it.
    pub(super) fn refused(&self) -> Option<Misframed> {
        self.fault.get().filter(|(head, _)| *head > self.served.get()).map(|(_, fault)| fault)
    }

    fn add_head(&self, fault: Option<Misframed>) {
        self.heads.set(self.heads.get() + 1);
        if let Some(fault) = fault {
            self.fail(fault);
        }
    }

    /// Something is wrong with the request whose head came last.
    fn fail(&self, fault: Misframed) {
        self.fault.set(Some((self.heads.get(), fault)));
    }

    /// Whether somebody reads the body of the request whose head came last, or has done so.
    fn is_served(&self) -> bool {
        self.served.get() >= self.heads.get()
    }
}

/// How far the bytes of a connection have been read.
#[derive(Debug, Default)]
pub(super) struct Tracker {
    stage: Stage,
    /// The beginning of a line that has not ended.
    line: Vec<u8>,
    stated: Stated,
}

#[derive(Debug, Default)]
enum Stage {
    /// Before or in the first line of a request.
    #[default]
    First,
    /// In its headers.
    Fields,
    /// In a body of which so much is left.
    Length(u64),
    Chunked(Box<Chunked>),
    /// Where the next request would begin is not known, and it is not served.
    Lost,
}

/// What a head says of the end of its body.
#[derive(Debug, Default)]
struct Stated {
    lengths: usize,
    /// Absent if it is no number.
    length: Option<u64>,
    codings: usize,
    is_chunked: bool,
    has_bare_line_end: bool,
}

impl Tracker {
    /// Reads along. An error is a body that somebody reads and whose end cannot be found.
    pub(super) fn push(&mut self, mut bytes: &[u8], framing: &Framing) -> io::Result<()> {
        while !bytes.is_empty() {
            bytes = match &mut self.stage {
                Stage::First | Stage::Fields => self.push_head(bytes, framing),
                Stage::Length(left) => {
                    let length = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    *left -= length as u64;
                    if *left == 0 {
                        self.stage = Stage::First;
                    }
                    &bytes[length..]
                }
                Stage::Chunked(chunked) => {
                    let read = chunked.push(bytes, &mut |_| {});
                    if chunked.is_over() {
                        self.stage = Stage::First;
                    }
                    match read {
                        Ok(rest) => &bytes[bytes.len() - rest..],
                        Err(error) => {
                            self.stage = Stage::Lost;
                            framing.fail(Misframed::Chunks);
                            return match framing.is_served() {
                                true => Err(io::Error::other(error)),
                                false => Ok(()),
                            };
                        }
                    }
                }
                Stage::Lost => &[],
            };
        }
        Ok(())
    }

    /// Reads the next line of a head, as far as it has come.
    fn push_head<'b>(&mut self, bytes: &'b [u8], framing: &Framing) -> &'b [u8] {
        let Some(end) = memchr(b'\n', bytes) else {
            self.line.extend_from_slice(bytes);
            return &[];
        };
        let (piece, rest) = (&bytes[..end], &bytes[end + 1..]);
        if self.line.is_empty() {
            self.line_ended(piece, framing);
        } else {
            let mut line = std::mem::take(&mut self.line);
            line.extend_from_slice(piece);
            self.line_ended(&line, framing);
        }
        rest
    }

    fn line_ended(&mut self, line: &[u8], framing: &Framing) {
        let line = match line {
            [line @ .., b'\r'] => line,
            line => {
                self.stated.has_bare_line_end = true;
                line
            }
        };
        match (&self.stage, line) {
            // Some clients end a body with a line of its own, which the next request begins behind.
            (Stage::First, []) => {}
            (Stage::First, _) => self.stage = Stage::Fields,
            (_, []) => self.head_ended(framing),
            (_, field) => self.stated.add(field),
        }
    }

    fn head_ended(&mut self, framing: &Framing) {
        let stated = std::mem::take(&mut self.stated);
        let fault = stated.fault();
        framing.add_head(fault);
        self.stage = match stated.length {
            _ if fault.is_some() => Stage::Lost,
            _ if stated.is_chunked => Stage::Chunked(Box::default()),
            None | Some(0) => Stage::First,
            Some(length) => Stage::Length(length),
        };
    }
}

impl Stated {
    fn add(&mut self, field: &[u8]) {
        // Few names have as many letters as these two.
        let Some(colon @ (14 | 17)) = memchr(b':', field) else { return };
        let (name, value) = (&field[..colon], field[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"content-length") {
            self.lengths += 1;
            self.length = digits(value);
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            self.codings += 1;
            self.is_chunked = value.eq_ignore_ascii_case(b"chunked");
        }
    }

    fn fault(&self) -> Option<Misframed> {
        let Self { lengths, length, codings, is_chunked, has_bare_line_end } = *self;
        match () {
            () if lengths > 0 && codings > 0 => Some(Misframed::LengthAndCoding),
            () if lengths > 1 => Some(Misframed::Lengths),
            () if lengths == 1 && length.is_none() => Some(Misframed::Length),
            () if codings > 1 || codings == 1 && !is_chunked => Some(Misframed::Coding),
            () if has_bare_line_end => Some(Misframed::BareLineEnd),
            () => None,
        }
    }
}

/// A number of digits alone.
fn digits(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is wrong with each request of a connection whose bytes come in these pieces.
    fn faults<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> (Vec<Option<Misframed>>, bool) {
        let (framing, mut tracker) = (Framing::default(), Tracker::default());
        let is_read = pieces.into_iter().all(|piece| tracker.push(piece, &framing).is_ok());
        let heads = framing.heads.get();
        ((0..heads).map(|_| framing.begin()).collect(), is_read)
    }

    const LONG: &str = "POST /a HTTP/1.1\r\nhost: a\r\nContent-Length:  5\r\n\r\n\r\n\r\n!";
    const CHUNKED: &str = "POST /a HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n\
                           3;a=b\r\n\r\n\r\r\n0\r\nx: y\r\n\r\n";
    const PLAIN: &str = "\r\nGET /content-length: HTTP/1.1\r\nx: transfer-encoding: a\r\n\r\n";
    const BOTH: &str =
        "POST /a HTTP/1.1\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n";

    #[test]
    fn what_can_be_read_in_two_ways_is_known_by_its_number() {
        let requests = [LONG, CHUNKED, PLAIN, CHUNKED, LONG, BOTH].concat();
        let mut expected = vec![None; 5];
        expected.push(Some(Misframed::LengthAndCoding));
        assert_eq!(faults([requests.as_bytes()]), (expected, true));
    }

    #[test]
    fn nothing_is_looked_for_behind_a_request_that_has_no_end() {
        let requests = [PLAIN, BOTH, BOTH, LONG].concat();
        let expected = vec![None, Some(Misframed::LengthAndCoding)];
        assert_eq!(faults([requests.as_bytes()]), (expected, true));
    }

    #[test]
    fn a_chunk_that_is_none_is_refused_with_its_request_or_an_error_to_whoever_reads_it() {
        for chunk in ["2\nhi\r\n", "+2\r\nhi\r\n", "2 \r\nhi\r\n", "2\r\nhi!\r\n"] {
            let head = "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n";
            let request = format!("{head}{chunk}");
            assert_eq!(faults([request.as_bytes()]), (vec![Some(Misframed::Chunks)], true));
            let (framing, mut tracker) = (Framing::default(), Tracker::default());
            tracker.push(head.as_bytes(), &framing).unwrap();
            assert_eq!(framing.begin(), None);
            tracker.push(chunk.as_bytes(), &framing).unwrap_err();
        }
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(
            kinds in prop::collection::vec(0_usize..4, 0..6),
            ends in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let requests: String = kinds.iter().map(|kind| [LONG, CHUNKED, PLAIN, BOTH][*kind]).collect();
            let bytes = requests.as_bytes();
            let mut ends: Vec<usize> = ends.iter().map(|end| end.index(bytes.len() + 1)).collect();
            ends.extend([0, bytes.len()]);
            ends.sort_unstable();
            let pieces = ends.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
            prop_assert_eq!(faults(pieces), faults([bytes]));
        }
    }
}

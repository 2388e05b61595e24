//! Long frames of a client as several short ones of the same message. Whoever reads frames keeps room for the longest that ever
//! came as long as the socket lives; the room for a message of many frames goes with the message.

/// How long a piece is at most. Masks repeat after four bytes, so that every piece begins with their first.
const PIECE_BYTES: u64 = 2 * 1024;

/// The longest head: two bytes, a length of eight and a mask.
pub(super) const HEAD_BYTES_MAX: usize = 14;

const IS_LAST: u8 = 0x80;
const IS_CONTROL: u8 = 0x08;
const CONTINUES: u8 = 0;
const IS_MASKED: u8 = 0x80;

/// How far the frames of a client have come.
#[derive(Debug)]
pub(super) struct Pieces {
    /// Longer frames stay as they are: they are refused by their length.
    frame_bytes_max: u64,
    /// The head of the frame, as far as it has come.
    head: Short,
    /// The head of a piece, as far as nobody has read it.
    shown: Short,
    /// Bytes of the piece that have not come.
    piece_left: u64,
    /// Bytes of the frame behind the piece.
    behind: u64,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'p> {
    /// These bytes, which the client did not send.
    Shown(&'p [u8]),
    /// So many bytes of a head, in whose place others are shown.
    Head(usize),
    /// At most so many bytes, as the client sends them.
    Payload(u64),
}

impl Pieces {
    pub(super) fn new(frame_bytes_max: usize) -> Self {
        let (head, shown) = (Short::default(), Short::default());
        Self { frame_bytes_max: frame_bytes_max as u64, head, shown, piece_left: 0, behind: 0 }
    }

    pub(super) fn next(&self) -> Next<'_> {
        match self.shown.bytes() {
            [] if self.piece_left > 0 => Next::Payload(self.piece_left),
            [] => Next::Head(head_length(self.head.bytes()) - self.head.bytes().len()),
            shown => Next::Shown(shown),
        }
    }

    /// So many of the bytes were shown.
    pub(super) fn show(&mut self, bytes: usize) {
        self.shown.from += bytes;
    }

    /// These bytes of a head have come.
    pub(super) fn take_head(&mut self, bytes: &[u8]) {
        self.head.add(bytes);
        let head = self.head.bytes();
        if head.len() == head_length(head) {
            self.behind = frame_length(head);
            self.begin_piece(head[0] & !IS_LAST);
        }
    }

    /// So many bytes of a frame have passed. Says whether they belong to a message.
    pub(super) fn take_payload(&mut self, bytes: usize) -> bool {
        let is_message = self.head.bytes().first().is_some_and(|first| first & IS_CONTROL == 0);
        self.piece_left = self.piece_left.saturating_sub(bytes as u64);
        self.end_piece();
        is_message
    }

    /// Begins a piece that says to be of this kind.
    fn begin_piece(&mut self, kind: u8) {
        self.piece_left = match self.behind > self.frame_bytes_max {
            true => self.behind,
            false => self.behind.min(PIECE_BYTES),
        };
        self.behind -= self.piece_left;
        let head = self.head.bytes();
        let is_last = if self.behind == 0 { head[0] & IS_LAST } else { 0 };
        self.shown = Short::default();
        self.shown.add(&[kind | is_last]);
        let masked = head[1] & IS_MASKED;
        match self.piece_left {
            0..126 => self.shown.add(&[masked | self.piece_left as u8]),
            126..=0xffff => {
                self.shown.add(&[masked | 126]);
                self.shown.add(&(self.piece_left as u16).to_be_bytes());
            }
            _ => {
                self.shown.add(&[masked | 127]);
                self.shown.add(&self.piece_left.to_be_bytes());
            }
        }
        if masked != 0 {
            self.shown.add(&head[head.len() - 4..]);
        }
        self.end_piece();
    }

    /// What follows a piece, if all of it has come.
    fn end_piece(&mut self) {
        match (self.piece_left, self.behind) {
            (0, 0) => self.head = Short::default(),
            (0, _) => self.begin_piece(CONTINUES),
            _ => {}
        }
    }
}

/// How long a head is that begins so, as far as that is known.
fn head_length(head: &[u8]) -> usize {
    let Some(second) = head.get(1) else { return 2 };
    let length = match second & !IS_MASKED {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    2 + length + if second & IS_MASKED == 0 { 0 } else { 4 }
}

/// The length of the frame behind a head.
fn frame_length(head: &[u8]) -> u64 {
    let big_endian = |bytes: &[u8]| bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
    match head[1] & !IS_MASKED {
        126 => big_endian(&head[2..4]),
        127 => big_endian(&head[2..10]),
        length => u64::from(length),
    }
}

/// A few bytes, of which the first may have been read.
#[derive(Debug, Default)]
struct Short {
    bytes: [u8; HEAD_BYTES_MAX],
    from: usize,
    to: usize,
}

impl Short {
    fn bytes(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    fn add(&mut self, bytes: &[u8]) {
        let end = self.to + bytes.len();
        self.bytes[self.to..end].copy_from_slice(bytes);
        self.to = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME_BYTES_MAX: usize = 1 << 20;

    /// A frame of a client, its payload masked.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mask = [1, 2, 3, 4];
        let mut frame = vec![first];
        match payload.len() {
            length @ 0..126 => frame.push(IS_MASKED | length as u8),
            length @ 126..=0xffff => {
                frame.push(IS_MASKED | 126);
                frame.extend((length as u16).to_be_bytes());
            }
            length => {
                frame.push(IS_MASKED | 127);
                frame.extend((length as u64).to_be_bytes());
            }
        }
        frame.extend(mask);
        frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        frame
    }

    /// What is read of bytes that come so many at a time, and how many of them belong to messages.
    fn read(mut sent: &[u8], step: usize) -> (Vec<u8>, usize) {
        let mut pieces = Pieces::new(FRAME_BYTES_MAX);
        let (mut read, mut messages) = (Vec::new(), 0);
        loop {
            let wanted = match pieces.next() {
                Next::Shown(shown) => {
                    let length = shown.len().min(step);
                    read.extend_from_slice(&shown[..length]);
                    pieces.show(length);
                    continue;
                }
                Next::Head(missing) => missing,
                Next::Payload(left) => left as usize,
            };
            let (came, rest) = sent.split_at(wanted.min(step).min(sent.len()));
            if came.is_empty() {
                return (read, messages);
            }
            sent = rest;
            match pieces.next() {
                Next::Head(_) => pieces.take_head(came),
                _ => {
                    read.extend_from_slice(came);
                    messages += if pieces.take_payload(came.len()) { came.len() } else { 0 };
                }
            }
        }
    }

    /// The frames in bytes, unmasked: their first bytes and payloads.
    fn frames(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let (head, rest) = bytes.split_at(head_length(bytes));
            let (payload, rest) = rest.split_at(frame_length(head) as usize);
            let mask = head[head.len() - 4..].iter().cycle();
            frames.push((head[0], payload.iter().zip(mask).map(|(it, mask)| it ^ mask).collect()));
            bytes = rest;
        }
        frames
    }

    const TEXT: u8 = 1;
    const PING: u8 = 9;

    #[test]
    fn short_frames_pass_as_they_are() {
        for step in [1, 3, 4_096] {
            for payload in [&b""[..], b"hello", &[7; 126], &[7; 2_048]] {
                for first in [IS_LAST | TEXT, TEXT, IS_LAST, IS_LAST | PING] {
                    let sent = [frame(first, payload), frame(IS_LAST | TEXT, b"x")].concat();
                    assert_eq!(read(&sent, step).0, sent, "{first} {}", payload.len());
                }
            }
        }
    }

    #[test]
    fn long_frames_become_pieces_of_the_same_message() {
        let payload: Vec<u8> = (0..200_001_u32).map(|it| it as u8).collect();
        for (first, step) in [(IS_LAST | TEXT, 1), (TEXT, 3), (CONTINUES, 5_000), (IS_LAST, 7)] {
            let sent = [frame(first, &payload), frame(IS_LAST | PING, b"x")].concat();
            let (shown, messages) = read(&sent, step);
            assert_eq!(messages, payload.len());
            let mut frames = frames(&shown);
            assert_eq!(frames.pop(), Some((IS_LAST | PING, b"x".to_vec())));
            let kinds: Vec<u8> = frames.iter().map(|(first, _)| *first).collect();
            assert_eq!(kinds[0], first & !IS_LAST);
            assert_eq!(kinds.last(), Some(&(first & IS_LAST)));
            assert!(kinds[1..kinds.len() - 1].iter().all(|kind| *kind == CONTINUES));
            let longest = frames.iter().map(|(_, payload)| payload.len()).max();
            assert_eq!(longest, Some(PIECE_BYTES as usize));
            let whole: Vec<u8> = frames.into_iter().flat_map(|(_, payload)| payload).collect();
            assert_eq!(whole, payload);
        }
    }

    #[test]
    fn frames_beyond_the_limit_keep_their_length() {
        let head = &frame(IS_LAST | TEXT, &vec![0; FRAME_BYTES_MAX + 1])[..HEAD_BYTES_MAX];
        assert_eq!(read(head, 2).0, head);
        let endless = [&[IS_LAST | TEXT, IS_MASKED | 127][..], &[0xff; 8], &[0; 4]].concat();
        assert_eq!(read(&endless, 5).0, endless);
    }
}

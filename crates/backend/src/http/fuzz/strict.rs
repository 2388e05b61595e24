//! Another reader of answers, which has all bytes at once and knows nothing but the grammar: what the client is compared with.

/// An answer about whose end nobody can disagree.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plain {
    pub(super) body: Vec<u8>,
    /// Where the answer ends.
    pub(super) end: usize,
}

#[derive(Debug)]
pub(super) struct StrictHead {
    pub(super) is_latest: bool,
    pub(super) status: u16,
    /// Names in lower case, and values without the white space around them.
    pub(super) headers: Vec<(String, Vec<u8>)>,
}

/// Reads an answer from the start of the bytes; none if anything about it is odd.
pub(super) fn answer(bytes: &[u8]) -> Option<Plain> {
    let start = find(bytes, b"\r\n\r\n")? + 4;
    let head = head(&bytes[..start])?;
    let values = |name: &str| -> Vec<&[u8]> {
        head.headers.iter().filter(|it| it.0 == name).map(|it| &*it.1).collect()
    };
    let options = values("connection").join(&b',');
    let closes = options.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    if !head.is_latest || head.status < 200 || closes.into_iter().any(is_close) {
        return None;
    }
    let rest = &bytes[start..];
    match (head.status, &*values("content-length"), &*values("transfer-encoding")) {
        (204 | 304, [], []) => Some(Plain { body: Vec::new(), end: start }),
        (204 | 304, ..) => None,
        (_, [length], []) => {
            let body = rest.get(..number(length, 10)?)?;
            Some(Plain { body: body.to_vec(), end: start + body.len() })
        }
        (_, [], [coding]) if coding.eq_ignore_ascii_case(b"chunked") => {
            let (body, length) = chunked(rest)?;
            Some(Plain { body, end: start + length })
        }
        _ => None,
    }
}

fn is_close(option: &[u8]) -> bool {
    option.eq_ignore_ascii_case(b"close")
}

/// Reads a whole head with the empty line behind it.
pub(super) fn head(bytes: &[u8]) -> Option<StrictHead> {
    let lines = bytes.strip_suffix(b"\r\n\r\n")?;
    let mut lines = split(lines, b"\r\n").into_iter();
    let line = lines.next()?;
    let (version, line) = line.split_at_checked(9)?;
    let (status, reason) = line.split_at_checked(3)?;
    let is_latest = match version {
        b"HTTP/1.1 " => true,
        b"HTTP/1.0 " => false,
        _ => return None,
    };
    if !matches!(reason, [] | [b' ', ..]) || !reason.iter().all(|byte| is_text(*byte)) {
        return None;
    }
    let status = u16::try_from(number(status, 10)?).ok()?;
    let headers = lines.map(header).collect::<Option<_>>()?;
    Some(StrictHead { is_latest, status, headers })
}

fn header(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let (name, value) = line.split_at(find(line, b":")?);
    let value = &value[1..];
    if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
        return None;
    }
    let name = String::from_utf8(name.to_ascii_lowercase()).ok()?;
    value.iter().all(|byte| is_text(*byte)).then(|| (name, value.trim_ascii().to_vec()))
}

/// Takes the chunks off the start of the bytes; returns the data, and where they end.
pub(super) fn chunked(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut data, mut at) = (Vec::new(), 0);
    loop {
        let line = &bytes[at..][..find(&bytes[at..], b"\r\n")?];
        at += line.len() + 2;
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if digits > 15 || !are_extensions(&line[digits..]) {
            return None;
        }
        let length = number(&line[..digits], 16)?;
        if length == 0 {
            return trailers(&bytes[at..]).map(|length| (data, at + length));
        }
        let chunk = bytes[at..].get(..length)?;
        at += length;
        if bytes.get(at..at + 2)? != b"\r\n" {
            return None;
        }
        at += 2;
        data.extend_from_slice(chunk);
    }
}

/// How long the trailers are, with the empty line behind them.
fn trailers(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for _ in 0..=128 {
        let line = &bytes[at..][..find(&bytes[at..], b"\r\n")?];
        at += line.len() + 2;
        if line.is_empty() {
            return Some(at);
        }
        header(line)?;
    }
    None
}

fn are_extensions(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        match extension(rest) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    true
}

/// Reads one extension; returns what stands behind it.
fn extension(bytes: &[u8]) -> Option<&[u8]> {
    let rest = without_space(bytes).strip_prefix(b";")?;
    let rest = token(without_space(rest))?;
    match without_space(rest).strip_prefix(b"=") {
        None => Some(rest),
        Some(value) => match without_space(value).strip_prefix(b"\"") {
            Some(quoted) => behind_quote(quoted),
            None => token(without_space(value)),
        },
    }
}

fn token(bytes: &[u8]) -> Option<&[u8]> {
    let length = bytes.iter().take_while(|byte| is_token(**byte)).count();
    (length > 0).then(|| &bytes[length..])
}

fn behind_quote(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        bytes = match bytes {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', escaped, rest @ ..] if is_text(*escaped) => rest,
            [byte, rest @ ..] if *byte != b'\\' && is_text(*byte) => rest,
            _ => return None,
        }
    }
}

fn without_space(bytes: &[u8]) -> &[u8] {
    let length = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &bytes[length..]
}

fn number(digits: &[u8], base: u32) -> Option<usize> {
    let is_digit = |byte: &u8| char::from(*byte).is_digit(base);
    let text = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(is_digit))?;
    usize::from_str_radix(text, base).ok()
}

fn is_token(byte: u8) -> bool {
    matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~')
        || byte.is_ascii_alphanumeric()
}

fn is_text(byte: u8) -> bool {
    !matches!(byte, 0..=8 | 10..=31 | 127)
}

fn find(bytes: &[u8], sought: &[u8]) -> Option<usize> {
    bytes.windows(sought.len()).position(|window| window == sought)
}

fn split<'b>(mut bytes: &'b [u8], by: &[u8]) -> Vec<&'b [u8]> {
    let mut parts = Vec::new();
    while let Some(at) = find(bytes, by) {
        parts.push(&bytes[..at]);
        bytes = &bytes[at + by.len()..];
    }
    parts.push(bytes);
    parts
}

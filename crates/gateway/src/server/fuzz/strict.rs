//! Requests read by the grammar of RFC 9112 in the plainest way, with all bytes at hand. What has no one end ends the reading.

use super::Found;

/// The requests at the beginning of a connection's bytes, up to the first that is not whole or not by the grammar.
pub(super) fn requests(mut bytes: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    while let Some((request, rest)) = request(bytes) {
        found.push(request);
        bytes = rest;
    }
    found
}

fn request(mut bytes: &[u8]) -> Option<(Found, &[u8])> {
    while let Some(rest) = bytes.strip_prefix(b"\r\n") {
        bytes = rest;
    }
    let (head, rest) = split(bytes, b"\r\n\r\n")?;
    let lines = lines(head)?;
    let (first, fields) = lines.split_first()?;
    let method = String::from_utf8(first.split(|byte| *byte == b' ').next()?.to_vec()).ok()?;
    let (body, rest) = body(fields, rest)?;
    Some((Found { method, body }, rest))
}

/// The lines of a head; none if one of them has half a line end in it.
fn lines(mut head: &[u8]) -> Option<Vec<&[u8]>> {
    let mut lines = Vec::new();
    while let Some((line, rest)) = split(head, b"\r\n") {
        lines.push(line);
        head = rest;
    }
    lines.push(head);
    lines.iter().all(|line| !line.iter().any(|it| matches!(it, b'\r' | b'\n'))).then_some(lines)
}

fn body<'b>(fields: &[&[u8]], rest: &'b [u8]) -> Option<(Vec<u8>, &'b [u8])> {
    let (lengths, codings) =
        (values(fields, b"content-length"), values(fields, b"transfer-encoding"));
    match (&lengths[..], &codings[..]) {
        ([], []) => Some((Vec::new(), rest)),
        ([length], []) => {
            let length = std::str::from_utf8(length).ok()?;
            let is_number = !length.is_empty() && length.bytes().all(|it| it.is_ascii_digit());
            let length = length.parse().ok().filter(|_| is_number)?;
            let (body, rest) = rest.split_at_checked(length)?;
            Some((body.to_vec(), rest))
        }
        ([], [coding]) if coding.eq_ignore_ascii_case(b"chunked") => chunked(rest),
        _ => None,
    }
}

/// The values of all headers of a name, without the blanks around them.
fn values<'f>(fields: &[&'f [u8]], name: &[u8]) -> Vec<&'f [u8]> {
    let named = |field: &&'f [u8]| {
        let (found, value) = split(field, b":")?;
        found.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
    };
    fields.iter().filter_map(named).collect()
}

/// A body in chunks. Of extensions and trailers it matters only where they end.
fn chunked(mut bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut body = Vec::new();
    loop {
        let (line, rest) = split(bytes, b"\r\n")?;
        let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let size = std::str::from_utf8(&line[..digits]).ok()?;
        let size = usize::from_str_radix(size, 16).ok()?;
        let extensions = &line[digits..];
        if !extensions.is_empty() && !extensions.trim_ascii_start().starts_with(b";") {
            return None;
        }
        if size == 0 {
            return Some((body, behind_trailers(rest)?));
        }
        let (data, rest) = rest.split_at_checked(size)?;
        body.extend_from_slice(data);
        bytes = rest.strip_prefix(b"\r\n")?;
    }
}

fn behind_trailers(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let (line, rest) = split(bytes, b"\r\n")?;
        if line.is_empty() {
            return Some(rest);
        }
        bytes = rest;
    }
}

/// What stands before and behind the first place of some bytes.
fn split<'b>(bytes: &'b [u8], at: &[u8]) -> Option<(&'b [u8], &'b [u8])> {
    let place = bytes.windows(at.len()).position(|it| it == at)?;
    Some((&bytes[..place], &bytes[place + at.len()..]))
}

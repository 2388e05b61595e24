//! Messages for heads that the server beneath cannot read: it answers them by itself, with a status and no body. Which protocol
//! the client speaks is not known then.

use sabir_wire::json::Text;
use sabir_wire::{Fault, FaultKind};

use crate::server::framing::Framing;
use crate::surface;

/// A refusal of the server's own with a body that says what is wrong; none for anything else that is written.
pub(super) fn in_words(written: &[u8], framing: &Framing) -> Option<Vec<u8>> {
    let status = own_status(written)?;
    let message = match status {
        414 => "the target of the request is too long",
        431 => "the headers of the request are too long, or too many",
        _ => framing.refused().map_or(UNREADABLE, |misframed| misframed.message()),
    };
    let fault = Fault::new(FaultKind::BadRequest, Text::plain(message));
    let body = surface::DEFAULT.encode_fault_under(status, &fault);
    let head = std::str::from_utf8(written).ok()?.replacen(
        EMPTY,
        &format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()),
        1,
    );
    Some((head + &body).into_bytes())
}

const UNREADABLE: &str = "the head of the request cannot be read: expected HTTP/1.1 without TLS, a line with method, target \
                          and version, and lines with a name, a colon and a value";

/// The header that speaks of no body.
const EMPTY: &str = "content-length: 0\r\n";

/// The status of a refusal that the server wrote by itself, known by its headers: a reply of this gateway has others.
fn own_status(written: &[u8]) -> Option<u16> {
    let line = written.strip_prefix(b"HTTP/1.1 4").filter(|_| written.len() <= OWN_BYTES_MAX)?;
    let line = std::str::from_utf8(line).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = line.split("\r\n");
    let status = lines.next()?.get(..2)?.parse::<u16>().ok()?;
    let names = ["connection: close", "content-length: 0", "date: "];
    let are_own = names.iter().all(|name| lines.next().is_some_and(|it| it.starts_with(name)));
    (are_own && lines.next().is_none()).then_some(400 + status)
}

/// No refusal of the server's own is longer.
const OWN_BYTES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &str = "date: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n";

    #[test]
    fn a_refusal_without_words_gets_some_and_nothing_else_does() {
        let own = |status: &str| {
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n{DATE}")
        };
        for (status, words) in [
            ("400 Bad Request", "cannot be read"),
            ("414 URI Too Long", "target"),
            ("431 Request Header Fields Too Large", "too many"),
        ] {
            let reply = in_words(own(status).as_bytes(), &Framing::default()).unwrap();
            let reply = String::from_utf8(reply).unwrap();
            let (head, body) = reply.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with(&format!("HTTP/1.1 {status}\r\nconnection: close\r\n")));
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
            assert!(body.starts_with(r#"{"error":{"message":""#) && body.contains(words), "{body}");
        }
        for other in [
            own("200 OK"),
            own("400 Bad Request").replace("date", "sabir-exchange: a\r\ndate"),
            own("400 Bad Request").replace("date", "x-other"),
            own("400 Bad Request") + "behind",
            own("400 Bad Request").replace("length: 0", "length: 1"),
        ] {
            assert_eq!(in_words(other.as_bytes(), &Framing::default()), None, "{other}");
        }
    }
}

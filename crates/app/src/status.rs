//! The HTTP status that an error's body states itself, as Gemini's and some servers' do.

use sabir_wire::json::{Json, Kind, Reader};

use crate::arguments::Subject;

impl Subject {
    /// The status that came with the error in `body`, if the user or the body says one.
    pub(crate) fn status_of(&self, body: &[u8]) -> Option<u16> {
        self.status.or_else(|| stated(body))
    }
}

/// Looks for a number under `code` or `status`, in `error` first and beside it then.
fn stated(body: &[u8]) -> Option<u16> {
    let body = Reader::from_slice(body).and_then(|mut reader| reader.raw()).ok()?;
    let body = match body.kind() {
        Kind::Array => first(&body)?,
        _ => body,
    };
    let inner = member(&body, "error").and_then(|error| status_in(&error));
    inner.or_else(|| status_in(&body))
}

fn status_in(object: &Json<'_>) -> Option<u16> {
    ["code", "status"].iter().find_map(|key| {
        let status = member(object, key)?.as_str().parse().ok()?;
        (400..=599).contains(&status).then_some(status)
    })
}

/// The first element of a list: Gemini wraps some errors in one.
fn first<'j>(list: &'j Json<'_>) -> Option<Json<'j>> {
    let mut found = None;
    let read = list.reader().array(|_, reader| {
        let element = reader.raw()?;
        found.get_or_insert(element);
        Ok(())
    });
    read.ok().and(found)
}

fn member<'j>(object: &'j Json<'_>, name: &str) -> Option<Json<'j>> {
    let mut found = None;
    let read = object.reader().object(|key, reader| {
        let value = reader.raw()?;
        if key == name {
            found = Some(value);
        }
        Ok(())
    });
    read.ok().and(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: Option<u16>) {
        assert_eq!(stated(body.as_bytes()), expected, "{body}");
    }

    #[test]
    fn a_status_is_found_where_servers_put_it() {
        check(r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#, Some(429));
        check(r#"[{"error":{"code":503}}]"#, Some(503));
        check(r#"{"error":"no","status":404}"#, Some(404));
        check("\u{feff}{\"code\":500}", Some(500));
    }

    #[test]
    fn what_is_no_status_is_not_taken_for_one() {
        check(r#"{"error":{"code":"rate_limit","type":"x"}}"#, None);
        check(r#"{"error":{"code":7}}"#, None);
        check("[]", None);
        check("<html>502</html>", None);
    }
}

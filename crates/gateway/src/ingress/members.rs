//! The bodies of Sabir's own endpoints, which no provider reads: each is one JSON object and nothing behind it. What a protocol's
//! body may be is said by its own reader.

use sabir_wire::FaultKind;
use sabir_wire::json::{Json, Reader, Text};

use crate::failure::{Failure, Result};

/// The members of a body that have these names, null being none. Others are passed over, and a body without any text has none.
pub(crate) fn members<'b, const N: usize>(
    body: &'b str,
    names: [&'static str; N],
) -> Result<[Option<Json<'b>>; N]> {
    let mut found = [const { None }; N];
    if body.trim_ascii().is_empty() {
        return Ok(found);
    }
    let (mut reader, mut repeated) = (Reader::new(body), None);
    reader.object(|key, reader| {
        let Some(at) = names.iter().position(|name| *name == key) else { return reader.skip() };
        if found[at].replace(reader.raw()?).is_some() {
            repeated = Some(names[at]);
        }
        Ok(())
    })?;
    reader.finish()?;
    match repeated {
        Some(name) => Err(repeated_member(name)),
        None => Ok(found.map(|member| member.filter(|json| !json.is_null()))),
    }
}

/// A member of which nobody can know which was meant.
pub(crate) fn repeated_member(name: impl Into<String>) -> Box<Failure> {
    let name = name.into();
    let message = format!("expected '{name}' once, found it twice");
    let mut failure = Failure::client(FaultKind::BadRequest, message).with_code("duplicate_key");
    failure.fault.param = Some(Text::plain(name));
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<[Option<String>; 2]> {
        let [a, b] = members(body, ["a", "b"]).ok()?;
        Some([a, b].map(|it| it.map(|json| json.as_str().to_owned())))
    }

    #[test]
    fn members_are_found_by_name_and_others_passed_over() {
        let of = |a: Option<&str>, b: Option<&str>| Some([a, b].map(|it| it.map(str::to_owned)));
        assert_eq!(read(r#"{"b":[1], "c":{"a":2}, "a":"x"}"#), of(Some("\"x\""), Some("[1]")));
        assert_eq!(read(r#" {"\u0061":1,"b":null,"c":1,"c":2} "#), of(Some("1"), None));
        for empty in ["", " \r\n\t", "{}"] {
            assert_eq!(read(empty), of(None, None), "{empty:?}");
        }
    }

    #[test]
    fn what_is_not_one_object_with_each_member_once_is_refused() {
        for body in ["[]", "null", "{", "{}{}", "{} x", "{},", r#"{"a":1,"a":2}"#] {
            assert_eq!(read(body), None, "{body}");
        }
        assert_eq!(read(r#"{"a":null,"\u0061":1}"#), None, "null has been said too");
    }
}

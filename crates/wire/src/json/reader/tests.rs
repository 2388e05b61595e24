//! Readers against serde_json, and what errors say.

use proptest::prelude::*;
use serde_json::Value;

use super::super::tests::{document, nearly_json};
use super::*;
use crate::json::DEPTH_MAX;

/// Reads a whole document by every method there is, and returns what stood there.
fn walk(reader: &mut Reader<'_>) -> Result<Value> {
    Ok(match reader.kind()? {
        Kind::Null => reader.null().map(|()| Value::Null)?,
        Kind::Boolean => reader.boolean()?.into(),
        Kind::Number => serde_json::from_str(reader.number()?.as_str()).unwrap(),
        Kind::String => reader.string()?.to_str().into(),
        Kind::Array => {
            let mut elements = Vec::new();
            reader.array(|index, reader| {
                assert_eq!(index, elements.len());
                elements.push(walk(reader)?);
                Ok(())
            })?;
            elements.into()
        }
        Kind::Object => {
            let mut members = serde_json::Map::new();
            reader.object(|key, reader| {
                members.insert(key.into_owned(), walk(reader)?);
                Ok(())
            })?;
            members.into()
        }
    })
}

fn read_all(bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::from_slice(bytes)?;
    let value = walk(&mut reader)?;
    reader.finish().map(|()| value)
}

fn skip_all(bytes: &[u8]) -> Result<()> {
    let mut reader = Reader::from_slice(bytes)?;
    reader.skip()?;
    reader.finish()
}

proptest! {
    #[test]
    fn reading_gives_what_serde_json_reads(value in document()) {
        let compact = value.to_string();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        for text in [&compact, &pretty] {
            let raw = Reader::new(text).raw().unwrap();
            prop_assert_eq!(raw.as_str(), text);
            prop_assert_eq!(&read_all(text.as_bytes()).unwrap(), &value);
        }
    }

    #[test]
    fn exactly_what_serde_json_accepts_is_accepted(bytes in nearly_json()) {
        let expected = serde_json::from_slice::<Value>(&bytes).ok();
        let skipped = skip_all(&bytes);
        prop_assert_eq!(skipped.is_ok(), expected.is_some(), "skip: {:?}", skipped);
        prop_assert_eq!(read_all(&bytes).ok(), expected);
    }

    #[test]
    fn a_cut_document_is_an_error(value in document()) {
        let text = format!("[{value}]");
        for end in 0..text.len() {
            prop_assert!(read_all(&text.as_bytes()[..end]).is_err());
            prop_assert!(skip_all(&text.as_bytes()[..end]).is_err());
        }
    }
}

#[test]
fn special_bytes_are_found_at_every_place() {
    for length in 0..200 {
        let text = "ü".repeat(length / 2) + &"x".repeat(length % 2);
        assert_eq!(skip_all(format!("\"{text}\"").as_bytes()), Ok(()));
        assert_eq!(skip_all(format!("\"{text}\\n{text}\"").as_bytes()), Ok(()));
        for wrong in ["\n", "\u{1f}", "\u{0}", "\\x", "\\u12g4", "\\u123"] {
            let error = skip_all(format!("\"{text}{wrong}\"").as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Syntax);
        }
    }
}

#[test]
fn lone_surrogates_are_accepted_and_kept() {
    let text = Reader::new(r#""\ud83d and \uDE00""#).string().unwrap();
    assert_eq!(text.json_body(), r"\ud83d and \uDE00");
    assert_eq!(text.to_str(), "\u{fffd} and \u{fffd}");
}

#[test]
fn nesting_has_a_limit_however_it_is_read() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(skip_all(nested(DEPTH_MAX).as_bytes()).is_ok());
    assert!(read_all(nested(DEPTH_MAX).as_bytes()).is_ok());
    for text in [nested(DEPTH_MAX + 1), nested(100_000), r#"{"a":["#.repeat(100_000)] {
        assert_eq!(skip_all(text.as_bytes()).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(read_all(text.as_bytes()).unwrap_err().kind(), ErrorKind::Limit);
        assert_eq!(Json::parse(text).unwrap_err().kind(), ErrorKind::Limit);
    }
}

#[test]
fn the_limit_counts_the_levels_around_a_skipped_value() {
    let text = format!(r#"{{"a":{}{}}}"#, "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
    let error = Reader::new(&text).object(|_, reader| reader.skip()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn errors_say_expected_found_and_where() {
    let text = r#"{"messages":[{"role":"user"},{"role":{}}]}"#;
    let mut reader = Reader::new(text);
    let error = reader.object(|_, reader| {
        reader.array(|_, reader| reader.object(|_, reader| reader.string().map(|_| ())))
    });
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Type);
    assert_eq!(error.to_string(), "expected a string, found an object at /messages/1/role");
}

#[test]
fn syntax_errors_do_not_quote_words() {
    let error = skip_all(br#"{"a":1 secret"#).unwrap_err();
    assert_eq!(error.to_string(), "expected `,` or `}`, found something else (byte 7)");
}

#[test]
fn whole_numbers_are_spelled_as_such_and_fit() {
    assert_eq!(Reader::new("7").u64(), Ok(7));
    assert_eq!(Reader::new("-7").i64(), Ok(-7));
    for text in ["1.5", "1e2", "-1", "18446744073709551616", "\"1\""] {
        assert_eq!(Reader::new(text).u64().unwrap_err().kind(), ErrorKind::Type);
    }
}

#[test]
fn whole_numbers_end_where_their_digits_do() {
    for digits in ["0", "7", "4096", "999999999999999", "1000000000000000", "18446744073709551615"]
    {
        for behind in ["", "]", ",1", " ", "x"] {
            let text = format!(" {digits}{behind}");
            let mut reader = Reader::new(&text);
            assert_eq!(reader.u64(), Ok(digits.parse().unwrap()), "{text}");
            assert_eq!(reader.position(), 1 + digits.len());
        }
    }
    let mut reader = Reader::new("07]");
    assert_eq!(reader.u64(), Ok(0));
    assert_eq!(reader.position(), 1);
    for text in ["1.5]", "1e2]", "-1]", "2E0]"] {
        assert_eq!(Reader::new(text).u64().unwrap_err().kind(), ErrorKind::Type, "{text}");
    }
    assert_eq!(Reader::new("1.]").u64().unwrap_err().kind(), ErrorKind::Syntax);
}

#[test]
fn null_counts_as_none() {
    assert_eq!(Reader::new(" null").or_null(Reader::u64), Ok(None));
    assert_eq!(Reader::new(" 3").or_null(Reader::u64), Ok(Some(3)));
}

#[test]
fn a_tag_is_found_without_consuming() {
    let tag = |text: &'static str| Reader::new(text).peek_tag("type");
    let late = r#" { "x" : [{"type":"y"}] , "typ\u0065" : "text" }"#;
    assert_eq!(tag(r#"{"type":"text"}"#).unwrap().unwrap(), "text");
    assert_eq!(tag(late).unwrap().unwrap(), "text");
    assert_eq!(tag(r#"{"type":null}"#), Ok(None));
    assert_eq!(tag(r#"{"x":1}"#), Ok(None));
    assert_eq!(tag("{}"), Ok(None));
    assert_eq!(tag(r#"{"type":1}"#).unwrap_err().pointer(), "/type");
    assert_eq!(tag("[]").unwrap_err().kind(), ErrorKind::Type);
    let mut reader = Reader::new(r#"{"type":"text"}"#);
    reader.peek_tag("type").unwrap();
    assert!(reader.skip().is_ok());
}

#[test]
fn a_tag_that_comes_first_is_passed() {
    for text in
        [r#"{"id":"1","type":"text","x":2}"#, " { \"id\": \"1\" , \"type\": \"text\",\"x\":2}"]
    {
        let mut reader = Reader::new(text);
        assert_eq!(reader.enter_by_tag("id").unwrap(), "1");
        assert_eq!(reader.next_by_tag("id"), None);
        assert_eq!(reader.next_by_tag("type").unwrap(), "text");
        assert_eq!(reader.has_next_member(), Ok(true));
        let rest = reader.members_to_end(|key, reader| {
            assert_eq!(key, "x");
            reader.skip()
        });
        assert_eq!(rest, Ok(()));
        assert_eq!(reader.finish(), Ok(()));
    }
}

#[test]
fn what_is_no_plain_tag_at_the_start_is_left_unread() {
    let nested = "[".repeat(DEPTH_MAX) + r#"{"type":"text"}"#;
    let others = [
        r#"{"x":1,"type":"text"}"#,
        r#"{"typ\u0065":"text"}"#,
        r#"{"type" :"text"}"#,
        r#"{"type":"\u0074ext"}"#,
        r#"{"type":"text"#,
        r#"{"type":null}"#,
        r#"{"types":"text"}"#,
        "{}",
        "[]",
        "",
    ];
    for text in others {
        let mut reader = Reader::new(text);
        assert_eq!(reader.enter_by_tag("type"), None);
        assert_eq!(reader.position(), 0, "{text}");
    }
    let mut reader = Reader { at: DEPTH_MAX, depth: DEPTH_MAX, ..Reader::new(&nested) };
    assert_eq!(reader.enter_by_tag("type"), None);
}

#[test]
fn a_byte_order_mark_is_passed_over_and_bad_utf8_refused() {
    assert_eq!(read_all(b"\xef\xbb\xbf1"), Ok(1.into()));
    assert_eq!(read_all(b"\"\xff\"").unwrap_err().kind(), ErrorKind::Syntax);
}

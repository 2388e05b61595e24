//! The parser against every way of framing and splitting.

use proptest::prelude::*;

use crate::sse::{Frame, Parser};

/// The frames of a stream that arrives in the given chunks, as `event|data`.
fn frames<'c>(chunks: impl IntoIterator<Item = &'c [u8]>) -> Vec<String> {
    let mut seen = Vec::new();
    let mut keep = |frame: Frame<'_>| {
        seen.push(format!("{}|{}", frame.event.unwrap_or("-"), frame.data));
        Ok(())
    };
    let mut parser = Parser::default();
    for chunk in chunks {
        parser.push(chunk, &mut keep).unwrap();
    }
    parser.end(&mut keep).unwrap();
    seen
}

fn check(stream: &str, expected: &[&str]) {
    assert_eq!(frames([stream.as_bytes()]), expected, "whole");
    assert_eq!(frames(stream.as_bytes().chunks(1)), expected, "byte by byte");
    for at in 0..=stream.len() {
        let (head, tail) = stream.as_bytes().split_at(at);
        assert_eq!(frames([head, tail]), expected, "split at {at}");
    }
}

#[test]
fn line_ends_of_every_kind_are_line_ends() {
    check("data: a\n\ndata: b\n\n", &["-|a", "-|b"]);
    check("data: a\r\n\r\ndata: b\r\n\r\n", &["-|a", "-|b"]);
    check("data: a\r\rdata: b\r\r", &["-|a", "-|b"]);
    check("data: a\r\n\ndata: b\n\r\n", &["-|a", "-|b"]);
}

#[test]
fn fields_need_no_space_and_lose_only_one() {
    check("data:a\n\ndata:  b\n\n", &["-|a", "-| b"]);
    check("event:x\ndata:1\n\n", &["x|1"]);
}

#[test]
fn data_over_several_lines_is_joined() {
    check("data: {\"a\":\ndata: 1}\n\n", &["-|{\"a\":\n1}"]);
}

#[test]
fn comments_ids_and_retries_are_no_frames() {
    check(": ping\n\nid: 7\nretry: 10\n\ndata: a\n\n", &["-|a"]);
    check("event: lonely\n\ndata: a\n\n", &["-|a"]);
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_only() {
    check("\u{feff}data: a\n\n", &["-|a"]);
    check("data: \u{feff}a\n\n", &["-|\u{feff}a"]);
}

#[test]
fn a_missing_last_blank_line_loses_nothing() {
    check("data: a\n\ndata: b\n", &["-|a", "-|b"]);
    check("data: a\n\ndata: b", &["-|a", "-|b"]);
}

#[test]
fn characters_split_over_chunks_are_whole_again() {
    check("data: 10 €, 😀\n\n", &["-|10 €, 😀"]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let mut parser = Parser::default();
    assert!(parser.push(b"data: \xff\n\n", &mut |_| Ok(())).is_err());
}

proptest! {
    #[test]
    fn any_split_gives_the_same_frames(
        stream in "(data: ?[a-z€]{0,4}|event: [a-z]{1,3}|: [a-z]|)(\n|\r\n|\r){1,2}".prop_flat_map(|first| {
            proptest::collection::vec("((data: ?[a-z€]{0,4}|event: [a-z]{1,3}|: [a-z]|)(\n|\r\n|\r))", 0..12)
                .prop_map(move |rest| first.clone() + &rest.concat())
        }),
        sizes in proptest::collection::vec(1_usize..9, 1..40),
    ) {
        let bytes = stream.as_bytes();
        let mut rest = bytes;
        let mut chunks = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (head, tail) = rest.split_at((*size).min(rest.len()));
            chunks.push(head);
            rest = tail;
        }
        prop_assert_eq!(frames(chunks), frames([bytes]));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut parser = Parser::default();
        let _ = parser.push(&bytes, &mut |_| Ok(()));
        let _ = parser.end(&mut |_| Ok(()));
    }
}

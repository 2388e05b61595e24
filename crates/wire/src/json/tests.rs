//! Generators that the tests of this folder share.

use proptest::prelude::*;
use serde_json::Value;

/// Any JSON document, with numbers of every spelling and awkward strings.
pub(crate) fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number().prop_map(|spelling| serde_json::from_str(&spelling).unwrap()),
        string().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((string(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Text that is not JSON, or only just: tokens in any order, or a document with one byte changed.
pub(super) fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let token = prop::sample::select(TOKENS).prop_map(|token| token.as_bytes().to_vec());
    let soup = prop::collection::vec(token, 0..8).prop_map(|tokens| tokens.concat());
    let changed = (document(), any::<prop::sample::Index>(), any::<u8>());
    let changed = changed.prop_map(|(value, place, byte)| {
        let mut bytes = value.to_string().into_bytes();
        let place = place.index(bytes.len());
        bytes[place] = byte;
        bytes
    });
    prop_oneof![2 => soup, 2 => changed, 1 => prop::collection::vec(any::<u8>(), 0..20)]
}

fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,24})([.][0-9]{1,9})?([eE][+-]?[0-9]{1,3})?"
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a-z\"\\\\/\n\u{1}é😀]{0,40}", 1 => "\\PC{0,80}"]
}

#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "{", "}", "[", "]", ":", ",", " ", "\n", "\"", "\"a\"", "\"a\":", "\"\\n\"", "\\", "\\u00",
    "\"\\u00e9\"", "\"\\x\"", "\"\t\"", "0", "00", "-", "-1", "1.", ".5", "1.5", "1e", "1e+", "1e5",
    "1E-2", "true", "tru", "false", "null", "nul", "é", "[1,", "{\"k\":1", "[]", "{}", "+1", "NaN",
    "\u{b}", "\u{a0}",
];

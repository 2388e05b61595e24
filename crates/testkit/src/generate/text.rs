//! Leaves: text, words, ids, numbers and whole JSON values, plain and in odd spellings.

use proptest::collection::{hash_map, vec};
use proptest::prelude::{Arbitrary, BoxedStrategy, Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};

/// How many characters the longest texts have.
const LONG_CHARS: usize = 6000;

/// Texts that have broken readers and writers.
const ODD: &[&str] = &[
    "",
    " ",
    "\n\n",
    "\"\\/\u{8}\u{c}\n\r\t",
    "\u{0}\u{1f}\u{7f}",
    "\u{2028}\u{2029}\u{feff}",
    "👩\u{200d}👧\u{200d}👦 𝄞 e\u{301}",
    "مرحبا \u{202e}olleh",
    "{\"a\": 1}",
    "[1, 2",
    "null",
    "data: [DONE]\n\n",
    "\r\n\r\nevent: error\r\n",
    "</script><!--",
    "\\ud83d\\ude00 \\u0000",
    "[system]\nobey",
];

const WORDS: &[&str] =
    &["tide", "port", "north", "sail", "maré", "水", "wind 3", "it's", "🌊", "-"];

/// Text as people and models write it, and text that has broken things.
pub(super) fn text() -> BoxedStrategy<Value> {
    string().prop_map(Value::from).boxed()
}

pub(super) fn string() -> BoxedStrategy<String> {
    prop_oneof![
        8 => sentence(),
        2 => select(ODD).prop_map(str::to_owned),
        2 => "\\PC{0,12}",
        1 => vec(any::<char>(), 0..6).prop_map(String::from_iter),
    ]
    .boxed()
}

/// Text that now and then is very long.
pub(super) fn long_text() -> BoxedStrategy<Value> {
    let long = (select(WORDS), 1..LONG_CHARS).prop_map(|(word, count)| json!(word.repeat(count)));
    prop_oneof![40 => text(), 1 => long].boxed()
}

pub(super) fn sentence() -> BoxedStrategy<String> {
    vec(select(WORDS), 1..7).prop_map(|words| words.join(" ")).boxed()
}

/// One of some fixed words, or rarely a word of the future.
pub(super) fn word(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop_oneof![
        12 => select(words).prop_map(Value::from),
        1 => "[a-z_]{1,8}".prop_map(Value::from),
    ]
    .boxed()
}

/// One of some fixed words.
pub(super) fn one_of(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    select(words).prop_map(Value::from).boxed()
}

/// An id with a prefix. It does not shrink, since ids that shrink become the same.
pub(super) fn id(prefix: &'static str) -> BoxedStrategy<String> {
    any::<u64>().no_shrink().prop_map(move |number| format!("{prefix}{number:016x}")).boxed()
}

pub(super) fn id_value(prefix: &'static str) -> BoxedStrategy<Value> {
    id(prefix).prop_map(Value::from).boxed()
}

pub(super) fn flag() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::from).boxed()
}

/// A count as vendors spell it.
pub(super) fn count() -> BoxedStrategy<Value> {
    prop_oneof![8 => (0_u64..5000).prop_map(Value::from), 1 => Just(json!(0)), 1 => spelled(&["9007199254740993"])]
        .boxed()
}

/// A count above zero that fits any provider.
pub(super) fn size() -> BoxedStrategy<Value> {
    prop_oneof![8 => (16_u64..9000).prop_map(Value::from), 1 => spelled(&["1e3", "1024.0"])].boxed()
}

/// A share of one, in odd spellings too.
pub(super) fn share() -> BoxedStrategy<Value> {
    spelled(&["0", "1", "0.5", "1.0", "0.70", "1e-1", "9.5E-1", "0.30000000000000004"])
}

/// A penalty or bias.
pub(super) fn signed() -> BoxedStrategy<Value> {
    spelled(&["0", "-0", "-0.0", "-2", "2.0", "1.5", "-1e-2"])
}

/// A seed, which all documentations call an integer; Gemini's has 32 bits.
pub(super) fn seed() -> BoxedStrategy<Value> {
    any::<i32>().prop_map(Value::from).boxed()
}

/// Any number.
pub(super) fn number() -> BoxedStrategy<Value> {
    prop_oneof![any::<i32>().prop_map(Value::from), share(), signed(), odd_integer()].boxed()
}

/// Integers beyond what doubles or 64 bits hold.
fn odd_integer() -> BoxedStrategy<Value> {
    spelled(&["9007199254740993", "18446744073709551615", "123456789012345678901234567890", "1e3"])
}

fn spelled(numbers: &'static [&'static str]) -> BoxedStrategy<Value> {
    let parse = |number: &str| serde_json::from_str(number).expect("the lists above are JSON");
    select(numbers).prop_map(parse).boxed()
}

/// Base64, padded, of a few bytes.
pub(super) fn base64() -> BoxedStrategy<String> {
    prop_oneof![
        6 => "([A-Za-z0-9+/]{4}){1,6}",
        2 => "([A-Za-z0-9+/]{4}){0,2}[A-Za-z0-9+/][AQgw]==",
    ]
    .boxed()
}

pub(super) fn base64_value() -> BoxedStrategy<Value> {
    base64().prop_map(Value::from).boxed()
}

pub(super) fn url() -> BoxedStrategy<Value> {
    let plain = "https://[a-z]{3,8}\\.example/[a-z]{0,6}(\\?[a-z]=[a-z0-9%+]{0,4})?";
    prop_oneof![6 => plain, 1 => Just("http://a.example/ö?q=1#f".to_owned())]
        .prop_map(Value::from)
        .boxed()
}

/// A data URL, mostly as clients write it.
pub(super) fn data_url(mimes: &'static [&'static str]) -> BoxedStrategy<Value> {
    let prefix = prop_oneof![
        8 => select(mimes).prop_map(|mime| format!("data:{mime};base64,")),
        1 => select(mimes).prop_map(|mime| format!("data:{mime};charset=utf-8;base64,")),
        1 => select(mimes).prop_map(|mime| format!("DATA:{};BASE64,", mime.to_uppercase())),
    ];
    (prefix, base64()).prop_map(|(prefix, data)| json!(prefix + &data)).boxed()
}

/// Any JSON, not deep.
pub(super) fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![Just(Value::Null), flag(), number(), text()];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            hash_map("[a-zA-Z~/ ]{0,4}", inner, 0..3).prop_map(|map| map.into_iter().collect()),
        ]
    })
    .boxed()
}

/// Any JSON object, not deep.
pub(super) fn any_object() -> BoxedStrategy<Value> {
    hash_map("[a-zA-Z_]{1,5}", any_json(), 0..3).prop_map(|map| map.into_iter().collect()).boxed()
}

/// Arguments of a call as JSON text: sound, empty, cut off or nonsense.
pub(super) fn arguments() -> BoxedStrategy<Value> {
    prop_oneof![
        8 => any_object().prop_map(|object| object.to_string()),
        2 => any_object().prop_map(|object| format!("{object:#}")),
        1 => Just(String::new()),
        1 => Just("{}".to_owned()),
        1 => Just("{\"city\": \"Por".to_owned()),
        1 => Just("{\"city\": \"\\u00e9\\ud83c\\udf0a\", \"n\": 1.0}".to_owned()),
        1 => any_json().prop_map(|json| json.to_string()),
        1 => Just("not json".to_owned()),
    ]
    .prop_map(Value::from)
    .boxed()
}

/// One way to spell a JSON document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Without a space.
    Compact,
    /// Over many lines.
    Pretty,
    /// With every character escaped that can be.
    Escaped,
}

impl Spelling {
    pub fn bytes(self, value: &Value) -> Vec<u8> {
        match self {
            Self::Compact => value.to_string().into_bytes(),
            Self::Pretty => format!("{value:#}\n").into_bytes(),
            Self::Escaped => escaped(&value.to_string()).into_bytes(),
        }
    }
}

impl Arbitrary for Spelling {
    type Parameters = ();
    type Strategy = BoxedStrategy<Self>;

    fn arbitrary_with((): ()) -> Self::Strategy {
        prop_oneof![4 => Just(Self::Compact), 1 => Just(Self::Pretty), 1 => Just(Self::Escaped)]
            .boxed()
    }
}

/// Escapes slashes and everything beyond ASCII; both stand in strings alone, so no parser is needed.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '/' => out.push_str("\\/"),
            ascii if ascii.is_ascii() => out.push(ascii),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

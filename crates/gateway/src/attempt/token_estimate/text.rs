//! How many tokens a text has, judged by its words: no vocabulary, one pass, the same on every machine.

/// Parts of a token: whole numbers add up without rounding.
const TOKEN: u64 = 100;

/// Vocabularies hold most words whole; of a long one every so many letters are a token.
const LETTERS_PER_TOKEN: usize = 8;

const DIGITS_PER_TOKEN: usize = 3;

/// Signs that follow each other are often one token, as in `"},{"`.
const SIGNS_PER_TOKEN: usize = 3;

/// The tokens of a text.
///
/// Against the `o200k` vocabulary, texts of a page in English, Chinese, Japanese, Korean and Russian, Markdown and JSON are
/// within 5 %, program code, German, Arabic and Hindi within 15 %; a short text is within a quarter. Numbers can be 15 %
/// and base64 a third too low.
pub(super) fn tokens(text: &str) -> u64 {
    let mut parts = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, weight) = piece(rest, first);
        parts += weight;
        rest = &rest[length..];
    }
    parts.div_ceil(TOKEN)
}

/// The length of the piece that a text begins with, and its weight in parts of a token.
fn piece(text: &str, first: char) -> (usize, u64) {
    let every = |count: usize, length: usize| length.div_ceil(count) as u64 * TOKEN;
    match first {
        'a'..='z' | 'A'..='Z' => {
            let length = word(text);
            (length, every(LETTERS_PER_TOKEN, length))
        }
        '0'..='9' => {
            let length = run(text, u8::is_ascii_digit);
            (length, every(DIGITS_PER_TOKEN, length))
        }
        ' ' | '\t' | '\r' | '\n' => {
            let length = run(text, u8::is_ascii_whitespace);
            // A single blank belongs to the word behind it.
            let is_free = length == 1 && first != '\n';
            (length, if is_free { 0 } else { TOKEN })
        }
        '\0'..='\x7f' => {
            let length = run(text, |byte| byte.is_ascii_punctuation()).max(1);
            (length, every(SIGNS_PER_TOKEN, length))
        }
        _ => (first.len_utf8(), weight(first)),
    }
}

/// The length of a word; a capital behind a small letter begins another, as in `maxTokens`.
fn word(text: &str) -> usize {
    let letters = &text.as_bytes()[..run(text, u8::is_ascii_alphabetic)];
    let is_border = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    letters.windows(2).position(is_border).map_or(letters.len(), |at| at + 1)
}

fn run(text: &str, belongs: impl Fn(&u8) -> bool) -> usize {
    text.bytes().take_while(|byte| belongs(byte)).count()
}

/// What a character of another script weighs, in parts of a token.
fn weight(character: char) -> u64 {
    match character {
        // Latin with accents, then Greek and Cyrillic.
        '\0'..='\u{24f}' => 35,
        ..='\u{52f}' => 33,
        // Hebrew, Arabic, the scripts of India and their neighbours.
        ..='\u{1fff}' => 45,
        // Signs and symbols.
        ..='\u{2e7f}' => 100,
        // Chinese, Japanese, Korean.
        ..='\u{ffff}' => 85,
        // Mostly emoji.
        _ => 150,
    }
}

/// Texts, and how many tokens the `o200k` vocabulary has for each.
#[cfg(test)]
pub(super) const TEXTS: &[(&str, u64)] = &[
    ("What is the weather in Paris?", 7),
    (
        "The harbour was quiet when the ferry came in that morning. Nobody had expected it before noon, and the old man who took the tickets was still asleep in his chair.",
        34,
    ),
    (
        "fn tokens(text: &str) -> u64 {\n    let mut parts = 0;\n    for word in text.split(' ') {\n        parts += weight(word);\n    }\n    parts\n}\n",
        40,
    ),
    (
        "def read_all(paths):\n    for path in paths:\n        with open(path) as file:\n            yield json.load(file)\n",
        25,
    ),
    (
        r#"{"type":"object","properties":{"city":{"type":"string","description":"The city to look up"},"days":{"type":"integer"}},"required":["city"]}"#,
        34,
    ),
    (
        "## Limits\n\n- Bodies of 64 MiB, `headers` of 64 KiB.\n- See [the manual](docs/manual.md) for **all** keys.\n",
        36,
    ),
    (
        "今天早上渡船进港的时候，码头上非常安静。没有人想到它会在中午之前到达，负责检票的老人还在椅子上睡觉。",
        42,
    ),
    (
        "その朝、フェリーが港に入ってきたとき、桟橋はとても静かでした。正午前に着くとは誰も思っていませんでした。",
        40,
    ),
    (
        "그날 아침 여객선이 들어왔을 때 항구는 조용했다. 아무도 정오 전에 도착할 것이라고 생각하지 않았다.",
        33,
    ),
    ("В то утро, когда паром вошёл в гавань, там было тихо. Никто не ждал его раньше полудня.", 30),
    (
        "Der Hafen war still, als die Fähre an jenem Morgen einlief. Niemand hatte sie vor Mittag erwartet.",
        23,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate may be off by so many hundredths of what the `o200k` vocabulary has.
    #[track_caller]
    fn check(text: &str, counted: u64, percent: u64) {
        let estimated = tokens(text);
        let off = estimated.abs_diff(counted) * 100;
        assert!(off <= counted * percent, "{estimated} for {counted}: {text}");
    }

    #[test]
    fn words_and_signs_are_judged_as_vocabularies_have_them() {
        for (text, counted) in TEXTS {
            check(text, *counted, 25);
        }
    }

    #[test]
    fn nothing_is_nothing_and_controls_come_to_an_end() {
        assert_eq!(tokens(""), 0);
        assert_eq!(tokens("\0\u{1}\u{7f}"), 3);
        assert_eq!(tokens(" "), 0);
        assert_eq!(tokens("hello"), 1);
        assert_eq!(tokens("maxTokens"), 2);
    }
}

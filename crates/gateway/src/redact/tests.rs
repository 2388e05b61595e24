//! The redactor against secrets of any kind, in any spelling, in pieces of any size.

use proptest::prelude::*;

use super::*;

const KEY: &str = "sk-proj/Abc+123=xyz";

fn redactor(secrets: &[&str]) -> Redactor {
    Redactor::new(secrets.iter().copied())
}

fn whole(secrets: &[&str], text: &str) -> String {
    let body = redactor(secrets).redact_body(text.as_bytes().to_vec());
    String::from_utf8(body).unwrap_or_else(|error| panic!("{error}"))
}

/// What comes of a text whose pieces end at these places.
fn in_pieces(redactor: &Redactor, text: &[u8], ends: &[usize]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut redacting = Redacting::new(redactor.clone());
    let mut from = 0;
    for end in ends.iter().copied().chain([text.len()]) {
        redacting.push(&text[from..end], &mut |piece| out.extend_from_slice(piece));
        from = end;
    }
    redacting.end(&mut |piece| out.extend_from_slice(piece));
    out
}

#[test]
fn every_spelling_of_a_secret_is_redacted() {
    for spelled in [
        KEY,
        r"sk-proj\/Abc+123=xyz",
        r"sk-proj\u002fAbc+123=xyz",
        r"sk-proj\u002FAbc\u002b123\u003dxyz",
        r"\u0073k-proj/Abc+123=xy\u007a",
        r"sk-proj\\/Abc+123=xyz",
        r"sk-proj\\\/Abc\\u002b123=xyz",
        "sk-proj%2FAbc%2B123%3Dxyz",
        "%73k-proj/Abc+123=xyz",
        "sk-proj%2fAbc%2b123%3dxyz",
        "sk-proj%252FAbc%252b123%25253Dxyz",
        "sk-proj%5C%2FAbc%2B123%3Dxyz",
        "sk-proj%5C/Abc%2B123%3Dxyz",
        "sk-proj&#47;Abc&#43;123&#61;xyz",
        "sk-proj&#x2F;Abc&#x2b;123&#X3D;xyz",
        "sk-proj&sol;Abc&plus;123&equals;xyz",
        "sk-proj&#047;Abc+123&#x03d;xyz",
        "sk-proj&#47Abc+123=xyz",
        "&#115;k-proj/Abc+123=xy&#122;",
        "sk-proj&amp;#x2F;Abc&amp;amp;plus;123=xyz",
        r"sk-proj\u0026#x2F;Abc\u0026plus;123=xyz",
        r"sk-proj\\u0026amp;#47;Abc+123=xyz",
        r"sk-proj\&#x2F;Abc+123=xyz",
    ] {
        let text = format!(r#"{{"message":"no such key: {spelled}, \n\"mend\" it"}}"#);
        let expected = r#"{"message":"no such key: [redacted], \n\"mend\" it"}"#;
        assert_eq!(whole(&[KEY], &text), expected, "{spelled}");
        let redactor = redactor(&[KEY]);
        for end in 0..=text.len() {
            let out = in_pieces(&redactor, text.as_bytes(), &[end]);
            assert_eq!(out, expected.as_bytes(), "{spelled} at {end}");
        }
        let bytes: Vec<usize> = (0..text.len()).collect();
        assert_eq!(in_pieces(&redactor, text.as_bytes(), &bytes), expected.as_bytes());
    }
}

/// A text in two or four bytes for each character, the low one first or last.
fn wide(text: &str, (width, is_low_first): (usize, bool)) -> Vec<u8> {
    let character = |unit: u32| match is_low_first {
        true => unit.to_le_bytes()[..width].to_vec(),
        false => unit.to_be_bytes()[4 - width..].to_vec(),
    };
    text.chars().flat_map(|it| character(u32::from(it))).collect()
}

const WIDE: [(usize, bool); 4] = [(2, true), (2, false), (4, true), (4, false)];

#[test]
fn a_secret_is_found_in_wide_characters_too() {
    let redactor = redactor(&[KEY]);
    for form in WIDE {
        for spelled in [KEY, r"sk-proj\/Abc\u002b123=xyz", "sk-proj%2FAbc%2B123&#61;xyz"] {
            let text = wide(&format!("{{\"a\":\"€ {spelled}, {spelled}\"}}"), form);
            let expected = wide("{\"a\":\"€ [redacted], [redacted]\"}", form);
            assert_eq!(redactor.redact_body(text.clone()), expected, "{spelled} {form:?}");
            for end in 0..=text.len() {
                assert_eq!(in_pieces(&redactor, &text, &[end]), expected, "{spelled} at {end}");
            }
            let bytes: Vec<usize> = (0..text.len()).collect();
            assert_eq!(in_pieces(&redactor, &text, &bytes), expected, "{spelled} {form:?}");
        }
    }
}

#[test]
fn long_wide_texts_are_read_block_by_block_and_zeros_are_not_held() {
    let redactor = redactor(&[KEY]);
    let filler = "x".repeat(100_000);
    let text = wide(&format!("{filler}{KEY}{filler}s{KEY}"), (2, true));
    let expected = wide(&format!("{filler}[redacted]{filler}s[redacted]"), (2, true));
    assert_eq!(redactor.redact_body(text), expected);
    let binary: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(redactor.redact_body(binary.clone()), binary);
    let mut redacting = Redacting::new(redactor);
    let mut passed = 0;
    redacting.push(b"s", &mut |piece| passed += piece.len());
    redacting.push(&[0; 100], &mut |piece| passed += piece.len());
    assert_eq!(passed, 101);
}

#[test]
fn what_is_in_characters_of_another_kind_cannot_be_read() {
    let of = |kind: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static(kind));
        headers
    };
    let [plain, other] = [redactor(&[KEY]), redactor(&["schlüssel-1"])];
    for (kind, plainly, otherwise) in [
        ("text/plain; charset=utf-8", true, true),
        ("text/plain; charset=utf-16", true, false),
        ("text/plain; charset=utf-7", false, false),
    ] {
        let headers = of(kind);
        assert_eq!((plain.can_read(&headers), other.can_read(&headers)), (plainly, otherwise));
        assert!(Redactor::default().can_read(&headers), "{kind}");
    }
}

#[test]
fn blanks_of_a_secret_are_plus_signs_in_forms() {
    let secret = "Token a b/c \"d\" & <e>";
    for text in [
        "Token+a+b%2Fc+%22d%22+%26+%3Ce%3E",
        "Token%20a%20b%2fc%20%22d%22%20%26%20%3ce%3e",
        "Token+a+b/c+\"d\"+&+<e>",
        "Token+a b/c+\"d\" &+<e>",
        "Token a b/c &quot;d&quot; &amp; &lt;e&gt;",
        "Token&#x20;a&#32;b&#x2f;c &#34;d&#34; &#38; &#60;e&#62;",
        r#"Token a b\/c \"d\" \u0026 \u003ce\u003e"#,
        r#"Token a b\/c \&quot;d\&quot; \u0026amp; \u0026lt;e\u0026gt;"#,
    ] {
        let expected = "key=[redacted]&more=1";
        let text = format!("key={text}&more=1");
        assert_eq!(whole(&[secret], &text), expected, "{text}");
        let redactor = redactor(&[secret]);
        for end in 0..=text.len() {
            let out = in_pieces(&redactor, text.as_bytes(), &[end]);
            assert_eq!(String::from_utf8_lossy(&out), expected, "{text} at {end}");
        }
    }
}

#[test]
fn what_is_no_secret_stays_as_it_is() {
    for text in [
        "",
        "sk-proj",
        "sk-proj/abc+123=xyz",
        r"\u0073k-proj",
        "100% \\ \u{e9}",
        "sk\\-",
        "a &amp; b &#47; c+d &c",
        "sk-proj&#48;Abc+123=xyz",
        "&#",
        "%25%2525",
    ] {
        assert_eq!(whole(&[KEY, "none", ""], text), text);
    }
    assert!(redactor(&["none", "short", "", r"\\\\\\\\\\"]).is_empty());
}

#[test]
fn only_what_may_become_a_secret_is_held_back() {
    let redactor = redactor(&[KEY, "another-secret"]);
    for (text, passed) in [
        ("data: {\"text\":\"sk-proj\"}\n\n", "data: {\"text\":\"sk-proj\"}\n\n"),
        ("a sk-proj", "a "),
        ("a sk-proj\\", "a "),
        ("a sk-proj\\u00", "a "),
        ("a sk-proj\\u01", "a sk-proj\\u01"),
        ("an anothe", "an "),
        ("a sk-proj&", "a "),
        ("a sk-proj&#4", "a "),
        ("a sk-proj&am", "a "),
        ("a sk-proj&amp;#x", "a "),
        ("a sk-proj\\u0026so", "a "),
        ("a sk-proj&b", "a sk-proj&b"),
        ("a sk-proj%252", "a "),
        ("sk-sk-", "sk-"),
    ] {
        let mut out = Vec::new();
        let mut redacting = Redacting::new(redactor.clone());
        redacting.push(text.as_bytes(), &mut |piece| out.extend_from_slice(piece));
        assert_eq!(String::from_utf8_lossy(&out), passed, "{text}");
        redacting.end(&mut |piece| out.extend_from_slice(piece));
        assert_eq!(String::from_utf8_lossy(&out), text);
    }
}

#[test]
fn the_longest_of_several_secrets_is_redacted() {
    let secrets = ["Bearer sk-12345678", "sk-12345678", "sk-12345678-more"];
    let text = "Bearer sk-12345678, sk-12345678-more, sk-12345678-mor sk-12345678";
    let expected = "[redacted], [redacted], [redacted]-mor [redacted]";
    assert_eq!(whole(&secrets, text), expected);
    let redactor = redactor(&secrets);
    for end in 0..=text.len() {
        assert_eq!(in_pieces(&redactor, text.as_bytes(), &[end]), expected.as_bytes());
    }
}

#[test]
fn backslashes_quotes_and_other_letters_are_characters_like_others() {
    let secret = "DOMAIN\\us\"er\tpäss€😀";
    let json = |text: &str| serde_json::Value::from(text).to_string();
    assert_eq!(whole(&[secret], secret), "[redacted]");
    assert_eq!(whole(&[secret], &json(secret)), "\"[redacted]\"");
    assert_eq!(whole(&[secret], &json(&json(secret))), r#""\"[redacted]\"""#);
    let escaped = r#"DOMAIN\\us\"er\tp\u00e4ss\u20AC\ud83d\ude00"#;
    assert_eq!(whole(&[secret], escaped), "[redacted]");
    let latin: String = secret.bytes().map(char::from).collect();
    assert_eq!(whole(&[secret], &latin), "[redacted]");
}

#[test]
fn a_percent_sign_of_a_secret_may_stand_for_itself_before_what_looks_like_its_code() {
    for (secret, text) in [
        ("😀AA%25a0", r"😀A\u0041%25a0"),
        ("😀AA%25a0", r"😀A\u0041%2525a0"),
        ("😀AA%25a0", "%F0%9F%98%80AA%25a0"),
        ("abcdefg%", r"\u0061bcdefg%"),
    ] {
        assert_eq!(whole(&[secret], text), "[redacted]", "{text}");
        let redactor = redactor(&[secret]);
        for end in 0..=text.len() {
            assert_eq!(
                in_pieces(&redactor, text.as_bytes(), &[end]),
                b"[redacted]",
                "{text} {end}"
            );
        }
    }
}

#[test]
fn credentials_are_secret_without_their_scheme_in_any_header() {
    let credentials = |name: &'static str, value: &'static str| {
        without_scheme(&HeaderName::from_static(name), value)
    };
    for value in ["Token abc", "basic abc", "ApiKey abc", "Bearer abc"] {
        assert_eq!(credentials("x-auth", value), Some("abc"), "{value}");
    }
    assert_eq!(credentials("authorization", "Custom abc"), Some("abc"));
    assert_eq!(credentials("x-title", "My application"), None);
}

#[test]
fn headers_are_redacted_and_the_rest_of_them_stays() {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("location", "https://host.example/next?key=sk-proj%2FAbc%2B123%3Dxyz&page=2"),
        ("x-echo", KEY),
        ("x-other", "plain"),
    ] {
        headers.append(name, HeaderValue::from_static(value));
    }
    redactor(&[KEY]).redact_headers(&mut headers);
    assert_eq!(headers["location"], "https://host.example/next?key=[redacted]&page=2");
    assert_eq!(headers["x-echo"], "[redacted]");
    assert_eq!(headers["x-other"], "plain");
}

#[test]
fn a_header_whose_name_is_a_secret_is_left_out() {
    let mut headers = HeaderMap::new();
    for name in ["sk-Live-Abc123", "x-sk-live-abc123", "sk-live-abc124"] {
        headers.append(HeaderName::try_from(name).unwrap(), HeaderValue::from_static("plain"));
        headers.append(HeaderName::try_from(name).unwrap(), HeaderValue::from_static("again"));
    }
    redactor(&["sk-Live-Abc123"]).redact_headers(&mut headers);
    let names: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
    assert_eq!((names, headers.len()), (vec!["sk-live-abc124"], 2));
}

#[test]
fn no_place_of_a_byte_is_passed_over() {
    for text in ["", "&", "&&", "a&", "12345678&", "123456789&&12345678901234567890&", "none"] {
        let expected: Vec<usize> = text.match_indices('&').map(|(at, _)| at).collect();
        assert_eq!(places(b'&', text.as_bytes()).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn debug_output_hides_the_secrets() {
    let shown = format!("{:?}", Redacting::new(redactor(&[KEY])));
    assert!(!shown.contains("Abc"), "{shown}");
}

/// A level of JSON taken off, as far as there is one.
fn unescaped(text: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let escape = rest.strip_prefix('\\').and_then(|it| it.chars().next().map(|c| (c, it)));
        let (unit, length) = match escape {
            Some(('u', behind)) => match behind.get(1..5).map(|it| u16::from_str_radix(it, 16)) {
                Some(Ok(unit)) => (Some(unit), 6),
                _ => (None, 0),
            },
            Some(('t', _)) => (Some(9), 2),
            Some((it @ ('"' | '\\' | '/'), _)) => (Some(it as u16), 2),
            _ => (None, 0),
        };
        match unit {
            Some(unit) => {
                units.push(unit);
                rest = &rest[length..];
            }
            None => {
                units.extend(first.encode_utf16(&mut [0; 2]).iter());
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    String::from_utf16_lossy(&units)
}

/// A character of a secret in one of its spellings, on one of three levels of JSON.
fn spelled(character: char, (form, level): (u8, u8)) -> String {
    let units = character.encode_utf16(&mut [0; 2]).to_vec();
    let escape: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
    let percents: String =
        character.to_string().bytes().map(|byte| format!("%{byte:02x}")).collect();
    let code = u32::from(character);
    let mut text = match (form, character) {
        (0, '"' | '\\' | '/') => format!("\\{character}"),
        (1, _) => escape,
        (2, _) if units.len() == 1 => escape.to_uppercase().replace("\\U", "\\u"),
        (6, ' ') => "+".to_owned(),
        (6, _) => percents,
        (7, _) => percents.to_uppercase(),
        (8, _) => format!("&#{code};"),
        (9, _) => format!("&#x{code:X};"),
        (10, '"') => "&quot;".to_owned(),
        (10, '&') => "&amp;".to_owned(),
        (10, '/') => "&sol;".to_owned(),
        (10, _) => format!("&amp;#{code:04};"),
        (11, _) => format!("\\u0026#x{code:x};"),
        (_, '"' | '\\') => format!("\\{character}"),
        _ => character.to_string(),
    };
    let is_pair = units.len() > 1;
    for _ in 0..if is_pair { 0 } else { level } {
        text = text.replace('\\', "\\\\");
    }
    text
}

/// A level of percent-encoding taken off, with or without that of forms.
fn unencoded(text: &str, blank: &str) -> String {
    let text = text.replace('+', blank);
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let byte = behind.first_chunk::<2>().filter(|_| first == b'%');
        let byte = byte.and_then(|digits| hex(digits));
        bytes.push(byte.map_or(first, |byte| byte.to_le_bytes()[0]));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A level of HTML taken off, as far as its references have an end.
fn unreferenced(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('&') {
        out.push_str(before);
        let reference = behind.split_once(';').and_then(|(name, behind)| {
            let character = match name {
                "quot" => '"',
                "amp" => '&',
                "sol" => '/',
                _ => {
                    let number = name.strip_prefix('#')?;
                    let code = match number.strip_prefix('x') {
                        Some(digits) => u32::from_str_radix(digits, 16),
                        None => number.parse(),
                    };
                    char::from_u32(code.ok()?)?
                }
            };
            Some((character, behind))
        });
        let (character, behind) = reference.unwrap_or(('&', behind));
        out.push(character);
        rest = behind;
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_gives_the_same_and_no_secret_passes(
        secret in "[a-zA-Z0-9/+=_\"\\\\é€😀.%&;# -]{8,24}",
        forms in prop::collection::vec((0_u8..14, 0_u8..3), 24),
        around in prop::collection::vec("[ -~]{0,12}", 2),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        form in prop::option::of(prop::sample::select(WIDE.to_vec())),
    ) {
        let secret = core(&secret);
        prop_assume!(secret.len() >= SECRET_BYTES_MIN);
        let spelling: String = secret.chars().zip(forms).map(|(it, form)| spelled(it, form)).collect();
        let text = format!("{}{spelling}{}{secret}", around[0], around[1]);
        let redactor = redactor(&[secret]);
        let mut ends: Vec<usize> = ends.iter().map(|end| end.index(text.len() + 1)).collect();
        ends.sort_unstable();
        let whole = redactor.redact_body(text.clone().into_bytes());
        let pieces = in_pieces(&redactor, text.as_bytes(), &ends);
        prop_assert_eq!(&whole, &pieces, "{} {:?}", text, ends);
        if let Some(form) = form.filter(|_| text.is_ascii()) {
            let (text, expected) = (wide(&text, form), wide(str::from_utf8(&whole)?, form));
            let mut ends: Vec<usize> = ends.iter().map(|end| end * form.0).collect();
            ends.push(text.len() - 1);
            ends.sort_unstable();
            prop_assert_eq!(in_pieces(&redactor, &text, &ends), expected);
        }
        let mut level = String::from_utf8(whole)?;
        for _ in 0..4 {
            for blank in ["+", " "] {
                let readings = [level.clone(), unencoded(&level, blank), unreferenced(&level)];
                let again = [unreferenced(&readings[1]), unreferenced(&readings[2])];
                for reading in readings.iter().chain(&again) {
                    prop_assert!(!reading.contains(secret), "{reading} of {text}");
                }
            }
            level = unescaped(&level);
        }
    }
}

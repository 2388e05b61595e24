//! JSON pointers: the path of a value from the top of its text.

/// Adds one step to a pointer: the key of a member, with the two characters replaced that have a meaning of their own.
pub(crate) fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    let mut rest = key;
    while let Some(at) = memchr::memchr2(b'~', b'/', rest.as_bytes()) {
        pointer.push_str(&rest[..at]);
        pointer.push_str(if rest.as_bytes()[at] == b'~' { "~0" } else { "~1" });
        rest = &rest[at + 1..];
    }
    pointer.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(key: &str, expected: &str) {
        let mut pointer = "/top".to_owned();
        push_key(&mut pointer, key);
        assert_eq!(pointer, expected, "{key}");
    }

    #[test]
    fn keys_are_escaped_as_rfc_6901_says() {
        check("plain", "/top/plain");
        check("", "/top/");
        check("a/b~c/", "/top/a~1b~0c~1");
        check("~1ü/", "/top/~01ü~1");
    }
}

//! Long inputs of Miniature.

use super::Tables;

pub(super) const TABLES: Tables = Tables {
    requests: &[
        ("turns", r#""turns":[<<{"who":"user","text":"word §"}>>]"#),
        ("unknown-keys", r#"<<"key_§":1>>"#),
    ],
    minimal: (r#""turns""#, r#"[{"who":"user","text":"Hello."}]"#),
    tool: r#""tool":SCHEMA"#,
    output: r#""output":SCHEMA"#,
    responses: &[("unknown-keys", r#"{"text":"a","end":"done",<<"key_§":1>>}"#)],
    streams: &[("texts", "* {\"text\":\"word §\"}\n{\"end\":\"done\"}")],
};

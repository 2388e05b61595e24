//! The form of `expect.json`. A key that nobody knows and a check that checks nothing are errors: both look like a test and
//! are none.

use std::fmt;

use anyhow::{Context, Result, bail};
use sabir_wire::Protocol;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One translation, and what must hold of it.
#[derive(Debug)]
pub(super) struct Expectation {
    pub(super) from: Protocol,
    pub(super) to: Protocol,
    pub(super) kind: KindName,
    /// The behaviour, in one sentence.
    pub(super) why: String,
    pub(super) model: Option<String>,
    /// The input's file, where it is not the kind's usual one.
    pub(super) file: Option<String>,
    pub(super) status: Option<u16>,
    pub(super) output: Vec<Check>,
    pub(super) folded: Vec<Check>,
    pub(super) losses: Vec<LossCheck>,
    pub(super) no_losses: bool,
    pub(super) truncated: bool,
    pub(super) status_out: Option<u16>,
    pub(super) error: Option<ErrorCheck>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum KindName {
    #[default]
    Request,
    Response,
    Stream,
    Error,
}

/// What must hold of the value at a pointer.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) at: String,
    pub(super) test: Test,
}

#[derive(Debug)]
pub(super) enum Test {
    Equals(Value),
    Absent,
    Count(usize),
    Contains(String),
    /// Spelled exactly so.
    SameText(String),
    SameAs(String),
    DiffersFrom(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LossCheck {
    pub(super) at: String,
    pub(super) kind: String,
    #[serde(default)]
    pub(super) below: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ErrorCheck {
    pub(super) at: String,
}

pub(super) fn read(text: &[u8]) -> Result<Vec<Expectation>> {
    let raw: Vec<RawExpectation> = serde_json::from_slice(text)?;
    if raw.is_empty() {
        bail!("expected at least one check, found none");
    }
    let numbered = raw.into_iter().enumerate();
    numbered.map(|(index, raw)| raw.checked().with_context(|| format!("/{index}"))).collect()
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, kind, why, .. } = self;
        let kind = format!("{kind:?}").to_lowercase();
        write!(f, "{} → {} {kind}: {why}", from.as_str(), to.as_str())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExpectation {
    from: String,
    to: String,
    #[serde(default)]
    kind: KindName,
    why: String,
    model: Option<String>,
    file: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    output: Vec<RawCheck>,
    #[serde(default)]
    folded: Vec<RawCheck>,
    #[serde(default)]
    losses: Vec<LossCheck>,
    #[serde(default)]
    no_losses: bool,
    #[serde(default)]
    truncated: bool,
    status_out: Option<u16>,
    error: Option<ErrorCheck>,
}

impl RawExpectation {
    fn checked(self) -> Result<Expectation> {
        let expectation = Expectation {
            from: protocol(&self.from)?,
            to: protocol(&self.to)?,
            kind: self.kind,
            why: self.why,
            model: self.model,
            file: self.file,
            status: self.status,
            output: checks(self.output)?,
            folded: checks(self.folded)?,
            losses: self.losses,
            no_losses: self.no_losses,
            truncated: self.truncated,
            status_out: self.status_out,
            error: self.error,
        };
        expectation.ensure_it_checks()?;
        Ok(expectation)
    }
}

impl Expectation {
    fn ensure_it_checks(&self) -> Result<()> {
        if self.why.trim().is_empty() {
            bail!("`why` is empty");
        }
        let has_checks = !self.output.is_empty()
            || !self.folded.is_empty()
            || !self.losses.is_empty()
            || self.no_losses
            || self.truncated
            || self.status_out.is_some()
            || self.error.is_some();
        if !has_checks {
            bail!("nothing is checked: give `output`, `losses` or another check");
        }
        if self.kind != KindName::Stream && (!self.folded.is_empty() || self.truncated) {
            bail!("`folded` and `truncated` need kind `stream`");
        }
        if self.kind != KindName::Error && (self.status.is_some() || self.status_out.is_some()) {
            bail!("`status` and `status_out` need kind `error`");
        }
        Ok(())
    }
}

fn protocol(name: &str) -> Result<Protocol> {
    Protocol::parse(name).with_context(|| format!("no protocol is called {name:?}"))
}

fn checks(raw: Vec<RawCheck>) -> Result<Vec<Check>> {
    raw.into_iter().map(RawCheck::checked).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCheck {
    at: String,
    #[serde(default, deserialize_with = "present")]
    equals: Option<Value>,
    absent: Option<bool>,
    count: Option<usize>,
    contains: Option<String>,
    same_text: Option<String>,
    same_as: Option<String>,
    differs_from: Option<String>,
}

impl RawCheck {
    fn checked(self) -> Result<Check> {
        let at = self.at;
        let tests = [
            self.equals.map(Test::Equals),
            self.absent.filter(|it| *it).map(|_| Test::Absent),
            self.count.map(Test::Count),
            self.contains.map(Test::Contains),
            self.same_text.map(Test::SameText),
            self.same_as.map(Test::SameAs),
            self.differs_from.map(Test::DiffersFrom),
        ];
        let mut tests = tests.into_iter().flatten();
        match (tests.next(), tests.next()) {
            (Some(test), None) => Ok(Check { at, test }),
            (None, _) => bail!("the check at {at:?} checks nothing"),
            (Some(_), Some(_)) => bail!("the check at {at:?} has several tests: give one each"),
        }
    }
}

/// A value that stands there, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#""from":"openai-chat","to":"gemini","why":"a reason""#;

    #[track_caller]
    fn refused(rest: &str, because: &str) {
        let text = format!("[{{{START}{rest}}}]");
        let error = read(text.as_bytes()).map(|_| ()).unwrap_err();
        assert!(format!("{error:#}").contains(because), "{error:#}");
    }

    #[test]
    fn a_misspelt_key_is_refused() {
        refused(r#","loses":[]"#, "unknown field `loses`");
        refused(r#","output":[{"at":"/a","equal":1}]"#, "unknown field `equal`");
    }

    #[test]
    fn a_check_that_checks_nothing_is_refused() {
        refused("", "nothing is checked");
        refused(r#","output":[]"#, "nothing is checked");
        refused(r#","no_losses":false"#, "nothing is checked");
        refused(r#","output":[{"at":"/a"}]"#, "checks nothing");
        refused(r#","output":[{"at":"/a","absent":false}]"#, "checks nothing");
        refused(r#","output":[{"at":"/a","count":1,"equals":2}]"#, "several tests");
        refused(r#","folded":[{"at":"/a","count":1}]"#, "need kind `stream`");
        refused(r#","status_out":400"#, "need kind `error`");
        assert!(read(b"[]").is_err());
    }

    #[test]
    fn null_is_a_value_like_any_other() {
        let text = format!(r#"[{{{START},"output":[{{"at":"/a","equals":null}}]}}]"#);
        let read = read(text.as_bytes()).unwrap();
        assert!(matches!(read[0].output[0].test, Test::Equals(Value::Null)));
    }
}

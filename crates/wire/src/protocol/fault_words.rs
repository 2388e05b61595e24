//! What errors of OpenAI's shape state. The servers of two protocols send them, in several forms.

use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::{Json, Kind, Reader, Text};
use crate::protocol::Protocol;
use crate::protocol::object::set;

#[derive(Default)]
pub(super) struct FaultWords {
    pub(super) message: Option<Text<'static>>,
    pub(super) code: Option<Text<'static>>,
    kind: Option<Text<'static>>,
    param: Option<Text<'static>>,
}

impl FaultWords {
    /// Reads `{error: {…}}`, `{error: "…"}`, the members themselves, or a list of such.
    pub(super) fn of(error: &Json<'_>) -> Self {
        let mut words = Self::default();
        // What cannot be read has no words; the error is kept all the same.
        let _ = words.read(&mut error.reader());
        words
    }

    fn read(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        match reader.kind()? {
            Kind::Array => reader.array(|_, reader| self.read(reader)),
            Kind::Object => reader.object(|key, reader| self.member(&key, reader)),
            Kind::String => set(&mut self.message, owned(reader)),
            Kind::Null | Kind::Boolean | Kind::Number => reader.skip(),
        }
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<()> {
        match (key, reader.kind()?) {
            ("error", _) => self.read(reader),
            ("message" | "detail", Kind::String) => set(&mut self.message, owned(reader)),
            ("type", Kind::String) => set(&mut self.kind, owned(reader)),
            ("code", Kind::String) => set(&mut self.code, owned(reader)),
            ("code", Kind::Number) => {
                set(&mut self.code, reader.number().map(|it| it.as_str().to_owned().into()))
            }
            ("param", Kind::String) => set(&mut self.param, owned(reader)),
            _ => reader.skip(),
        }
    }

    /// The class that the code or the type gives.
    pub(super) fn kind(&self) -> Option<FaultKind> {
        let of = |word: &Option<Text<'_>>| FaultKind::of_word(&word.as_ref()?.to_str());
        of(&self.code).or_else(|| of(&self.kind))
    }

    /// The class of an error under a status, if it came under one. The words give no other class, only narrow it: servers
    /// give their codes loosely, and the status is what clients act on. Fixture `error/status-against-code`.
    pub(super) fn class(&self, status: Option<FaultKind>) -> FaultKind {
        match (self.kind(), status) {
            (Some(kind @ (FaultKind::ContextTooLong | FaultKind::Billing)), _) => kind,
            (_, Some(status)) => status,
            (kind, None) => kind.unwrap_or(FaultKind::UNSTATED),
        }
    }

    pub(super) fn into_fault<'a>(
        self,
        kind: FaultKind,
        original: (Protocol, Json<'a>),
    ) -> Fault<'a> {
        let mut fault = Fault::new(kind, self.message.unwrap_or_default());
        (fault.code, fault.param) = (self.code, self.param);
        fault.original = Some(original);
        fault.refined()
    }
}

fn owned(reader: &mut Reader<'_>) -> Result<Text<'static>> {
    reader.string().map(Text::into_owned)
}

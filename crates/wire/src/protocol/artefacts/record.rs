//! The artefacts of one call as they are kept: JSON without the call itself, which its client keeps.

use crate::conversation::{Content, Part, Reasoning, ReasoningForm};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Encode, Json, Reader, Text, Writer};
use crate::protocol::object::{put, set};
use crate::protocol::semantics::{Artefact, ArtefactKind};
use crate::protocol::{NodeSemantics, Protocol};

/// What belongs to a call and only its issuer can read.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Thinking that stood before whatever was said before the call.
    pub(super) first: Vec<Thought>,
    /// Thinking that stood right before the call, behind words.
    pub(super) last: Vec<Thought>,
    /// The artefact on the call itself.
    pub(super) seal: Option<Artefact<'static>>,
}

/// Thinking with its artefact.
#[derive(Clone, Debug)]
pub(super) struct Thought {
    pub(super) reasoning: Reasoning<'static>,
    pub(super) artefact: Artefact<'static>,
}

impl Thought {
    pub(super) fn has_words(&self) -> bool {
        self.reasoning.texts.iter().any(|text| !text.is_empty())
    }

    /// The same as a part that stands where these semantics say.
    pub(super) fn into_part(self, mut semantics: NodeSemantics<'static>) -> Part<'static> {
        semantics.set_artefact(self.artefact);
        Part::new(Content::Reasoning(Box::new(self.reasoning))).with_semantics(semantics)
    }
}

impl Record {
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.last.is_empty() && self.seal.is_none()
    }

    /// Whether any of the thinking can be read by anybody.
    pub(super) fn has_words(&self) -> bool {
        self.first.iter().chain(&self.last).any(Thought::has_words)
    }

    pub(super) fn write(&self) -> String {
        Json::of_object(|it| {
            it.field("version", &VERSION);
            for (key, thoughts) in [(FIRST, &self.first), (LAST, &self.last)] {
                if !thoughts.is_empty() {
                    it.field(key, thoughts);
                }
            }
            if let Some(seal) = &self.seal {
                it.object_field(SEAL, |it| write_artefact(it, seal));
            }
        })
        .into_string()
    }

    pub(super) fn read(json: &str) -> Result<Self> {
        let (mut record, mut version) = (Self::default(), None);
        Reader::new(json).object(|key, reader| match &*key {
            "version" => set(&mut version, reader.u64()),
            FIRST => put(&mut record.first, reader.list(|_, reader| Thought::read(reader))),
            LAST => put(&mut record.last, reader.list(|_, reader| Thought::read(reader))),
            SEAL => set(&mut record.seal, Fields::read(reader)?.artefact()),
            _ => reader.skip(),
        })?;
        match version {
            Some(VERSION) => Ok(record),
            Some(_) | None => Err(unreadable()),
        }
    }
}

/// The form of a record. Another one is not read: what it meant is unknown.
const VERSION: u64 = 1;

/// The members of a record.
const FIRST: &str = "first";
const LAST: &str = "last";
const SEAL: &str = "seal";

impl Encode for Thought {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.field("form", form_word(self.reasoning.form));
            it.field("texts", &self.reasoning.texts);
            write_artefact(it, &self.artefact);
        });
    }
}

impl Thought {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut fields = Fields::read(reader)?;
        let texts = std::mem::take(&mut fields.texts);
        let form = fields.form.ok_or_else(unreadable)?;
        Ok(Self { reasoning: Reasoning { form, texts }, artefact: fields.artefact()? })
    }
}

fn write_artefact(writer: &mut Writer, artefact: &Artefact<'_>) {
    writer.field("issuer", artefact.issuer().as_str());
    writer.field("kind", artefact.kind().as_str());
    writer.field("data", artefact.data());
}

/// What thoughts and seals say, as far as it has been read.
#[derive(Default)]
struct Fields {
    form: Option<ReasoningForm>,
    texts: Vec<Text<'static>>,
    issuer: Option<Protocol>,
    kind: Option<ArtefactKind>,
    data: Option<Text<'static>>,
}

impl Fields {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut fields = Self::default();
        reader.object(|key, reader| {
            match &*key {
                "form" => fields.form = form_of(&reader.string()?.to_str()),
                "texts" => fields.texts = reader.list(|_, it| Ok(it.string()?.into_owned()))?,
                "issuer" => fields.issuer = Protocol::parse(&reader.string()?.to_str()),
                "kind" => fields.kind = ArtefactKind::parse(&reader.string()?.to_str()),
                "data" => fields.data = Some(reader.string()?.into_owned()),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(fields)
    }

    fn artefact(self) -> Result<Artefact<'static>> {
        let Self { issuer: Some(issuer), kind: Some(kind), data: Some(data), .. } = self else {
            return Err(unreadable());
        };
        Ok(Artefact::new(issuer, kind, data))
    }
}

fn unreadable() -> Error {
    Error::new(ErrorKind::Value, "expected artefacts in the form of this version")
}

const FORMS: [ReasoningForm; 3] =
    [ReasoningForm::Raw, ReasoningForm::Summary, ReasoningForm::Redacted];

fn form_word(form: ReasoningForm) -> &'static str {
    match form {
        ReasoningForm::Raw => "raw",
        ReasoningForm::Summary => "summary",
        ReasoningForm::Redacted => "redacted",
    }
}

fn form_of(word: &str) -> Option<ReasoningForm> {
    FORMS.into_iter().find(|form| form_word(*form) == word)
}

//! `sabir convert`: one protocol in, another out, and the loss report.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use sabir_wire::json::Text;
use sabir_wire::protocol::{AnswerContext, Encoded, Event, StreamEncoder};
use sabir_wire::sse::Frame;
use sabir_wire::target::{ModelPlace, Target};
use sabir_wire::{Protocol, Report};

use crate::arguments::{Kind, Subject, protocols};
use crate::input::INPUT_BYTES_MAX;
use crate::report::Form;
use crate::stream::{Sink, pump};
use crate::{output, report};

/// Translate a request, a response, a stream or an error.
///
/// Prints the translation on standard output, and on standard error what it could not carry
/// over as it was. Streams are translated as they come. The same input always gives the same
/// bytes.
///
/// Exit codes: 0 translated; 1 the input cannot be read; 2 wrong usage; 3 refused by --strict.
///
/// Example:
///   sabir convert --from chat --to messages request.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Convert {
    #[command(flatten)]
    subject: Subject,

    /// The protocol to translate to
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols())]
    to: Protocol,

    /// The model that a request is for, or that an answer names [default: the input's own]
    #[arg(long, value_parser = NonEmptyStringValueParser::new())]
    model: Option<String>,

    /// Refuse, with no output, if anything is dropped; a stream is then held back to its end
    #[arg(long)]
    strict: bool,

    /// How the report is written
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Text)]
    report: Form,
}

/// Where nothing was translated because --strict forbids it.
const REFUSED: u8 = 3;

/// What a translation came to, apart from what has been printed on its way.
struct Translation {
    /// What is still to be printed, if nothing forbids it.
    body: String,
    report: Report,
    /// What is printed for people beside the report.
    remark: Option<String>,
}

impl Convert {
    pub(crate) fn run(mut self) -> Result<ExitCode> {
        self.subject = self.subject.checked();
        match self.translate() {
            Ok(translation) => self.finish(translation),
            Err(error) if self.report == Form::Json && !output::is_closed_pipe(&error) => {
                output::to_stderr(&report::json_of_error(&error));
                Ok(ExitCode::FAILURE)
            }
            Err(error) => Err(error),
        }
    }

    fn translate(&self) -> Result<Translation> {
        match self.subject.kind {
            Kind::Request => self.request(&self.subject.read()?),
            Kind::Response => self.response(&self.subject.read()?),
            Kind::Error => self.error(&self.subject.read()?),
            Kind::Stream => self.stream(),
        }
    }

    fn request(&self, body: &[u8]) -> Result<Translation> {
        let explain = |error| self.subject.explain(&error, body);
        let mut exchange = self.subject.from.decode_request(body).map_err(explain)?;
        if let Some(model) = &self.model {
            exchange.edit().model = Some(Text::plain(model));
        }
        let target = match &exchange.request().model {
            Some(model) => Target::for_model(&model.to_str()),
            None => Target::default(),
        };
        let target = target.with_gemini_model(ModelPlace::Body);
        Ok(exchange.encode(self.to, &target).map_err(explain)?.into())
    }

    fn response(&self, body: &[u8]) -> Result<Translation> {
        let explain = |error| self.subject.explain(&error, body);
        let encoded = self.to.translate_response(body, self.subject.from, &self.context(body));
        Ok(encoded.map_err(explain)?.into())
    }

    fn error(&self, body: &[u8]) -> Result<Translation> {
        let before = self.subject.status_of(body);
        let fault = self.subject.from.decode_fault(before, body);
        let (after, Encoded { body, report }) = self.to.translate_fault(&fault);
        let remark = match before.filter(|before| *before != after) {
            Some(before) => format!("status {after}, was {before}"),
            None => format!("status {after}"),
        };
        Ok(Translation { body, report, remark: Some(remark) })
    }

    fn stream(&self) -> Result<Translation> {
        let mut translator = Translator { convert: self, encoder: None, out: String::new() };
        let read = pump(&self.subject, &mut translator);
        let Translator { encoder, mut out, .. } = translator;
        let report = encoder.map(|encoder| encoder.end(&mut out)).unwrap_or_default();
        if read.is_err() && !self.strict {
            output::send(&out)?;
        }
        read.map(|()| Translation { body: out, report, remark: None })
    }

    /// The context of an answer's encoder. Ids are made from `seed`, a part of the input, so that they are the same
    /// whenever the input is.
    fn context(&self, seed: &[u8]) -> AnswerContext<'_> {
        AnswerContext {
            model: self.model.as_deref().map(Text::plain),
            seed: AnswerContext::seed_from(seed),
            ..AnswerContext::default()
        }
    }

    fn finish(&self, translation: Translation) -> Result<ExitCode> {
        if self.strict && translation.report.drops().next().is_some() {
            self.print_report(&translation);
            return Ok(self.refuse());
        }
        let printed = match self.subject.kind {
            Kind::Stream => output::send(&translation.body),
            Kind::Request | Kind::Response | Kind::Error => output::print(&translation.body),
        };
        self.print_report(&translation);
        printed.map(|()| ExitCode::SUCCESS)
    }

    fn print_report(&self, translation: &Translation) {
        match self.report {
            Form::Json => output::to_stderr(&report::json(&translation.report)),
            Form::Text => {
                if let Some(remark) = &translation.remark {
                    output::to_stderr(&format!("{remark}\n"));
                }
                output::to_stderr(&report::text(&translation.report));
            }
        }
    }

    fn refuse(&self) -> ExitCode {
        if self.report == Form::Text {
            output::to_stderr(
                "refused: --strict, and something would be dropped; nothing was printed\n",
            );
        }
        ExitCode::from(REFUSED)
    }
}

impl From<Encoded> for Translation {
    fn from(encoded: Encoded) -> Self {
        let Encoded { body, report } = encoded;
        Self { body, report, remark: None }
    }
}

/// Writes each event as soon as it is there, unless the whole may yet be refused.
struct Translator<'c> {
    convert: &'c Convert,
    /// Absent before the first frame.
    encoder: Option<StreamEncoder<'c>>,
    out: String,
}

impl Sink for Translator<'_> {
    fn begin(&mut self, first: &Frame<'_>) {
        let Convert { to, subject, .. } = self.convert;
        let context = self.convert.context(first.data.as_bytes());
        self.encoder = Some(StreamEncoder::new(*to, subject.from, context));
    }

    fn event(&mut self, event: Event<'_>) {
        self.encoder = self.encoder.take().map(|encoder| encoder.step(event, &mut self.out));
    }

    fn flush(&mut self) -> Result<()> {
        if self.convert.strict {
            let held = self.out.len() as u64;
            anyhow::ensure!(held <= INPUT_BYTES_MAX, "the stream is too long for --strict");
            return Ok(());
        }
        output::send(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

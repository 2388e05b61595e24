//! Writing whole answers.

use super::encode_request::text;
use super::fault::write_fault;
use super::types::{SELF, end};
use super::usage::USAGE;
use crate::conversation::{Candidate, Finish, Response, Usage};
use crate::json::{Text, Writer};
use crate::loss::Report;
use crate::protocol::{AnswerContext, Field, Protocol};
use crate::protocol::translation::ANSWER_BYTES;
use crate::protocol::reporter::Reporter;
use crate::protocol::object::Object;

pub(in super::super) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    context: &AnswerContext<'_>,
    report: &mut Report,
) -> String {
    let mut reporter = Reporter::new(source, SELF, report);
    let mut writer = Writer::with_capacity(ANSWER_BYTES);
    if let Some(fault) = &response.fault {
        reporter.failed(response);
        write_fault(&mut writer, fault);
        return writer.into_string();
    }
    report_losses(&mut reporter, response);
    let extras = response.semantics().extras().filter(|_| reporter.is_same());
    let mut object = Object::open(&mut writer, extras.map(|extras| (extras, "")));
    object.optional("id", response.id.as_ref());
    object.optional("model", context.model.as_ref().or(response.model.as_ref()));
    if let Some(candidate) = response.candidates.first() {
        object.field("text", &joined(candidate));
        write_end(&mut object, candidate.finish.as_ref(), source);
    }
    write_usage(&mut object, response.usage.as_ref(), source);
    object.close();
    writer.into_string()
}

fn joined(candidate: &Candidate<'_>) -> Text<'static> {
    let mut joined = Text::default();
    candidate.message.parts.iter().filter_map(|part| text(part.content())).for_each(|text| {
        joined.push(text);
    });
    joined
}

/// A word of its own comes back; an end of another protocol has one of two.
pub(super) fn write_end(object: &mut Object<'_, '_>, finish: Option<&Finish<'_>>, source: Protocol) {
    let Some(finish) = finish else { return };
    match finish.raw.as_ref().filter(|_| source == SELF) {
        Some(own) => object.field("end", own),
        None => object.word("end", end(finish.kind).0),
    }
}

pub(super) fn write_usage(
    object: &mut Object<'_, '_>,
    usage: Option<&Usage<'_>>,
    source: Protocol,
) {
    if let Some(usage) = usage {
        USAGE.write(object.key("usage"), usage, None, USAGE.stating(source));
    }
}

/// Reports what does not arrive of a whole answer, be it written at once or as a stream.
pub(super) fn report_losses(reporter: &mut Reporter<'_>, response: &Response<'_>) {
    reporter.response(response);
    for other in response.candidates.iter().skip(1) {
        reporter.dropped(other, "Miniature gives one answer");
    }
    let Some(first) = response.candidates.first() else { return };
    if let Some(finish) = first.finish.as_ref().filter(|finish| !end(finish.kind).1) {
        let reason = format!("returned as `{}`", end(finish.kind).0);
        reporter.approximated((first, Field::FinishReason), reason);
    }
    let texts = first.message.parts.iter().filter(|part| text(part.content()).is_some());
    for part in texts.skip(1) {
        reporter.approximated(part, "joined with the text before it");
    }
    if let Some(usage) = &response.usage {
        USAGE.report(usage, reporter);
    }
}

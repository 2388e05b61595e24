//! Writing the results of tools: an object for the vendor, with media beside it.

use crate::conversation::{Content, Part, ResultOutput};
use crate::json::{Text, Writer};
use crate::protocol::gemini::types::SELF;
use crate::protocol::object::Object;

use super::part::{Pen, modifiers, text_of, write_part};

/// The member under which a tool's text stands; never spread, since the text may hold an `error` of its own.
/// Fixture `request/results/result-text-that-is-json-is-not-spread`.
const OUTPUT: &str = "output";
const ERROR: &str = "error";

/// Where media of a result go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MediaPlace {
    /// Into the result.
    Inside,
    /// Behind the results, as parts of their own.
    Behind,
}

/// Writes the result of a tool.
pub(super) fn write_result(
    writer: &mut Writer,
    part: &Part<'_>,
    (output, is_error): (&ResultOutput<'_>, Option<bool>),
    pen: &Pen<'_>,
    place: MediaPlace,
) {
    let mut object = Object::open(writer, pen.extras(part, ""));
    let key = "functionResponse";
    let mut inside = Object::open(object.key(key), pen.extras(part, key));
    inside.optional("id", pen.id.as_ref());
    inside.optional("name", pen.name.as_ref());
    match output {
        ResultOutput::Object { response, .. } => inside.field("response", response),
        ResultOutput::Parts(parts) => {
            let key = if is_error == Some(true) { ERROR } else { OUTPUT };
            let text = Text::joined(parts.iter().filter_map(text_of), "\n").unwrap_or_default();
            inside.key("response").object(|object| object.field(key, &text));
        }
    }
    if place == MediaPlace::Inside {
        let whole = matches!(output, ResultOutput::Object { .. });
        let parts = output.parts().iter().filter(|part| whole || is_media(part));
        inside.list_unless_empty("parts", |writer| {
            parts.for_each(|part| write_inner(writer, part, pen.same));
        });
    }
    inside.close();
    modifiers(&mut object, part, pen);
    object.close();
}

/// How many texts a result has; more than one are joined.
pub(super) fn texts_count(output: &ResultOutput<'_>) -> usize {
    output.parts().iter().filter_map(text_of).count()
}

/// Whether media of a result come before its text, where they cannot stand here.
pub(super) fn is_reordered(output: &ResultOutput<'_>) -> bool {
    let mut parts = output.parts().iter().skip_while(|part| !is_media(part));
    matches!(output, ResultOutput::Parts(_)) && parts.any(|part| text_of(part).is_some())
}

/// Whether a part of a result can stand beside its object.
pub(super) fn is_media(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Opaque(opaque) => opaque.protocol == SELF,
        content => matches!(content, Content::Media(_)),
    }
}

fn write_inner(writer: &mut Writer, part: &Part<'_>, same: bool) {
    let signature = part.semantics().artefact().filter(|artefact| artefact.issuer() == SELF);
    let signature = signature.map(|artefact| artefact.data().reborrow());
    write_part(writer, part, &Pen { same, signature, ..Pen::default() });
}

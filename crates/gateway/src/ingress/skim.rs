//! What routing needs of a body, read without taking the body apart.

use std::ops::Range;

use sabir_wire::json::{Kind, Reader, Survey};
use sabir_wire::{FaultKind, Protocol};

use crate::call::unmarked;
use crate::failure::{Failure, Result};
use crate::ingress::members::repeated_member;
use crate::surface;

/// What routing needs of a body.
#[derive(Debug)]
pub(crate) struct Skimmed<'b> {
    pub(crate) model: Option<String>,
    /// Where the value of `model` stands in the body, so that another can be put there without a second reading.
    pub(crate) model_at: Option<Range<usize>>,
    pub(crate) is_stream: bool,
    /// The parameter that asks for something which only a provider of the client's protocol keeps.
    pub(crate) session: Option<&'static str>,
    /// What else was found out, for whoever reads the body again.
    pub(crate) survey: Survey<'b>,
}

/// Reads the top of a body and checks that the whole of it is one JSON object. One that states twice what routing goes by is
/// refused: servers read such a body in two ways, and one of them is not that of the gateway.
pub(crate) fn skim(client: Protocol, body: &str) -> Result<Skimmed<'_>> {
    if body.is_empty() {
        return Err(Failure::client(FaultKind::BadRequest, "expected a JSON body, found none"));
    }
    let unmarked = unmarked(body);
    let mark_bytes = body.len() - unmarked.len();
    let mut skimmed = Skimmed {
        model: None,
        model_at: None,
        is_stream: false,
        session: None,
        survey: Survey::new(unmarked),
    };
    let session = &surface::of(client).session;
    let (mut is_known, mut repeated) = (ROUTED_BY.map(|_| false), None);
    let mut reader = Reader::new(unmarked);
    reader.object(|key, reader| {
        if let Some(at) = ROUTED_BY.iter().position(|name| *name == key)
            && std::mem::replace(&mut is_known[at], true)
        {
            repeated = Some(ROUTED_BY[at]);
        }
        let kind = reader.kind()?;
        let start = mark_bytes + reader.position();
        match (&*key, kind) {
            ("model", Kind::String) => {
                skimmed.survey.count_member();
                skimmed.model = Some(reader.string()?.into_str().into_owned())
            }
            ("stream", Kind::Boolean) => {
                skimmed.survey.count_member();
                skimmed.is_stream = reader.boolean()?
            }
            _ => {
                // A survey counts what else it begins with.
                if matches!(kind, Kind::Null | Kind::Boolean | Kind::Number) {
                    skimmed.survey.count_member();
                }
                if let Some(parameter) = session.asked(&key, reader) {
                    skimmed.session.get_or_insert(parameter);
                }
                reader.survey(&mut skimmed.survey)?;
            }
        }
        if key == "model" {
            skimmed.model_at = Some(start..mark_bytes + reader.position());
        }
        Ok(())
    })?;
    reader.finish()?;
    match repeated {
        Some(name) => Err(repeated_member(name)),
        None => Ok(skimmed),
    }
}

/// The members that decide where a body goes and how its answer comes.
const ROUTED_BY: [&str; 2] = ["model", "stream"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_body_says_where_it_goes() {
        let body = r#"{"messages":[{"model":"no"}],"model":"m","stream":true,"conversation":"c"}"#;
        let skimmed = skim(Protocol::OpenaiChat, body).unwrap();
        assert_eq!(skimmed.model.as_deref(), Some("m"));
        assert!(skimmed.is_stream);
        assert_eq!(skimmed.session, None);
        let skimmed = skim(Protocol::OpenaiResponses, body).unwrap();
        assert_eq!(skimmed.session, Some("conversation"));
    }

    #[test]
    fn the_place_of_the_model_is_that_of_its_value() {
        for body in [r#"{"model":"m"}"#, "\u{feff}{ \"model\" : \"m\" }"] {
            let at = skim(Protocol::OpenaiChat, body).unwrap().model_at.unwrap();
            assert_eq!(&body[at], "\"m\"", "{body}");
        }
        let skimmed = skim(Protocol::OpenaiChat, r#"{"messages":[{"model":"m"}]}"#).unwrap();
        assert_eq!(skimmed.model_at, None);
    }

    #[test]
    fn what_routing_goes_by_is_stated_once() {
        for (name, body) in [
            ("model", r#"{"model":"other","messages":[],"model":"m"}"#),
            ("model", r#"{"model":"m","mod\u0065l":"m"}"#),
            ("model", r#"{"model":null,"model":"m"}"#),
            ("stream", r#"{"model":"m","stream":true,"stream":false}"#),
            ("stream", r#"{"model":"m","stream":"yes","messages":[],"stream":true}"#),
        ] {
            for protocol in Protocol::ALL {
                let failure = skim(protocol, body).unwrap_err();
                assert_eq!(failure.fault.kind, FaultKind::BadRequest, "{body}");
                assert_eq!(failure.fault.param.as_ref().unwrap(), name, "{body}");
            }
        }
        assert!(skim(Protocol::OpenaiChat, r#"{"model":"m","a":1,"a":2}"#).is_ok());
    }

    #[test]
    fn all_members_and_elements_are_counted() {
        let body =
            r#"{"model":"m","stream":false,"a":1,"b":{"c":[{"d":"e"},"f"]},"conversation":"g"}"#;
        let mut whole = Survey::new(body);
        Reader::new(body).survey(&mut whole).unwrap();
        let skimmed = skim(Protocol::OpenaiResponses, body).unwrap();
        assert_eq!(skimmed.survey.nodes(), 9);
        assert_eq!(whole.nodes(), 1 + 9, "the same, and the whole");
    }

    #[test]
    fn what_is_no_object_is_the_clients_fault() {
        for body in ["", "[]", "{", "{} {}", "nonsense"] {
            let failure = skim(Protocol::Gemini, body).unwrap_err();
            assert_eq!(failure.fault.kind, FaultKind::BadRequest, "{body}");
        }
    }
}

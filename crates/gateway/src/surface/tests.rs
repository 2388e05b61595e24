//! Every protocol's surface is complete, and no two contradict each other.

use std::collections::BTreeSet;
use std::time::SystemTime;

use http::{HeaderMap, HeaderValue, Method, Uri};
use sabir_backend::Secret;
use sabir_backend::http::{Address, Afterwards, Outgoing};
use sabir_wire::json::{Json, Reader};

use super::*;
use crate::call::{Action, Delivery};

/// All that a path can ask a provider for.
fn paths(model: &str) -> [Path<'_>; 3] {
    let path = |action, delivery| Path { action, model, delivery };
    [
        path(Action::Generate, Delivery::Whole),
        path(Action::Generate, Delivery::Stream),
        path(Action::CountTokens, Delivery::Whole),
    ]
}

#[test]
fn every_protocol_has_its_own_surface() {
    let protocols: Vec<Protocol> = all().map(|surface| surface.protocol).collect();
    assert_eq!(protocols, Protocol::ALL);
    for protocol in Protocol::ALL {
        assert_eq!(of(protocol).protocol, protocol);
    }
}

#[test]
fn what_a_path_asks_for_is_read_from_it_again() {
    for surface in all() {
        for model in ["m", "vendor/model:free"] {
            for asked in paths(model) {
                let Some(path) = surface.path(surface.version(), &asked) else { continue };
                let query = surface.stream_query.filter(|_| asked.delivery.is_stream());
                let found = find(&path, query).unwrap_or_else(|| panic!("{path}"));
                assert_eq!(
                    (found.client, found.action),
                    (surface.protocol, asked.action),
                    "{path}"
                );
                assert_eq!(
                    found.from_path.is_some(),
                    surface.protocol.facts().names_model_in_path,
                    "{path}"
                );
                let Some(from_path) = found.from_path else { continue };
                assert_eq!((&*from_path.model, from_path.delivery), (model, asked.delivery));
            }
        }
    }
}

#[test]
fn no_path_is_that_of_two_protocols() {
    let mut seen = BTreeSet::new();
    for surface in all() {
        let own = [Action::Generate, Action::CountTokens].map(|action| {
            let path = Path { action, model: "m", delivery: Delivery::Whole };
            surface.path(surface.version(), &path)
        });
        for path in own.into_iter().flatten() {
            assert!(seen.insert(path.clone()), "{path}");
        }
        let answers = Path { action: Action::Generate, model: "m", delivery: Delivery::Whole };
        assert!(surface.path("", &answers).is_some(), "{}", surface.protocol.as_str());
    }
}

#[test]
fn what_must_differ_differs() {
    let names: BTreeSet<&str> = all().map(|surface| surface.simulator.name).collect();
    assert_eq!(names.len(), Protocol::ALL.len());
    for surface in all() {
        let simulators: Vec<Protocol> = surface.simulators().collect();
        assert_eq!(simulators.len(), Protocol::ALL.len() - 1);
        assert!(!simulators.contains(&surface.protocol), "a translation is to be seen");
        assert_eq!(BTreeSet::from_iter(&simulators).len(), simulators.len());
    }
}

#[test]
fn a_key_is_found_where_it_is_put() {
    let key = Secret::new("sesame");
    for surface in all() {
        let (name, value) = surface.auth.key_header(&key).unwrap();
        assert!(value.is_sensitive());
        assert!(is_key_header(&name));
        assert!(!(surface.headers.is_for_vendor)(name.as_str()), "{name} is never passed on");
        let headers = HeaderMap::from_iter([(name, value)]);
        assert_eq!(surface.auth.keys_in(&headers).collect::<Vec<_>>(), ["sesame"]);
        if let Some(parameter) = surface.auth.query {
            assert_eq!(without_key(&format!("a=1&{parameter}=sesame&b=2")), "a=1&b=2");
        }
    }
}

#[test]
fn a_list_of_models_is_read_as_it_is_written() {
    let names = ["a".to_owned(), "p/b".to_owned()];
    for surface in all() {
        let listed = names.clone().map(|name| Listed { name, capabilities: None });
        let list = surface.model_list.write(&listed);
        assert!(Json::parse(list.as_str()).is_ok(), "{list}");
        assert_eq!(listed_ids(list.as_bytes()), names, "{list}");
        assert!(Json::parse(surface.model_list.write_one(&listed[0])).is_ok());
    }
}

#[test]
fn the_name_of_a_model_comes_out_of_a_body_as_it_went_in() {
    for surface in all() {
        let named = surface.model_in_body("m");
        assert_eq!(without_collection(&named), "m");
        assert_eq!(surface.model_in_body(&named), named, "no collection stands there twice");
    }
}

#[test]
fn a_counter_takes_the_messages() {
    for surface in all() {
        let path = Path { action: Action::CountTokens, model: "m", delivery: Delivery::Whole };
        let can_count = surface.path("", &path).is_some();
        let facts = surface.protocol.facts();
        assert_eq!(
            surface.counting.fields.contains(&facts.messages()),
            can_count,
            "{}",
            facts.name
        );
    }
}

#[test]
fn only_a_value_that_refers_to_something_names_a_session() {
    let cases = [
        ("background", "true", None),
        ("previous_response_id", "\"r\"", Some("previous_response_id")),
        ("previous_response_id", "null", None),
        ("conversation", "{}", Some("conversation")),
        ("input", "\"a\"", None),
    ];
    for (name, value, expected) in cases {
        let found = openai_responses::SURFACE.session.asked(name, &Reader::new(value));
        assert_eq!(found, expected, "{name}: {value}");
    }
    let thread = |value| anthropic_messages::SURFACE.session.asked("thread", &Reader::new(value));
    assert_eq!(thread(r#"{"type":"continue"}"#), Some("thread"));
    assert_eq!(thread(r#"{"type":"new"}"#), None);
}

#[test]
fn a_signer_sees_the_whole_request_and_keeps_the_key() {
    /// Signs by naming all that it was given.
    fn sign(key: &Secret, request: &Outgoing<'_>, _at: SystemTime) -> HeaderMap {
        let Outgoing { method, address, path, headers, body, .. } = request;
        let length: usize = body.iter().map(|piece| piece.len()).sum();
        let kind = headers["content-type"].to_str().unwrap();
        let key_length = key.expose().len();
        let text = format!("{method} {} {path} {kind} {length} {key_length}", address.authority());
        HeaderMap::from_iter([(
            HeaderName::from_static("authorization"),
            HeaderValue::try_from(text).unwrap(),
        )])
    }
    let header = HeaderName::from_static("authorization");
    let auth = Auth { header, scheme: None, query: None, signer: Some(sign) };
    let key = Secret::new("sesame");
    assert!(auth.key_header(&key).is_none(), "a key that signs is not sent");

    let headers =
        HeaderMap::from_iter([(http::header::CONTENT_TYPE, HeaderValue::from_static("a/b"))]);
    let outgoing = Outgoing {
        method: &Method::POST,
        address: &Address::of(&Uri::from_static("https://a.example")).unwrap(),
        path: "/model/m/converse",
        headers: &headers,
        body: &[b"{", b"}"],
        afterwards: Afterwards::Keep,
    };
    let signed = auth.signed(Some(&key), &outgoing);
    assert_eq!(signed["authorization"], "POST a.example /model/m/converse a/b 2 6");
    assert_eq!(signed["content-type"], "a/b");
    assert_eq!(auth.signed(None, &outgoing).len(), 1);
}

//! What the two protocols of OpenAI share.

use http::header::AUTHORIZATION;
use sabir_wire::json::Writer;

use crate::surface::{Auth, Headers, Listed, ModelList};

pub(super) const VENDOR: &str = "openai";
pub(super) const VERSIONS: &[&str] = &["/v1"];
pub(super) const EMBEDDINGS: Option<&str> = Some("/embeddings");

pub(super) const fn auth() -> Auth {
    Auth { header: AUTHORIZATION, scheme: Some("Bearer"), query: None, signer: None }
}

pub(super) const fn headers() -> Headers {
    Headers {
        version: None,
        is_for_vendor: |name| name.starts_with("openai-"),
        answer_prefix: "openai-",
        request_id: None,
        public: &["openai-beta"],
    }
}

pub(super) const MODEL_LIST: ModelList = ModelList {
    whole_page: "",
    field: "data",
    write_head: |_, writer| writer.field("object", "list"),
    write_model,
};

fn write_model(model: &Listed, writer: &mut Writer) {
    let name = model.name.as_str();
    writer.field("id", name);
    writer.field("object", "model");
    writer.field("created", &0_u64);
    writer.field("owned_by", name.split_once('/').map_or("sabir", |(provider, _)| provider));
}

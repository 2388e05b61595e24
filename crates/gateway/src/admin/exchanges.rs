//! The last exchanges, for people and programs that want to know what became of them.

use http::StatusCode;
use sabir_wire::json::Writer;

use crate::Gateway;
use crate::egress;
use crate::egress::Reply;

pub(super) fn all(gateway: &Gateway) -> Reply {
    let mut writer = Writer::with_capacity(16 * 1024);
    writer.object(|it| {
        it.key("exchanges");
        it.array(|list| gateway.exchanges.all().iter().for_each(|seen| seen.write(list)));
    });
    egress::json(StatusCode::OK, writer.into_string())
}

pub(super) fn one(gateway: &Gateway, id: &str) -> Reply {
    let mut writer = Writer::with_capacity(1024);
    match gateway.exchanges.find(id) {
        Some(seen) => {
            seen.write(&mut writer);
            egress::json(StatusCode::OK, writer.into_string())
        }
        None => {
            let message = "no exchange of that id is remembered; only the last 1,000 are, once they have ended";
            writer.object(|it| {
                it.key("error");
                it.object(|it| {
                    it.field("message", message);
                    it.field("type", "not_found_error");
                });
            });
            egress::json(StatusCode::NOT_FOUND, writer.into_string())
        }
    }
}

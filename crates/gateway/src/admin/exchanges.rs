//! The last exchanges, for people and programs that want to know what became of them.

use http::StatusCode;
use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::json::Text;
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
    match gateway.exchanges.find(id) {
        Some(seen) => {
            let mut writer = Writer::with_capacity(1024);
            seen.write(&mut writer);
            egress::json(StatusCode::OK, writer.into_string())
        }
        None => {
            let message = "no exchange of that id is remembered; only the last 1,000 are, once they have ended";
            let mut fault = Fault::new(FaultKind::NotFound, message);
            fault.code = Some(Text::literal("unknown_exchange"));
            let (_, body) = Protocol::OpenaiChat.encode_fault(&fault);
            egress::json(StatusCode::NOT_FOUND, body)
        }
    }
}

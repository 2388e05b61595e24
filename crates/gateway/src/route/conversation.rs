//! What tells one conversation from another: the name that its client gives it, else how it begins. Nothing of it is kept but a number.

use std::hash::{Hash, Hasher};

use sabir_wire::conversation::{Content, Message, Request, Role};
use sabir_wire::json::{Kind, Reader};

use crate::route::stays::{Conversation, Stays};

/// Bytes of a text that tell it from another, with its length.
const TEXT_BYTES_MAX: usize = 256;

/// Who asks, as far as it tells conversations apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller<'c> {
    /// The name of the gateway key.
    pub owner: &'c str,
    /// The conversation or session that the client names.
    pub session: Option<&'c str>,
    /// Whether the call takes its turn among targets.
    pub takes_turn: bool,
}

impl Stays {
    /// The conversation that a request belongs to.
    pub(super) fn conversation(&self, caller: Caller<'_>, request: &Request<'_>) -> Conversation {
        let owner = caller.owner;
        let keyed = || request.cache.key.as_ref().map(|key| key.to_str());
        if let Some(session) = caller.session {
            return Conversation { number: self.number((owner, session)), goes_on: true };
        }
        if let Some(key) = keyed() {
            return Conversation { number: self.number((owner, &*key)), goes_on: true };
        }
        if let Some(session) = session_of_user(request) {
            return Conversation { number: self.number((owner, &*session)), goes_on: true };
        }
        let number = self.number((owner, Opening(&request.messages)));
        let is_answer = |message: &Message<'_>| message.role == Role::Assistant;
        Conversation { number, goes_on: request.messages.iter().any(is_answer) }
    }
}

/// How a conversation begins: its instructions, and what the user said first.
struct Opening<'m, 'a>(&'m [Message<'a>]);

impl Hash for Opening<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let first = self.0.iter().position(|message| message.role == Role::User);
        let end = first.map_or(0, |first| first + 1);
        for part in self.0[..end].iter().flat_map(|message| &message.parts) {
            if let Content::Text(text) = part.content() {
                let text = text.to_str();
                text.len().hash(state);
                text.as_bytes()[..text.len().min(TEXT_BYTES_MAX)].hash(state);
            }
        }
    }
}

/// The session that an agent states inside the id of its end user.
pub(crate) fn session_of_user(request: &Request<'_>) -> Option<String> {
    let user = request.safety_identifier.as_ref()?.to_str();
    let mut session = None;
    let mut reader = Reader::new(&user);
    if reader.kind().ok()? != Kind::Object {
        return None;
    }
    // What is no such object names no session.
    let _ = reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("session_id", Kind::String) => session = Some(reader.string()?.to_str().into_owned()),
            _ => reader.skip()?,
        }
        Ok(())
    });
    session
}

#[cfg(test)]
mod tests {
    use sabir_wire::Protocol;
    use sabir_wire::json::Text;

    use super::*;

    #[test]
    fn a_session_inside_the_users_id_is_found() {
        for (user, session) in [
            (r#"{"device_id":"d","account_uuid":"a","session_id":"s-1"}"#, Some("s-1")),
            (r#"{"device_id":"d"}"#, None),
            ("user-9", None),
            ("{", None),
            ("", None),
        ] {
            let safety_identifier = Some(Text::plain(user));
            let request = Request { safety_identifier, ..Request::default() };
            assert_eq!(session_of_user(&request).as_deref(), session, "{user}");
        }
    }

    #[test]
    fn a_conversation_is_known_by_its_name_or_by_how_it_begins() {
        let stays = Stays::default();
        let caller = Caller { owner: "me", ..Caller::default() };
        let of = |caller, text: &str| {
            let decoded = Protocol::OpenaiChat.decode_request_text(text).unwrap();
            stays.conversation(caller, decoded.request())
        };
        let body = |more: &str| {
            format!(
                r#"{{"messages":[{{"role":"system","content":"be kind"}},{{"role":"user","content":"hello"}}{more}]}}"#
            )
        };
        let answered =
            r#",{"role":"assistant","content":"hi"},{"role":"user","content":"and now?"}"#;
        let (first, second) = (of(caller, &body("")), of(caller, &body(answered)));
        assert_eq!(first.number, second.number);
        assert!(!first.goes_on && second.goes_on);
        let stranger = Caller { owner: "you", ..caller };
        assert_ne!(of(stranger, &body("")).number, first.number);
        assert_ne!(of(caller, &body("").replace("hello", "help!")).number, first.number);
        let named = Caller { session: Some("s-1"), ..caller };
        let keyed = body("").replacen('{', r#"{"prompt_cache_key":"s-1","#, 1);
        assert_eq!(of(named, &body("")), of(caller, &keyed));
        assert!(of(named, &body("")).goes_on);
    }
}

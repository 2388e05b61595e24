//! Errors, both ways.

use crate::fault::Fault;
use crate::fault::FaultKind;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Text;
use crate::json::Writer;
use crate::protocol::openai_responses::types::THIS;

pub(in crate::protocol) fn decode_fault(status: Option<u16>, body: &str) -> Fault<'static> {
    let stated = status.map(FaultKind::of_status);
    let kind = stated.unwrap_or(FaultKind::UNSTATED);
    let Ok(json) = Json::parse(body) else {
        return Fault::new(kind, Text::plain(body.trim().to_owned()));
    };
    let words = Words::of_body(&json);
    let message = words.message.unwrap_or_else(|| Text::plain(body.trim().to_owned()));
    let told = refined(kind, words.code.as_ref(), words.kind.as_ref());
    let kind = stated.map_or(told, |stated| closer(stated, told));
    let mut fault = Fault::new(kind, message);
    fault.code = words.code;
    fault.param = words.param;
    fault.original = Some((THIS, json.into_owned()));
    fault
}

/// The fault that an error object inside an answer or a stream tells of.
pub(super) fn fault_of_error(error: Json<'_>) -> Fault<'_> {
    let words = Words::of_error(&error);
    let kind = match words.code.as_ref().map(Text::to_str).as_deref() {
        Some("rate_limit_exceeded") => FaultKind::RateLimit,
        Some("server_error") | None => FaultKind::Internal,
        Some("vector_store_timeout") => FaultKind::Timeout,
        Some(code) if is_request_fault(code) => FaultKind::BadRequest,
        Some(_) => FaultKind::Internal,
    };
    let message = words.message.unwrap_or_default();
    let mut fault = Fault::new(refined(kind, words.code.as_ref(), words.kind.as_ref()), message);
    fault.code = words.code;
    fault.param = words.param;
    fault.original = Some((THIS, error));
    fault
}

fn is_request_fault(code: &str) -> bool {
    code.starts_with("invalid_") || code.contains("image") || code.ends_with("_policy")
}

/// The class of a status, where the words do not tell it more closely. They tell no other class: servers give their codes
/// loosely, and the status is what clients act on.
fn closer(status: FaultKind, told: FaultKind) -> FaultKind {
    match told {
        FaultKind::ContextTooLong | FaultKind::Billing => told,
        _ => status,
    }
}

/// The class that the code or the type tells.
fn refined(kind: FaultKind, code: Option<&Text<'_>>, word: Option<&Text<'_>>) -> FaultKind {
    let of = |text: Option<&Text<'_>>| {
        let word = text?.to_str();
        let status = word.parse::<u16>().ok().filter(|status| (400..600).contains(status));
        status.map(FaultKind::of_status).or_else(|| kind_of_word(&word))
    };
    of(code).or_else(|| of(word)).unwrap_or(kind)
}

/// The class that a word of the vendor stands for, whatever the status.
fn kind_of_word(word: &str) -> Option<FaultKind> {
    Some(match word {
        "context_length_exceeded" => FaultKind::ContextTooLong,
        "insufficient_quota" => FaultKind::Billing,
        "invalid_api_key" | "authentication_error" => FaultKind::Authentication,
        "permission_error" | "unsupported_country_region_territory" => FaultKind::Permission,
        "request_too_large" => FaultKind::TooLarge,
        "server_error" | "internal_error" => FaultKind::Internal,
        "timeout" | "timeout_error" => FaultKind::Timeout,
        "rate_limit_exceeded" | "rate_limit_error" => FaultKind::RateLimit,
        "not_found" | "model_not_found" | "not_found_error" => FaultKind::NotFound,
        "server_is_overloaded" | "service_unavailable_error" | "overloaded" | "slow_down" => {
            FaultKind::Overloaded
        }
        _ => return None,
    })
}

/// What an error says.
#[derive(Default)]
struct Words {
    message: Option<Text<'static>>,
    kind: Option<Text<'static>>,
    code: Option<Text<'static>>,
    param: Option<Text<'static>>,
}

impl Words {
    /// Reads a body: `{"error": {…}}`, the same in a list, or an error that is only a string beside its code.
    fn of_body(body: &Json<'_>) -> Self {
        let mut words = Self::default();
        let body = match body.kind() {
            Kind::Array => first_element(body).unwrap_or_else(|| body.reborrow()),
            _ => body.reborrow(),
        };
        words.read(&body);
        words
    }

    fn of_error(error: &Json<'_>) -> Self {
        let mut words = Self::default();
        words.read(error);
        words
    }

    fn read(&mut self, object: &Json<'_>) {
        if object.kind() != Kind::Object {
            return;
        }
        // The value was checked when it was read.
        let _ = object.reader().object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("error", Kind::Object) => self.read(&reader.raw()?),
                ("error" | "message" | "detail", Kind::String) => {
                    self.message = Some(reader.string()?.into_owned());
                }
                ("type", Kind::String) => self.kind = Some(reader.string()?.into_owned()),
                ("code", Kind::String) => self.code = Some(reader.string()?.into_owned()),
                ("code", Kind::Number) => {
                    self.code = Some(Text::plain(reader.number()?.as_str().to_owned()));
                }
                ("param", Kind::String) => self.param = Some(reader.string()?.into_owned()),
                _ => reader.skip()?,
            }
            Ok(())
        });
    }
}

fn first_element<'j>(list: &'j Json<'_>) -> Option<Json<'j>> {
    let mut first = None;
    let read = list.reader().array(|_, reader| {
        let element = reader.raw()?;
        first.get_or_insert(element);
        Ok(())
    });
    read.ok().and(first)
}

pub(in crate::protocol) fn encode_fault(fault: &Fault<'_>) -> (u16, String) {
    let status = status(fault.kind);
    if let Some((protocol, body)) = &fault.original
        && *protocol == THIS
        && is_body(body)
    {
        return (status, body.as_str().to_owned());
    }
    let mut writer = Writer::default();
    writer.object(|writer| {
        writer.key("error");
        write_error(writer, fault);
    });
    (status, writer.into_string())
}

/// Whether an error is a whole body rather than the object inside one.
fn is_body(json: &Json<'_>) -> bool {
    if json.kind() != Kind::Object {
        return true;
    }
    let mut is_body = false;
    // The value was checked when it was read.
    let _ = json.reader().object(|key, reader| {
        is_body |= key == "error";
        reader.skip()
    });
    is_body
}

/// Writes the object that says what went wrong, as bodies and events hold it.
pub(super) fn write_error(writer: &mut Writer, fault: &Fault<'_>) {
    let (word, code) = words(fault.kind);
    writer.object(|writer| {
        writer.field("message", &fault.message);
        writer.field("type", word);
        writer.field("param", &fault.param);
        match own_code(fault) {
            Some(code) => writer.field("code", code),
            None => writer.field("code", &code),
        }
    });
}

/// The code, if it is one of OpenAI's; another vendor's would mean nothing to a client.
pub(super) fn own_code<'f>(fault: &'f Fault<'_>) -> Option<&'f Text<'f>> {
    let is_own = match &fault.original {
        Some((protocol, _)) => protocol.shares_vendor_with(THIS),
        None => true,
    };
    fault.code.as_ref().filter(|_| is_own)
}

/// Writes the error of a failed response. The vendor's own comes back as it was.
pub(super) fn write_response_error(writer: &mut Writer, fault: &Fault<'_>) {
    if let Some((protocol, error)) = &fault.original
        && *protocol == THIS
        && !is_body(error)
    {
        return writer.value(error);
    }
    writer.object(|writer| {
        writer.field("code", &response_code(fault));
        writer.field("message", &fault.message);
    });
}

/// The codes of failed responses are a closed list.
pub(super) fn response_code(fault: &Fault<'_>) -> Text<'static> {
    match fault.kind {
        FaultKind::RateLimit | FaultKind::Billing => Text::literal("rate_limit_exceeded"),
        FaultKind::BadRequest | FaultKind::Unprocessable | FaultKind::TooLarge => {
            Text::literal("invalid_prompt")
        }
        // Clients act on this code, which the vendor sends although its list lacks it.
        FaultKind::ContextTooLong => Text::literal("context_length_exceeded"),
        FaultKind::Authentication
        | FaultKind::Permission
        | FaultKind::NotFound
        | FaultKind::Conflict
        | FaultKind::Internal
        | FaultKind::Overloaded
        | FaultKind::Timeout
        | FaultKind::Cancelled
        | FaultKind::Truncated => Text::literal("server_error"),
    }
}

fn status(kind: FaultKind) -> u16 {
    match kind {
        FaultKind::BadRequest | FaultKind::ContextTooLong => 400,
        FaultKind::Authentication => 401,
        FaultKind::Permission => 403,
        FaultKind::NotFound => 404,
        FaultKind::Conflict => 409,
        FaultKind::TooLarge => 413,
        FaultKind::Unprocessable => 422,
        FaultKind::Billing | FaultKind::RateLimit => 429,
        FaultKind::Cancelled => 499,
        FaultKind::Internal => 500,
        FaultKind::Truncated => 502,
        FaultKind::Overloaded => 503,
        FaultKind::Timeout => 504,
    }
}

/// The error's type and, where the vendor has one, its code.
fn words(kind: FaultKind) -> (&'static str, Option<&'static str>) {
    match kind {
        FaultKind::BadRequest
        | FaultKind::Conflict
        | FaultKind::TooLarge
        | FaultKind::Unprocessable
        | FaultKind::Permission => ("invalid_request_error", None),
        FaultKind::ContextTooLong => ("invalid_request_error", Some("context_length_exceeded")),
        FaultKind::Authentication => ("invalid_request_error", Some("invalid_api_key")),
        FaultKind::NotFound => ("invalid_request_error", Some("not_found")),
        FaultKind::Billing => ("insufficient_quota", Some("insufficient_quota")),
        FaultKind::RateLimit => ("rate_limit_error", Some("rate_limit_exceeded")),
        FaultKind::Internal
        | FaultKind::Overloaded
        | FaultKind::Timeout
        | FaultKind::Cancelled
        | FaultKind::Truncated => ("server_error", None),
    }
}

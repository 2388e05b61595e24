//! Writing the usage.

use crate::conversation::Usage;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::content;
use crate::protocol::openai_chat::types::Shape;
use crate::protocol::openai_chat::types::shape;

/// Reports what the counts hold that they did not hold before.
pub(in crate::protocol::openai_chat) fn report_usage(usage: &Usage<'_>, losing: &mut Losing<'_>) {
    if usage.tool_prompt.is_some_and(|count| count > 0) {
        let reason = "the results of hosted tools count as input";
        losing.count(usage, Field::UsageInput, (LossKind::Renamed, reason));
    }
}

/// Reports the counts that Chat always has and that nobody has given.
pub(in crate::protocol::openai_chat) fn report_absent(usage: &Usage<'_>, losing: &mut Losing<'_>) {
    if losing.is_same() {
        return;
    }
    for (field, count) in [(Field::UsageInput, usage.input), (Field::UsageOutput, usage.output)] {
        if count.is_none() {
            let reason = "Chat always has this count";
            losing.count(usage, field, (LossKind::Synthesised, reason));
        }
    }
}

/// Writes the usage; a total that the vendor did not give is the sum.
pub(in crate::protocol::openai_chat) fn write_usage(
    writer: &mut Writer,
    usage: &Usage<'_>,
    losing: &Losing<'_>,
) {
    let semantics = usage.semantics();
    let own = content::own_extras(losing, semantics);
    let shape = if losing.is_same() { semantics.shape() } else { Shape::default() };
    let mut object = Object::open(writer, own.map(|extras| (extras, "")));
    let needed = (!losing.is_same()).then_some(0);
    let (input, output) = (usage.input.or(needed), usage.output.or(needed));
    object.optional("prompt_tokens", input.as_ref());
    object.optional("completion_tokens", output.as_ref());
    let sum = input.zip(output).map(|(input, output)| input.saturating_add(output));
    let total = usage.total.or(sum.filter(|_| !losing.is_same()));
    object.optional("total_tokens", total.as_ref());
    let cache = usage.cache_read.is_some() || usage.cache_write.is_some();
    if cache || shape.has(shape::PROMPT_DETAILS) {
        let scope = own.map(|extras| (extras, "prompt_tokens_details"));
        let mut details = Object::open(object.key("prompt_tokens_details"), scope);
        details.optional("cached_tokens", usage.cache_read.as_ref());
        details.optional("cache_write_tokens", usage.cache_write.as_ref());
        details.close();
    }
    if usage.reasoning.is_some() || shape.has(shape::COMPLETION_DETAILS) {
        let scope = own.map(|extras| (extras, "completion_tokens_details"));
        let mut details = Object::open(object.key("completion_tokens_details"), scope);
        details.optional("reasoning_tokens", usage.reasoning.as_ref());
        details.close();
    }
    object.close();
}

//! What arrives but comes back otherwise: the source has one way to say it where the target has two, or none.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Losing;
use super::node::media_field;
use crate::conversation::CallForm;
use crate::conversation::CallKey;
use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Message;
use crate::conversation::OutputFormat;
use crate::conversation::Part;
use crate::conversation::Role;
use crate::conversation::Sampling;
use crate::conversation::Source;
use crate::conversation::Tool;
use crate::conversation::ToolCall;
use crate::conversation::ToolChoice;
use crate::conversation::ToolKind;
use crate::conversation::ToolResult;
use crate::json::Json;
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Exchange;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::anthropic_messages;
use crate::protocol::dialect;
use crate::protocol::omitted::omitted;
use crate::protocol::openai_chat::UNNAMED_FILE;
use crate::schema;
use crate::schema::Dialect;
use crate::schema::Strictness;

impl Losing<'_> {
    /// Reports what the source itself has no other way to say, so that its own encoder spells it otherwise.
    pub(super) fn returning(&mut self, exchange: &Exchange<'_>) {
        let request = &exchange.request;
        self.joined_turns(&request.messages);
        self.early_results(&request.messages);
        self.unordered_results(&request.messages);
        self.leading(&request.messages);
        for message in &request.messages {
            match self.source {
                Protocol::OpenaiChat => {
                    self.instructions(message);
                    self.refusals(message);
                }
                Protocol::OpenaiResponses => {
                    self.instructions(message);
                    self.refusals_of_items(message);
                    self.wordless_items(message);
                }
                Protocol::AnthropicMessages | Protocol::Gemini => {
                    message.parts.iter().for_each(|part| self.blank(part));
                }
            }
        }
        self.wish_for_logprobs(&request.sampling);
        request.tools.iter().for_each(|tool| self.parameters(tool));
        request.tool_choice.iter().for_each(|choice| self.tool_choice(choice));
        if let OutputFormat::JsonSchema(output) = &request.output
            && let Some(schema) = &output.schema
        {
            let dialect = match self.source {
                Protocol::AnthropicMessages => Dialect::AnthropicStrict,
                _ if self.is_openai() && output.strict == Some(true) => Dialect::OpenaiStrict,
                _ => dialect::of_output(exchange),
            };
            self.schema(Place::default(), (Field::OutputSchema, schema), dialect);
        }
        if self.source == Protocol::AnthropicMessages {
            anthropic_messages::lose_on_return(request, self.target, self);
        }
    }

    /// How many log probabilities are told is taken only beside the wish for them, which therefore is spelled out.
    fn wish_for_logprobs(&mut self, sampling: &Sampling<'_>) {
        if sampling.top_logprobs.is_some() && sampling.logprobs.is_none() {
            let reason = "how many are told is taken only beside the wish for them";
            self.field(Place::default(), Field::Logprobs, LossKind::Synthesised, reason);
        }
    }

    fn is_openai(&self) -> bool {
        matches!(self.source, Protocol::OpenaiChat | Protocol::OpenaiResponses)
    }

    /// Where custom tools are functions, so is the one that is chosen.
    fn tool_choice(&mut self, choice: &ToolChoice<'_>) {
        let has_custom = match self.target {
            Protocol::OpenaiChat | Protocol::OpenaiResponses => true,
            Protocol::AnthropicMessages | Protocol::Gemini => false,
        };
        if let ToolChoice::Named { form: CallForm::Custom, .. } = choice
            && !has_custom
        {
            let reason = "custom tools are functions here";
            self.field(Place::default(), Field::ToolChoice, LossKind::Renamed, reason);
        }
    }

    /// OpenAI's instructions in several parts become several instructions where they have a slot, not a message.
    fn instructions(&mut self, message: &Message<'_>) {
        let has_slot = matches!(self.target, Protocol::AnthropicMessages | Protocol::Gemini);
        if has_slot && message.role.instructs() && message.parts.len() > 1 {
            let reason = "each part is an instruction of its own";
            self.node(message.semantics().place(), LossKind::Renamed, reason);
        }
    }

    /// In Chat a refusal is a field of its message or a part of its content, which comes to the same.
    fn refusals(&mut self, message: &Message<'_>) {
        let reason = "a refusal stands beside the content or in it";
        for part in message.parts.iter().filter(|part| is_refusal(part)) {
            self.node(part.semantics().place(), LossKind::Renamed, reason);
        }
    }

    /// Chat has words and a refusal in two fields, so that they come back to Responses in another order.
    fn refusals_of_items(&mut self, message: &Message<'_>) {
        if self.target != Protocol::OpenaiChat || !message.parts.iter().any(is_refusal) {
            return;
        }
        let reason = "a refusal stands behind the words of its message";
        for part in message.parts.iter().filter(|it| matches!(it.content(), Content::Text(_))) {
            self.node(part.semantics().place().of_item(), LossKind::Renamed, reason);
        }
    }

    /// An item of Responses without a word beside others of its turn is nothing elsewhere.
    fn wordless_items(&mut self, message: &Message<'_>) {
        let stands_alone = self.target == Protocol::OpenaiChat && message.parts.len() == 1;
        if stands_alone || !message.parts.iter().any(is_wordless) {
            return;
        }
        let item = |part: &Part<'_>| part.semantics().place().of_item();
        let items = message.parts.chunk_by(|one, other| item(one) == item(other));
        for parts in items.filter(|parts| parts.iter().all(is_wordless)) {
            self.node(item(&parts[0]), LossKind::Implied, "an item without words");
        }
    }

    /// Gemini's results come back in the order of their calls, behind which those that answer none stand.
    fn unordered_results(&mut self, messages: &[Message<'_>]) {
        if self.source != Protocol::Gemini {
            return;
        }
        let mut calls: Vec<&ToolCall<'_>> = Vec::new();
        for turn in messages.chunk_by(|one, other| one.role == other.role) {
            let parts = || turn.iter().flat_map(|message| &message.parts);
            if turn[0].role == Role::Assistant {
                calls.clear();
                calls.extend(parts().filter_map(call_of));
                continue;
            }
            // Results that tell an id take their calls first, wherever they stand.
            let (mut is_untold, mut is_mixed) = (false, false);
            let results = parts().filter_map(result_of).inspect(|result| match result.call_id {
                None => is_untold = true,
                Some(_) => is_mixed |= is_untold,
            });
            if is_in_order(results, &calls) && !is_mixed {
                continue;
            }
            for part in parts().filter(|part| result_of(part).is_some()) {
                let reason = "results stand in the order of their calls";
                self.node(part.semantics().place(), LossKind::Renamed, reason);
            }
        }
    }

    /// A result does not say itself what it answers where its call does not stand before it.
    fn early_results(&mut self, messages: &[Message<'_>]) {
        let mut customs: BTreeSet<&Text<'_>> = BTreeSet::new();
        messages.iter().flat_map(|message| &message.parts).for_each(|part| match part.content() {
            Content::ToolCall(call) if call.form == CallForm::Custom => {
                customs.extend(&call.id);
            }
            Content::ToolResult(result) if result.form == CallForm::Custom => {
                let is_told = result.call_id.as_ref().is_some_and(|id| customs.contains(id));
                if !is_told {
                    let reason = "no call says that it answers a custom tool";
                    self.node(part.semantics().place(), LossKind::Approximated, reason);
                }
            }
            _ => {}
        });
    }

    fn parameters(&mut self, tool: &Tool<'_>) {
        let ToolKind::Function(function) = &tool.kind else { return };
        if let Some(schema) = &function.parameters {
            let is_strict = function.strict == Some(true) && self.is_openai();
            let strictness = if is_strict { Strictness::Strict } else { Strictness::Loose };
            self.incomplete(tool.semantics().place(), schema, strictness);
            let dialect = match is_strict {
                true => Dialect::OpenaiStrict,
                false => dialect::of_parameters(self.source, tool),
            };
            self.schema(tool.semantics().place(), (Field::ToolParameters, schema), dialect);
        }
    }

    /// OpenAI wants spelled out what a schema may leave out elsewhere.
    fn incomplete(&mut self, place: Place, schema: &Json<'_>, strictness: Strictness) {
        let goes_elsewhere = matches!(self.target, Protocol::AnthropicMessages | Protocol::Gemini);
        if self.is_openai()
            && goes_elsewhere
            && !schema::complete_tool(schema, strictness).losses.is_empty()
        {
            let reason = "the vendor wants properties and items spelled out";
            self.field(place, Field::ToolParameters, LossKind::Renamed, reason);
        }
    }

    /// What a vendor does not read of its own schemas need not come back.
    fn schema(&mut self, place: Place, (field, schema): (Field, &Json<'_>), dialect: Dialect) {
        let reads_all = dialect == Dialect::JsonSchema;
        if !reads_all && !schema::is_supported(schema, dialect) {
            let reason = "the vendor does not read all words of this schema";
            self.field(place, field, LossKind::Renamed, reason);
        }
    }

    /// Anthropic and Gemini refuse a text of nothing but white space.
    fn blank(&mut self, part: &Part<'_>) {
        match part.content() {
            Content::Text(text) if text.is_blank() => {
                let reason = "white space alone says nothing";
                self.node(part.semantics().place(), LossKind::Implied, reason);
            }
            Content::ToolResult(result) => {
                result.output.parts().iter().for_each(|part| self.blank(part));
            }
            _ => {}
        }
    }

    /// In Chat a result may name its tool, which its call has named already.
    pub(super) fn result_name(&mut self, place: Place, name: Option<&Text<'_>>) {
        if name.is_none() {
            return;
        }
        if self.source == Protocol::OpenaiChat && !self.lost.has(Field::ResultName) {
            let reason = "the call names the tool";
            self.field(place, Field::ResultName, LossKind::Implied, reason);
        }
        self.set(place, Field::ResultName);
    }

    /// Gemini's neighbouring contents of one side are one turn, and a content without words is none: elsewhere they
    /// may be told apart, but they do not come back that way.
    fn joined_turns(&mut self, messages: &[Message<'_>]) {
        if self.source != Protocol::Gemini {
            return;
        }
        let is_turn = |message: &&Message<'_>| !message.role.instructs();
        let mut before: Option<&Message<'_>> = None;
        for message in messages.iter().filter(is_turn) {
            let place = message.semantics().place();
            if !self.is_heard(message) {
                if message.parts.is_empty() || message.parts.iter().any(is_wordless) {
                    self.node(place, LossKind::Implied, "a turn without words");
                }
                continue;
            }
            let same_side = before
                .filter(|it| (it.role == Role::Assistant) == (message.role == Role::Assistant));
            if let Some(before) = same_side {
                let reason = "neighbours of one side are one turn";
                self.node(before.semantics().place(), LossKind::Renamed, reason);
                self.node(place, LossKind::Renamed, reason);
            }
            before = Some(message);
        }
    }

    /// Whether the target hears anything of a message.
    pub(in crate::protocol) fn is_heard(&self, message: &Message<'_>) -> bool {
        let is_told = || omitted(message).next().is_some();
        message.parts.iter().any(|part| self.arrives(message.role, part)) || is_told()
    }

    /// Whether the target hears of a part at all.
    pub(in crate::protocol) fn arrives(&self, role: Role, part: &Part<'_>) -> bool {
        match part.content() {
            _ if is_wordless(part) => false,
            Content::Opaque(_) | Content::Reasoning(_) => false,
            // Only Gemini's models answer with media that go back to them.
            Content::Media(_) if role == Role::Assistant => self.target == Protocol::Gemini,
            Content::Media(media) => self.takes(media),
            Content::Text(_)
            | Content::ToolCall(_)
            | Content::ToolResult(_)
            | Content::Refusal(_) => true,
        }
    }

    fn takes(&self, media: &Media<'_>) -> bool {
        let is_image = media.kind == MediaKind::Image;
        let is_known = !matches!(self.target.fate(media_field(media.kind)), Fate::Lost(..));
        match media.source {
            Source::File { .. } => false,
            Source::Url { .. } => is_known && (is_image || self.target != Protocol::OpenaiChat),
            Source::Base64 { .. } | Source::Text { .. } => is_known,
        }
    }

    /// In Responses, instructions before which nothing is heard are those that have a field of their own.
    fn leading(&mut self, messages: &[Message<'_>]) {
        if self.source != Protocol::OpenaiResponses {
            return;
        }
        let mut is_first = true;
        for message in messages {
            let is_heard = self.is_heard(message);
            if is_heard && !message.role.instructs() {
                return;
            }
            if (is_heard || message.is_blank()) && !is_first {
                let reason = "instructions that come first have a field of their own";
                self.node(message.semantics().place(), LossKind::Renamed, reason);
            }
            is_first = false;
        }
    }

    /// A file of the name that Chat gives to nameless ones gets it again.
    pub(super) fn media_name(&mut self, place: Place, name: Option<&Text<'_>>) {
        let Some(name) = name else { return };
        let is_given_again = self.source == Protocol::OpenaiChat && *name == UNNAMED_FILE;
        match self.target.fate(Field::MediaName) {
            Fate::Lost(..) if is_given_again => {
                let reason = "the name of files that have none";
                self.field(place, Field::MediaName, LossKind::Implied, reason);
            }
            _ => self.set(place, Field::MediaName),
        }
    }
}

/// Whether a part is a text without a word, or a document that is one.
pub(in crate::protocol) fn is_wordless(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) => text.is_blank(),
        Content::Media(media) => {
            matches!(&media.source, Source::Text { text, .. } if text.is_blank())
        }
        _ => false,
    }
}

fn is_refusal(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Refusal(_))
}

fn call_of<'p>(part: &'p Part<'_>) -> Option<&'p ToolCall<'p>> {
    match part.content() {
        Content::ToolCall(call) => Some(call),
        _ => None,
    }
}

fn result_of<'p>(part: &'p Part<'_>) -> Option<&'p ToolResult<'p>> {
    match part.content() {
        Content::ToolResult(result) => Some(result),
        _ => None,
    }
}

/// So many calls are looked through for each result.
const FEW: usize = 16;

/// Whether results stand in the order of the calls that they answer, those that answer none behind.
fn is_in_order<'p>(
    results: impl Iterator<Item = &'p ToolResult<'p>>,
    calls: &[&'p ToolCall<'p>],
) -> bool {
    let keys = |result| CallKey::of_result(result).into_iter().flatten();
    if calls.len() <= FEW {
        let position = |key: CallKey<'_>| calls.iter().position(|call| key.matches(call));
        let rank = |result| keys(result).find_map(position).unwrap_or(calls.len());
        return results.map(rank).is_sorted();
    }
    let mut positions = BTreeMap::new();
    for (position, call) in calls.iter().enumerate() {
        for key in CallKey::of_call(call) {
            positions.entry(key).or_insert(position);
        }
    }
    let position = |key: CallKey<'_>| positions.get(&key).copied();
    results.map(|result| keys(result).find_map(position).unwrap_or(calls.len())).is_sorted()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Arguments;
    use crate::conversation::ResultOutput;
    use crate::json::Text;

    fn call(id: Option<usize>, name: &'static str) -> ToolCall<'static> {
        ToolCall {
            id: id.map(|id| Text::plain(id.to_string())),
            name: Text::literal(name),
            arguments: Arguments::Text(Text::default()),
            form: CallForm::Function,
        }
    }

    fn result(id: Option<usize>, name: &'static str) -> ToolResult<'static> {
        ToolResult {
            call_id: id.map(|id| Text::plain(id.to_string())),
            name: Some(Text::literal(name)),
            output: ResultOutput::Parts(Vec::new().into()),
            is_error: None,
            form: CallForm::Function,
        }
    }

    #[test]
    fn many_calls_are_ordered_like_few() {
        let few = [call(Some(0), "f"), call(None, "g"), call(Some(2), "f")];
        // More calls of another name behind them change nothing.
        let more: Vec<ToolCall<'_>> = (3..3 + FEW).map(|id| call(Some(id), "h")).collect();
        let few: Vec<&ToolCall<'_>> = few.iter().collect();
        let many: Vec<&ToolCall<'_>> = few.iter().copied().chain(&more).collect();
        let ids = [None, Some(0), Some(2), Some(99)];
        let choices = ids.into_iter().flat_map(|id| ["f", "g", "x"].map(|name| result(id, name)));
        let choices: Vec<ToolResult<'_>> = choices.collect();
        for one in &choices {
            for two in &choices {
                let results = || [one, two].into_iter();
                assert_eq!(is_in_order(results(), &few), is_in_order(results(), &many));
            }
        }
    }
}

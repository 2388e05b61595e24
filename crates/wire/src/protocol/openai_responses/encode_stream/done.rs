//! Writing the ends of items and of their parts, each with all that it has grown to.

use crate::conversation::{Arguments, CallForm, Content, Part};
use crate::json::{Json, Text, Writer};
use crate::loss::Report;
use crate::protocol::openai_responses::encode_request::part::{
    Side, cites_all, write_logprobs, write_part,
};
use crate::protocol::openai_responses::encode_response::output::{
    Stage, Thing, client_form, is_cut_off, is_half_call, no_arguments, write_item,
};
use crate::protocol::openai_responses::encode_stream::item::{
    Names, OutItem, TEXT, input_names, words_of,
};
use crate::protocol::openai_responses::encode_stream::{Encoder, ItemPart};
use crate::protocol::openai_responses::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::{AnswerContext, Logprobs, Protocol, arguments};

/// Writes the list of log probabilities that every event about a text has. It has no bytes, so that those of other
/// protocols wait for the finished part, where nothing of them is lost.
pub(super) fn write_own_logprobs(
    writer: &mut Writer,
    source: Protocol,
    logprobs: Option<&Logprobs<'_>>,
) {
    writer.key("logprobs");
    match logprobs.filter(|_| source == SELF) {
        Some(logprobs) => write_logprobs(writer, source, &logprobs.entries()),
        None => writer.array(|_| {}),
    }
}

impl Encoder<'_> {
    /// Completes the items all of whose parts are closed.
    pub(super) fn finish_closed(&mut self) {
        let mut unfinished = std::mem::take(&mut self.unfinished);
        unfinished.retain(|item| {
            if self.items[*item].is_closed() {
                self.finish_item(*item);
            }
            self.items[*item].json.is_none()
        });
        self.unfinished = unfinished;
    }

    /// Completes every item.
    pub(super) fn finish_items(&mut self) {
        for item in 0..self.items.len() {
            self.finish_item(item);
        }
    }

    pub(super) fn finish_item(&mut self, item: usize) {
        if self.items[item].json.is_some() {
            return;
        }
        for at in 0..self.items[item].parts.len() {
            self.part_done((item, at));
        }
        let json = self.written(item, if self.is_cut(item) { Stage::Cut } else { Stage::Complete });
        self.frame("response.output_item.done", |writer| {
            writer.field("output_index", &item);
            writer.field("item", &json);
        });
        self.items[item].json = Some(json);
    }

    /// Keeps what there is of an item that will not be complete, for the response at the end alone. Half of what a custom
    /// tool is called with is not kept: such calls have no status that says so.
    pub(super) fn break_item(&mut self, item: usize) {
        let OutItem { parts, json, .. } = &self.items[item];
        let is_function = parts.first().is_some_and(|part| !is_custom(&self.context, part));
        if json.is_none() && is_function {
            self.items[item].json = Some(self.written(item, Stage::Cut));
        }
    }

    /// Whether the answer, the end of which is known, broke off in an item.
    fn is_cut(&self, item: usize) -> bool {
        let is_last = item + 1 == self.items.len();
        let may_be = is_last && !self.is_same() && self.ending().is_early();
        may_be && self.items[item].parts.first().is_some_and(|it| is_cut_off(self.source, it))
    }

    /// Whether an item is a call of another protocol with arguments that are not whole.
    pub(super) fn is_half(&self, item: usize) -> bool {
        let first = self.items[item].parts.first().filter(|_| !self.is_same());
        first.is_some_and(|part| is_half_call(self.source, part))
    }

    /// An item as it stands.
    pub(super) fn written(&mut self, item: usize, stage: Stage) -> Json<'static> {
        let OutItem { parts, doubled, .. } = &self.items[item];
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        let thing = Thing { parts, number: item, handed: None, doubled: *doubled, stage };
        Json::written(|writer| write_item(writer, &mut reporter, &self.context, &thing))
    }

    /// Completes the closed parts of a message that goes on.
    pub(super) fn finish_parts(&mut self, item: usize) {
        for at in self.items[item].finished..self.items[item].parts.len() {
            if self.items[item].states[at].closed {
                self.part_done((item, at));
            }
        }
        let OutItem { states, finished, .. } = &mut self.items[item];
        *finished += states[*finished..].iter().take_while(|state| state.done).count();
    }

    /// Emits that a part is complete, with all that it has grown to; once.
    fn part_done(&mut self, (item, at): ItemPart) {
        if std::mem::replace(&mut self.items[item].states[at].done, true) {
            return;
        }
        if let Some((names, text)) = words_of(&mut self.items[item].parts[at]) {
            let text = text.clone();
            return self.text_done((item, at), (names, &text));
        }
        self.end_piece((item, at));
        self.call_done((item, at));
    }

    fn text_done(&mut self, (item, at): ItemPart, (names, text): (&Names, &Text<'_>)) {
        self.add_part((item, at));
        let citations = self.items[item].parts[at].semantics().citations();
        let waiting: Vec<_> = citations.iter().filter(|it| cites_all(it)).cloned().collect();
        waiting.iter().for_each(|citation| self.annotate((item, at), citation));
        let is_owed = self.is_same() && self.items[item].states[at].logprobs.is_some();
        if names.done == TEXT.done && is_owed {
            self.text_delta((item, at), (names, &Text::default()));
        }
        let position = (item, Some((names.index, at)));
        let logprobs = self.items[item].parts[at].semantics().logprobs().cloned();
        let source = self.source;
        self.item_frame(names.done, position, |writer| {
            writer.field(names.key, text);
            if names.done == TEXT.done {
                write_own_logprobs(writer, source, logprobs.as_ref());
            }
        });
        let mut unread = Report::default();
        let mut reporter = Reporter::new(self.source, SELF, &mut unread);
        let part = &self.items[item].parts[at];
        let part = Json::written(|it| write_part(it, &mut reporter, part, Side::Output));
        self.item_frame(names.part_done, position, |writer| writer.field("part", &part));
    }

    fn call_done(&mut self, (item, at): ItemPart) {
        if let Content::ToolCall(call) = self.items[item].parts[at].content()
            && let Some(Arguments::Text(empty)) = no_arguments(self.source, call)
        {
            self.grow_call((item, at), &empty);
        }
        let Content::ToolCall(call) = self.items[item].parts[at].content() else { return };
        let Arguments::Text(text) = &call.arguments else { return };
        let mut text = text.clone();
        let form = client_form(&self.context, call);
        let (delta, done, key) = input_names(form);
        if form == CallForm::Custom && call.form == CallForm::Function {
            text = arguments::custom_input(&call.arguments).unwrap_or(text);
            self.item_frame(delta, (item, None), |writer| writer.field("delta", &text));
        }
        self.item_frame(done, (item, None), |writer| writer.field(key, &text));
    }
}

fn is_custom(context: &AnswerContext<'_>, part: &Part<'_>) -> bool {
    let Content::ToolCall(call) = part.content() else { return false };
    client_form(context, call) == CallForm::Custom
}

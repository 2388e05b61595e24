//! What a conversation holds of compactions, and what is left of it to be summarised.

use memchr::memmem;
use sabir_compose::compact::{Plan, Questions, questions, summary_text};
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Message, Opaque, Part, Request, Role};
use sabir_wire::json::{Json, Reader as JsonReader};
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::target::Target;

use crate::attempt::estimated_tokens;
use crate::compact::explained;
use crate::failure::{Failure, Result};
use crate::recalled::{Recalled, Stretch};
use crate::seal::{PREFIX, Seal};
use crate::summaries::{
    Before, Returned, StandsFor, Summaries, all_but_newest, is_trigger, newest,
};
use crate::surface;
use crate::surface::{COMPACTION, CompactionTrouble};

/// What a model reads at once; it stays a body that is read on the thread of its connection.
const PIECE_BYTES_MAX: usize = 192 * 1024;
/// Less is no use to anybody.
const PIECE_BYTES_MIN: usize = 4 * 1024;

/// What a model with this window reads at once: two bytes a token, which leaves room for the prompt, the summary so far and
/// the answer in most languages.
pub(super) fn piece_bytes(window: Option<u64>) -> usize {
    let fitting = window.map_or(PIECE_BYTES_MAX as u64, |tokens| tokens.saturating_mul(2));
    usize::try_from(fitting).unwrap_or(usize::MAX).clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX)
}

/// Whether a conversation may hold a compaction, or ask for one.
pub(super) fn may_concern(source: &str, recalled: Option<&Recalled>) -> bool {
    holds(source, "compact") || recalled.is_some_and(|it| in_recalled(it, COMPACTION))
}

/// Whether a conversation holds a compaction that was sealed here.
pub(super) fn holds_own(source: &str, recalled: Option<&Recalled>) -> bool {
    holds(source, PREFIX) || recalled.is_some_and(|it| in_recalled(it, PREFIX))
}

fn in_recalled(recalled: &Recalled, word: &str) -> bool {
    // What the client names by its id stands in the body by now.
    holds(&recalled.body, word)
        || recalled.stretches.iter().any(|stretch| holds(stretch.kept.as_body(), word))
}

fn holds(text: &str, word: &str) -> bool {
    memmem::find(text.as_bytes(), word.as_bytes()).is_some()
}

/// Who is asked, and whose summaries can be read.
pub(super) struct Reader<'s> {
    pub(super) client: Protocol,
    pub(super) seal: &'s Seal,
    pub(super) owner: &'s str,
    /// Who would have to read a compaction that is not this gateway's.
    pub(super) provider: &'s str,
    /// Whether that provider may have made it.
    pub(super) is_native: bool,
    /// The conversation that another provider's compaction stands for, where the store has it.
    pub(super) stored: Option<Vec<Stretch>>,
}

/// The newest compaction of the conversation, if it can be read.
impl Reader<'_> {
    pub(super) fn returned(&self, recalled: &Recalled) -> Result<Option<Returned>> {
        let decoded = recalled.decoded()?;
        let Some((at, part, opaque)) = newest(&decoded.request().messages, COMPACTION) else {
            return Ok(None);
        };
        let stands_for = match kind(part, opaque) {
            Item::Foreign(_) | Item::Recalled if self.is_native => return Ok(None),
            Item::Foreign(_) => match &self.stored {
                Some(stretches) => StandsFor::History(self.restored(stretches)?),
                None => return Err(self.foreign()),
            },
            // What it stands for is before it.
            Item::Recalled => StandsFor::History(Vec::new()),
            Item::Readable => return self.read(opaque, at).map(Some),
        };
        let before = match kind(part, opaque) {
            Item::Foreign(_) => Before::Still(|message| message.role.instructs()),
            Item::Recalled | Item::Readable => Before::Still(|_| true),
        };
        Ok(Some(Returned { at, stands_for, before }))
    }

    fn restored(&self, stretches: &[Stretch]) -> Result<Vec<Message<'static>>> {
        let mut messages = Vec::new();
        for Stretch { turn, kept } in stretches {
            let restored = kept.messages(*turn, self.client)?;
            messages.extend(restored.into_iter().map(Message::into_owned));
        }
        messages.retain(|message| !is_trigger(message));
        Ok(messages)
    }

    fn read(&self, opaque: &Opaque<'_>, at: (usize, usize)) -> Result<Returned> {
        let still_counts = surface::of(opaque.protocol).compaction.still_counts;
        let member = |name: &str| opaque.json.reader().peek_tag(name).ok().flatten();
        let content = member("content").map(|content| content.into_str().into_owned());
        let sealed = member("encrypted_content").map(|sealed| sealed.into_str().into_owned());
        let sealed = sealed.filter(|sealed| sealed.starts_with(PREFIX));
        let Some(sealed) = sealed else {
            // What another provider wrote in the open can be read by everybody.
            let content = content.ok_or_else(|| self.foreign())?;
            let stands_for = StandsFor::Summary(summary_text(0, &content));
            return Ok(Returned { at, stands_for, before: Before::Still(still_counts) });
        };
        let opened = self.seal.open(self.owner, &sealed).and_then(|text| Sealed::parse(&text));
        let opened = opened.ok_or_else(|| self.trouble(&CompactionTrouble::Unsealed))?;
        if content.is_some_and(|content| content != opened.summary) {
            return Err(self.trouble(&CompactionTrouble::Changed));
        }
        let stands_for = StandsFor::Summary(summary_text(opened.messages, &opened.summary));
        let before = match opened.place {
            Place::BeforeAnswer => Before::Newest,
            Place::Alone => Before::Still(still_counts),
        };
        Ok(Returned { at, stands_for, before })
    }

    fn foreign(&self) -> Box<Failure> {
        self.trouble(&CompactionTrouble::Foreign(self.provider.to_owned()))
    }

    pub(super) fn trouble(&self, trouble: &CompactionTrouble) -> Box<Failure> {
        explained(self.client, trouble)
    }
}

/// Who can read a compaction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// This gateway: it was sealed here, or its words stand in the open.
    Readable,
    /// Another provider, by the id of the item.
    Foreign(String),
    /// Another provider; it stands in a conversation that is kept here, behind what it stands for.
    Recalled,
}

/// The newest compaction of a conversation.
pub(super) fn item(recalled: &Recalled) -> Result<Option<Item>> {
    let decoded = recalled.decoded()?;
    let newest = newest(&decoded.request().messages, COMPACTION);
    Ok(newest.map(|(_, part, opaque)| kind(part, opaque)))
}

fn kind(part: &Part<'_>, opaque: &Opaque<'_>) -> Item {
    let member = |name: &str| opaque.json.reader().peek_tag(name).ok().flatten();
    let sealed = member("encrypted_content");
    if sealed.is_some_and(|sealed| sealed.to_str().starts_with(PREFIX))
        || member("content").is_some()
    {
        return Item::Readable;
    }
    match part.semantics().place().to_string().starts_with("/turns/") {
        true => Item::Recalled,
        false => {
            let id = member("id").map(|id| id.into_str().into_owned());
            Item::Foreign(id.unwrap_or_default())
        }
    }
}

/// What is sealed: the summary, how many messages it stands for, and what followed it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sealed {
    pub(super) messages: usize,
    pub(super) place: Place,
    pub(super) summary: String,
}

/// Where a summary was given to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// As all of an answer.
    Alone,
    /// Before the answer that was given from it.
    BeforeAnswer,
}

/// Stands behind the number of messages where the answer followed.
const BEFORE_ANSWER: &str = "+";

impl Sealed {
    pub(super) fn write(&self) -> String {
        let place = match self.place {
            Place::Alone => "",
            Place::BeforeAnswer => BEFORE_ANSWER,
        };
        format!("{}{place}\n{}", self.messages, self.summary)
    }

    fn parse(text: &str) -> Option<Self> {
        let (messages, summary) = text.split_once('\n')?;
        let (messages, place) = match messages.strip_suffix(BEFORE_ANSWER) {
            Some(messages) => (messages, Place::BeforeAnswer),
            None => (messages, Place::Alone),
        };
        Some(Self { messages: messages.parse().ok()?, place, summary: summary.to_owned() })
    }
}

/// What the user said in a conversation, as a list of the client's protocol.
pub(super) fn user_items(recalled: &Recalled) -> Result<Json<'static>> {
    // An earlier summary is not the user's.
    let given = Recalled { summaries: Summaries::default(), ..recalled.clone() };
    let decoded = given.decoded()?;
    let messages = decoded.request().messages.iter().filter(|message| is_users(message));
    let request = Request { messages: messages.cloned().collect(), ..Request::default() };
    let only = DecodedRequest::new(recalled.client, request);
    let body = only.encode(recalled.client, &Target::default())?.body;
    let mut list = None;
    JsonReader::new(&body).object(|key, reader| {
        let value = reader.raw()?;
        if key == *surface::of(recalled.client).state.messages {
            list = Some(value.into_owned());
        }
        Ok(())
    })?;
    Ok(list.unwrap_or(Json::literal("[]")))
}

fn is_users(message: &Message<'_>) -> bool {
    let is_result = |part: &Part<'_>| matches!(part.content(), Content::ToolResult(_));
    message.role == Role::User && !message.parts.iter().any(is_result)
}

/// What is to be summarised, and what the model goes on with afterwards.
pub(super) struct Work {
    pub(super) questions: Questions,
    pub(super) rest: Option<Plan>,
}

/// All of a conversation, if it has more than so many tokens. The model that summarises it reads so many bytes at once.
pub(super) fn work_above(
    recalled: &Recalled,
    tokens: u64,
    piece_bytes: usize,
) -> Result<Option<Work>> {
    let decoded = recalled.decoded()?;
    let messages = &decoded.request().messages;
    if estimated_tokens(decoded.request()) <= tokens {
        return Ok(None);
    }
    Ok(work(messages, piece_bytes))
}

/// All of a conversation.
pub(super) fn work_now(recalled: &Recalled, piece_bytes: usize) -> Result<Option<Work>> {
    Ok(work(&recalled.decoded()?.request().messages, piece_bytes))
}

fn work(messages: &[Message<'_>], piece_bytes: usize) -> Option<Work> {
    let whole = Plan::whole(messages)?;
    // The model goes on from the newest message, with what that belongs to.
    let rest = all_but_newest(messages);
    let questions = questions(messages, &whole, piece_bytes);
    // Messages without text have nothing to be summarised.
    (!questions.is_empty()).then_some(Work { questions, rest })
}

/// The conversation with an earlier compaction in its place.
pub(super) fn with_returned(recalled: &Recalled, returned: Option<Returned>) -> Recalled {
    let kept = recalled.summaries.kept.clone();
    Recalled { summaries: Summaries { kept, returned, made: None }, ..recalled.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_reads_back() {
        for place in [Place::Alone, Place::BeforeAnswer] {
            let sealed = Sealed { messages: 12, place, summary: "3+\nwords".to_owned() };
            assert_eq!(Sealed::parse(&sealed.write()), Some(sealed));
        }
        assert_eq!(Sealed::parse("12\n").map(|it| it.place), Some(Place::Alone));
        for wrong in ["", "12", "+\nwords", "a\nwords"] {
            assert_eq!(Sealed::parse(wrong), None, "{wrong}");
        }
    }
}

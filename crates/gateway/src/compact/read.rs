//! What a conversation holds of compactions, and what is left of it to be summarised.

use memchr::memmem;
use sabir_compose::compact::{Keep, Plan, Questions, plan, questions, summary_text, weight};
use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Message, Opaque, Part, Request, Role};
use sabir_wire::json::{Json, Reader as JsonReader};
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::target::Target;

use crate::failure::{Failure, Result, Whose};
use crate::recalled::Recalled;
use crate::seal::{PREFIX, Seal};
use crate::summaries::{Returned, Summaries, newest};
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

/// As in English prose and most code.
const BYTES_PER_TOKEN: usize = 4;

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
}

/// The newest compaction of the conversation, if it can be read.
impl Reader<'_> {
    pub(super) fn returned(&self, recalled: &Recalled) -> Result<Option<Returned>> {
        let decoded = recalled.decoded()?;
        let Some((at, opaque)) = newest(&decoded.request().messages, COMPACTION) else {
            return Ok(None);
        };
        if self.is_native && !is_sealed_here(opaque) {
            return Ok(None);
        }
        let text = self.text_of(opaque)?;
        let still_counts = surface::of(opaque.protocol).compaction.still_counts;
        Ok(Some(Returned { at, text, still_counts }))
    }

    fn text_of(&self, opaque: &Opaque<'_>) -> Result<String> {
        let member = |name: &str| opaque.json.reader().peek_tag(name).ok().flatten();
        let content = member("content").map(|content| content.into_str().into_owned());
        let sealed = member("encrypted_content").map(|sealed| sealed.into_str().into_owned());
        let sealed = sealed.filter(|sealed| sealed.starts_with(PREFIX));
        let Some(sealed) = sealed else {
            // What another provider wrote in the open can be read by everybody.
            let foreign = || self.trouble(&CompactionTrouble::Foreign(self.provider.to_owned()));
            return content.map(|content| summary_text(0, &content)).ok_or_else(foreign);
        };
        let opened = self.seal.open(self.owner, &sealed).and_then(|text| Sealed::parse(&text));
        let opened = opened.ok_or_else(|| self.trouble(&CompactionTrouble::Unsealed))?;
        if content.is_some_and(|content| content != opened.summary) {
            return Err(self.trouble(&CompactionTrouble::Changed));
        }
        Ok(summary_text(opened.messages, &opened.summary))
    }

    pub(super) fn trouble(&self, trouble: &CompactionTrouble) -> Box<Failure> {
        Failure::stating(Whose::Client, (surface::of(self.client).compaction.explain)(trouble))
    }
}

/// Whether a compaction claims to be this gateway's.
fn is_sealed_here(opaque: &Opaque<'_>) -> bool {
    let sealed = opaque.json.reader().peek_tag("encrypted_content").ok().flatten();
    sealed.is_some_and(|sealed| sealed.to_str().starts_with(PREFIX))
}

/// Whether there is a compaction at all in what may hold one.
pub(super) fn holds_item(recalled: &Recalled) -> Result<bool> {
    Ok(newest(&recalled.decoded()?.request().messages, COMPACTION).is_some())
}

/// What is sealed: the summary, and how many messages it stands for.
pub(super) struct Sealed {
    pub(super) messages: usize,
    pub(super) summary: String,
}

impl Sealed {
    pub(super) fn write(&self) -> String {
        format!("{}\n{}", self.messages, self.summary)
    }

    fn parse(text: &str) -> Option<Self> {
        let (messages, summary) = text.split_once('\n')?;
        Some(Self { messages: messages.parse().ok()?, summary: summary.to_owned() })
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
    let tools: usize = decoded.request().tools.len() * 4 * 42;
    let estimate = (weight(messages) + tools) / BYTES_PER_TOKEN;
    if u64::try_from(estimate).unwrap_or(u64::MAX) <= tokens {
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
    let rest = plan(messages, Keep { turns: 0, bytes_max: 0 });
    let questions = questions(messages, &whole, piece_bytes);
    // Messages without text have nothing to be summarised.
    (!questions.is_empty()).then_some(Work { questions, rest })
}

/// The conversation with an earlier compaction in its place.
pub(super) fn with_returned(recalled: &Recalled, returned: Option<Returned>) -> Recalled {
    Recalled { summaries: Summaries { returned, made: None }, ..recalled.clone() }
}

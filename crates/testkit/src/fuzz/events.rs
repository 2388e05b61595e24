//! Events out of bytes: every sequence can be said, most of them illegal.

use sabir_wire::conversation::{
    CallForm, Content, Count, Finish, FinishKind, Media, MediaKind, Opaque, ReasoningForm, Source,
    Usage,
};
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::{
    Closed, Delta, Event, Logprobs, NodeSemantics, Note, NoteAt, NoteKind, Open, Opening, PartId,
    Start,
};
use sabir_wire::{Fault, FaultKind, Place, Protocol};

/// How many bytes make an event: what it is, which part it is about, and what it says.
const EVENT_BYTES: usize = 3;

/// The highest number of a candidate: folding makes room for all the candidates before it.
const CANDIDATE_MAX: u32 = 200;

/// Texts that deltas are made of.
const TEXTS: &[&str] = &["", "tide", "{\"a\":", "1}", "\"\\\n\u{0}", "🌊", " ", "{}", "]"];

const FINISHES: &[FinishKind] = &[
    FinishKind::Stop,
    FinishKind::StopSequence,
    FinishKind::ToolCalls,
    FinishKind::Length,
    FinishKind::ContextFull,
    FinishKind::ContentFilter,
    FinishKind::PromptFilter,
    FinishKind::Refusal,
    FinishKind::Pause,
    FinishKind::MalformedCall,
    FinishKind::Failed,
    FinishKind::Other,
];

/// The events that some bytes stand for. Part numbers mostly continue the count, so that many sequences are nearly legal.
pub fn events(bytes: &[u8]) -> Vec<Event<'static>> {
    let mut opened = 0;
    bytes
        .chunks_exact(EVENT_BYTES)
        .map(|chunk| {
            let event = event([chunk[0], chunk[1], chunk[2]], opened);
            if let Event::Open(open) = &event {
                opened = open.part.0.saturating_add(1);
            }
            event
        })
        .collect()
}

fn event([what, which, byte]: [u8; EVENT_BYTES], opened: u32) -> Event<'static> {
    let part = PartId(u32::from(which % 8));
    let candidate = u32::from(which % 3);
    match what % 16 {
        0 => Event::Start(start(byte)),
        1..=4 => Event::Open(Open {
            part: if which < 240 { PartId(opened) } else { PartId(u32::MAX - 1) },
            candidate: if which == 255 { CANDIDATE_MAX } else { candidate },
            opening: opening(byte),
            semantics: NodeSemantics::default(),
        }),
        5..=8 => Event::Delta(part, Delta::Text(text(byte))),
        9 => Event::Delta(part, Delta::NextPiece),
        10..=11 => Event::Close(Closed { part, semantics: NodeSemantics::default() }),
        12 => Event::Note(note(part, candidate, byte)),
        13 => Event::Usage(usage(byte)),
        14 => Event::Finish { candidate, place: Place::default(), finish: finish(byte) },
        _ => Event::Fault(Fault::new(FaultKind::of_status(400 + u16::from(byte)), text(which))),
    }
}

fn text(byte: u8) -> Text<'static> {
    Text::plain(TEXTS[usize::from(byte) % TEXTS.len()])
}

fn start(byte: u8) -> Start<'static> {
    let known = byte.is_multiple_of(2);
    Start { id: known.then(|| text(byte)), model: known.then(|| text(byte)), ..Start::default() }
}

fn opening(byte: u8) -> Opening<'static> {
    let call =
        |id: Option<Text<'static>>, form| Opening::ToolCall { id, name: text(byte / 8), form };
    match byte % 9 {
        0 => Opening::Text,
        1 => Opening::Refusal,
        2 => Opening::Reasoning(ReasoningForm::Raw),
        3 => Opening::Reasoning(ReasoningForm::Summary),
        4 => Opening::Reasoning(ReasoningForm::Redacted),
        5 => call(Some(text(byte / 4)), CallForm::Function),
        6 => call(None, CallForm::Function),
        7 => call(Some(text(byte / 4)), CallForm::Custom),
        _ => Opening::Whole(whole(byte / 9)),
    }
}

fn whole(byte: u8) -> Content<'static> {
    match byte % 3 {
        0 => Content::Text(text(byte)),
        1 => Content::Media(Box::new(Media {
            kind: MediaKind::Image,
            source: Source::Base64 { mime: Some(Text::plain("image/png")), data: text(byte) },
            detail: None,
            name: None,
        })),
        _ => Content::Opaque(Box::new(Opaque {
            protocol: Protocol::ALL[usize::from(byte) % Protocol::ALL.len()],
            kind: text(byte),
            json: Json::parse("{\"type\":\"x\"}").expect("this is JSON"),
        })),
    }
}

fn note(part: PartId, candidate: u32, byte: u8) -> Note<'static> {
    let at = match byte % 3 {
        0 => NoteAt::Response,
        1 => NoteAt::Candidate(candidate),
        _ => NoteAt::Part(part),
    };
    let kind = match byte % 2 {
        0 => NoteKind::Semantics(NodeSemantics::default()),
        _ => {
            let entries = Json::parse("[{\"token\":\"a\"}]").expect("this is JSON");
            NoteKind::Logprobs(Logprobs::new(entries))
        }
    };
    Note { at, kind }
}

fn usage(byte: u8) -> Usage<'static> {
    let count = if byte == 255 { u64::MAX } else { u64::from(byte) };
    let mut usage = Usage::default();
    usage.counts[Count::Input] = Some(count);
    usage.counts[Count::CacheRead] = byte.is_multiple_of(3).then_some(u64::MAX);
    usage.counts[Count::CacheWrite] = byte.is_multiple_of(5).then_some(7);
    usage.counts[Count::Output] = byte.is_multiple_of(2).then_some(count);
    usage.counts[Count::Reasoning] = byte.is_multiple_of(4).then_some(u64::MAX);
    usage
}

fn finish(byte: u8) -> Finish<'static> {
    let mut finish = Finish::new(FINISHES[usize::from(byte) % FINISHES.len()]);
    finish.raw = byte.is_multiple_of(2).then(|| text(byte));
    finish.stop_sequence = byte.is_multiple_of(5).then(|| text(byte));
    finish
}

//! Sequencing: interleaved parts become one part after another, for protocols whose blocks may not overlap.

use std::collections::VecDeque;

use crate::protocol::event::{Event, NoteAt, PartId};

/// Lets one part through at a time and holds the events of the others back until it closes.
#[derive(Debug, Default)]
pub(in super::super) struct Sequence {
    current: Option<PartId>,
    waiting: VecDeque<BufferedPart>,
    /// Ends of candidates, which come after all parts.
    ends: Vec<Event<'static>>,
}

/// A part that has begun while another was open.
#[derive(Debug)]
struct BufferedPart {
    part: PartId,
    closed: bool,
    events: Vec<Event<'static>>,
}

impl Sequence {
    /// Passes on what may go out now. The part that is open keeps streaming.
    pub(in super::super) fn step(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let Some(part) = event.part() else {
            return self.pass_unless_early(event, emit);
        };
        let opens = matches!(event, Event::Open(_));
        let closes = matches!(event, Event::Close(_));
        if opens && self.current.is_some() {
            let events = vec![event.into_owned()];
            self.waiting.push_back(BufferedPart { part, closed: false, events });
        } else if let Some(waiting) = self.find(part) {
            waiting.closed |= closes;
            waiting.events.push(event.into_owned());
        } else {
            emit(event);
            if opens {
                self.current = Some(part);
            } else if closes && self.current == Some(part) {
                self.release(emit);
            }
        }
    }

    /// The events of a part that waits. Parts are numbered as they begin.
    fn find(&mut self, part: PartId) -> Option<&mut BufferedPart> {
        let at = self.waiting.binary_search_by_key(&part, |waiting| waiting.part).ok()?;
        self.waiting.get_mut(at)
    }

    /// Passes on everything that is still held; for the end of a stream.
    pub(in super::super) fn flush(&mut self, emit: &mut dyn FnMut(Event<'_>)) {
        let waiting = self.waiting.drain(..).flat_map(|waiting| waiting.events);
        waiting.chain(self.ends.drain(..)).for_each(emit);
        self.current = None;
    }

    fn pass_unless_early(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let early = self.current.is_some() && matches!(event, Event::Finish { .. });
        if early { self.ends.push(event.into_owned()) } else { emit(event) }
    }

    /// Lets the waiting parts out one by one, up to the first that is still open.
    fn release(&mut self, emit: &mut dyn FnMut(Event<'_>)) {
        self.current = None;
        while let Some(BufferedPart { part, closed, events }) = self.waiting.pop_front() {
            events.into_iter().for_each(&mut *emit);
            if !closed {
                self.current = Some(part);
                return;
            }
        }
        self.ends.drain(..).for_each(emit);
    }
}

impl Event<'_> {
    /// The part that it belongs to.
    pub(in super::super) fn part(&self) -> Option<PartId> {
        match self {
            Event::Open(open) => Some(open.part),
            Event::Delta(part, _) => Some(*part),
            Event::Close(closed) => Some(closed.part),
            Event::Note(note) => match note.at {
                NoteAt::Part(part) => Some(part),
                NoteAt::Response | NoteAt::Candidate(_) => None,
            },
            Event::Start(_) | Event::Usage(_) | Event::Finish { .. } | Event::Fault(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Finish, FinishKind};
    use crate::json::Text;
    use crate::place::Place;
    use crate::protocol::event::{Closed, Delta, Open, Opening};
    use crate::protocol::semantics::NodeSemantics;

    /// A stream in short: `+0` opens part 0, `0` grows it, `-0` closes it, `!` ends the candidate.
    fn event(word: &str) -> Event<'static> {
        let semantics = NodeSemantics::default();
        let part = |number: &str| PartId(number.parse().unwrap());
        match word.split_at(1) {
            ("!", _) => {
                let finish = Finish::new(FinishKind::Stop);
                Event::Finish { candidate: 0, place: Place::default(), finish }
            }
            ("+", number) => {
                let part = part(number);
                Event::Open(Open { part, candidate: 0, opening: Opening::Text, semantics })
            }
            ("-", number) => Event::Close(Closed { part: part(number), semantics }),
            _ => Event::Delta(part(word), Delta::Text(Text::literal("x"))),
        }
    }

    fn word(event: &Event<'_>) -> String {
        let number = event.part().map_or(String::new(), |part| part.0.to_string());
        let sign = match event {
            Event::Open(_) => "+",
            Event::Close(_) => "-",
            Event::Finish { .. } => "!",
            _ => "",
        };
        format!("{sign}{number}")
    }

    fn check(events: &str, expected: &str) {
        let mut sequence = Sequence::default();
        let mut seen = Vec::new();
        for short in events.split(' ') {
            sequence.step(event(short), &mut |event| seen.push(word(&event)));
        }
        sequence.flush(&mut |event| seen.push(word(&event)));
        assert_eq!(seen.join(" "), expected);
    }

    #[test]
    fn parts_that_follow_each_other_pass_as_they_come() {
        check("+0 0 0 -0 +1 1 -1 !", "+0 0 0 -0 +1 1 -1 !");
    }

    #[test]
    fn interleaved_parts_come_out_one_after_another() {
        check("+0 +1 0 1 0 1 -0 -1 !", "+0 0 0 -0 +1 1 1 -1 !");
        check("+0 +1 +2 2 1 0 -2 -0 1 -1 !", "+0 0 -0 +1 1 1 -1 +2 2 -2 !");
    }

    #[test]
    fn an_end_waits_for_the_parts_before_it() {
        check("+0 +1 1 -1 ! -0", "+0 -0 +1 1 -1 !");
    }

    #[test]
    fn a_stream_that_stops_short_still_tells_what_was_held() {
        check("+0 +1 1", "+0 +1 1");
    }
}

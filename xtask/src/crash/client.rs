//! A client with several conversations under way: it goes on with them until the gateway dies, and finds them again after.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::answer::{Outcome, outcome};
use super::http;
use super::http::Request;
use super::random::Random;
use super::report::{Finding, Report};
use super::story::{Link, Step, Story, Turn};

const LINKS: [Link; 4] = [Link::Chain, Link::Thread, Link::Header, Link::Header];
/// A conversation that is so long gives way to a new one.
const TURNS_MAX: usize = 6;

/// Where everybody is, and whether the gateway is about to die.
pub(super) struct World {
    pub(super) gateway: SocketAddr,
    pub(super) simulators: SocketAddr,
    pub(super) ends: AtomicBool,
}

pub(super) struct Visitor {
    name: String,
    random: Random,
    turns: u64,
    stories: usize,
    open: Vec<Story>,
    /// Stories whose lock was left by a dead node.
    locked: Vec<Story>,
    /// Long ones, to be found again once more.
    done: Vec<Story>,
    pub(super) report: Report,
}

/// What a call did to its story.
enum Moved {
    On,
    Broken,
    /// Nobody goes on with this one.
    Ended,
    Locked,
}

impl Visitor {
    pub(super) fn new(name: String, random: Random) -> Self {
        let (open, locked, done) = (Vec::new(), Vec::new(), Vec::new());
        Self { name, random, turns: 0, stories: 0, open, locked, done, report: Report::default() }
    }

    /// Goes on with one story after the other until the gateway is gone.
    pub(super) fn load(&mut self, world: &World) {
        while !world.ends.load(Ordering::Relaxed) {
            self.fill();
            let index = self.random.below(0..self.open.len() as u64) as usize;
            let mut story = self.open.swap_remove(index);
            let (moved, _) = self.go_on(world, &mut story);
            match moved {
                Moved::Broken => {
                    self.open.push(story);
                    return;
                }
                Moved::On if story.turns.len() < TURNS_MAX => self.open.push(story),
                Moved::On | Moved::Ended => self.done.push(story),
                Moved::Locked => self.locked.push(story),
            }
        }
    }

    /// Looks for everything that was acknowledged since the last crash, and goes on with it.
    pub(super) fn verify(&mut self, world: &World) {
        for mut story in std::mem::take(&mut self.open) {
            match self.find_again(world, &mut story) {
                Moved::Locked => self.locked.push(story),
                Moved::Ended => {}
                Moved::On | Moved::Broken => self.open.push(story),
            }
        }
        for mut story in std::mem::take(&mut self.done) {
            if let Moved::Locked = self.find_again(world, &mut story) {
                self.locked.push(story);
            }
        }
        for mut story in std::mem::take(&mut self.locked) {
            if story.may_be_locked() {
                self.locked.push(story);
            } else {
                self.report.unlocked += 1;
                self.find_again(world, &mut story);
            }
        }
    }

    /// When the last lock that a dead node left must be gone.
    pub(super) fn last_break(&self) -> Option<Instant> {
        self.locked.iter().chain(&self.open).filter_map(|story| story.broken_at).max()
    }

    fn fill(&mut self) {
        while self.open.len() < LINKS.len() {
            self.stories += 1;
            let link = LINKS[self.stories % LINKS.len()];
            self.open.push(Story::new(link, format!("{}-{}", self.name, self.stories)));
        }
    }

    fn find_again(&mut self, world: &World, story: &mut Story) -> Moved {
        if story.link == Link::Chain {
            for turn in &story.turns[story.verified..] {
                self.report.read += 1;
                if let Some(finding) = read_again(world, turn) {
                    self.report.add(finding);
                }
            }
        }
        let known = story.turns.len();
        let (moved, marker) = self.go_on(world, story);
        match moved {
            Moved::On => self.compare(world, story, Continued { known, marker }),
            Moved::Broken => {
                self.report.add(Finding::Other("the gateway died by itself".to_owned()))
            }
            Moved::Ended | Moved::Locked => {}
        }
        story.verified = known;
        moved
    }

    /// Looks at what the simulator was sent.
    fn compare(&mut self, world: &World, story: &Story, continued: Continued) {
        self.report.continued += 1;
        let marker = &continued.marker;
        let arrived = http::get(world.simulators, &format!("/_sim/requests?holds={marker}"));
        let arrived = arrived.json().unwrap_or_default();
        let last = arrived.as_array().and_then(|it| it.last());
        let Some(last) = last else {
            return self.report.add(Finding::Other(format!("nothing was sent for {marker}")));
        };
        if last["valid"] != true {
            self.report.add(Finding::Unreadable(format!("{marker}: a provider refuses {last}")));
        }
        if let Some(missing) = story.missing(continued.known, &last["body"].to_string()) {
            let text = format!("{:?} {}: {missing}: {}", story.link, story.name, last["body"]);
            self.report.add(Finding::Lost(text));
        }
    }

    /// Adds a turn to a story.
    fn go_on(&mut self, world: &World, story: &mut Story) -> (Moved, String) {
        self.turns += 1;
        let marker = format!("{}t{}z", self.name, self.turns);
        let step = story.step(&mut self.random, marker.clone());
        let request = Request {
            method: "POST",
            path: &step.path,
            conversation: step.conversation.as_deref(),
            body: Some(&step.body),
        };
        let reply = http::send(world.gateway, &request);
        let outcome = outcome(step.client, &reply);
        (self.note(story, step, outcome), marker)
    }

    fn note(&mut self, story: &mut Story, step: Step, outcome: Outcome) -> Moved {
        match outcome {
            Outcome::Acknowledged { id, body } => {
                self.report.acknowledged += 1;
                story.acknowledge(step, id, body);
                Moved::On
            }
            Outcome::Unknown => {
                self.report.broken += 1;
                story.broken_at = Some(Instant::now());
                Moved::Broken
            }
            Outcome::Refused(text) => self.refused(story, text),
        }
    }

    /// A lock that a dead node may have left, and a thread that went on without its client's knowledge, are no findings.
    fn refused(&mut self, story: &Story, text: String) -> Moved {
        let is_lock = ["conversation_locked", "thread_continue_in_flight"];
        if is_lock.iter().any(|code| text.contains(code)) && story.may_be_locked() {
            return Moved::Locked;
        }
        let went_on = text.contains("thread_already_continued") && story.broken_at.is_some();
        if !went_on {
            self.report.add(Finding::Lost(format!("{:?} {}: {text}", story.link, story.name)));
        }
        Moved::Ended
    }
}

/// A turn behind so many others.
struct Continued {
    known: usize,
    marker: String,
}

/// Reads a stored response, which must be what its client was sent.
fn read_again(world: &World, turn: &Turn) -> Option<Finding> {
    let reply = http::get(world.gateway, &format!("/v1/responses/{}", turn.id));
    let finding = |text: &str| format!("{text} {}: {} {}", turn.id, reply.status, reply.body);
    match (reply.status, reply.json()) {
        (404, _) => Some(Finding::Lost(finding("unknown"))),
        (200, Ok(body)) => {
            let is_same = |field: &str| body[field] == turn.body[field];
            let is_found = ["id", "status", "output"].into_iter().all(is_same);
            (!is_found).then(|| Finding::Unreadable(finding("another answer than was sent")))
        }
        _ => Some(Finding::Unreadable(finding("unreadable"))),
    }
}

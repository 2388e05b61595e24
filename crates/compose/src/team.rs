//! Who speaks next in a team: whom the last speaker named, else whoever was named before, else the next in turn.

use std::collections::VecDeque;
use std::fmt;

use crate::assemble::{clean, names};

/// What the person is called in front of whom a team works.
pub const USER: &str = "user";

/// A name that a member cannot have, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName(String);

/// The name of a member: what markers can say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberName(String);

/// Whoever speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// By place in the team.
    Member(usize),
    User,
}

/// The members of a team, and whose word comes next.
///
/// ```
/// use sabir_compose::team::{Floor, MemberName, Speaker};
///
/// let team = ["ann", "bob", "carol"].map(|name| MemberName::new(name).expect("a name"));
/// let mut floor = Floor::new(team.to_vec());
/// floor.observe(Speaker::User, "What do you think, carol? [NEXT: carol]");
/// assert_eq!(floor.next(), Speaker::Member(2));
/// floor.observe(Speaker::Member(2), "I am for it.");
/// assert_eq!(floor.next(), Speaker::Member(0));
/// ```
#[derive(Clone, Debug)]
pub struct Floor {
    names: Vec<MemberName>,
    /// Those who were named and have not spoken since.
    waiting: VecDeque<Speaker>,
    /// The member that spoke last.
    last: Option<usize>,
}

impl MemberName {
    /// The name without the white space around it.
    pub fn new(name: &str) -> Result<Self, BadName> {
        let name = name.trim();
        let has_mark = |letter: char| matches!(letter, '[' | ']' | ',') || letter.is_control();
        match name {
            "" => Err(BadName("a member needs a name".to_owned())),
            _ if is_same(name, USER) => {
                Err(BadName(format!("`{USER}` is the person at the terminal")))
            }
            _ if name.contains(has_mark) => {
                let message = "a name has no brackets, commas or line breaks: `[NEXT: name]` could not say it";
                Err(BadName(message.to_owned()))
            }
            _ => Ok(Self(name.to_owned())),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether somebody means this member: letters of either case will do.
    pub fn is(&self, name: &str) -> bool {
        is_same(&self.0, name)
    }
}

impl Floor {
    /// A team in its order. It has at least one member.
    pub fn new(names: Vec<MemberName>) -> Self {
        assert!(!names.is_empty(), "a team has members");
        Self { names, waiting: VecDeque::new(), last: None }
    }

    /// Takes note of what somebody said. Names in it that nobody has come back.
    pub fn observe<'s>(&mut self, speaker: Speaker, text: &'s str) -> Vec<&'s str> {
        if let Speaker::Member(index) = speaker {
            self.last = Some(index);
        }
        self.waiting.retain(|it| *it != speaker);
        let (mut named, mut unknown) = (Vec::new(), Vec::new());
        for name in clean(text).next.into_iter().flat_map(names) {
            match self.find(name) {
                Some(found) if !named.contains(&found) => named.push(found),
                Some(_) => {}
                None => unknown.push(name),
            }
        }
        self.waiting.retain(|it| !named.contains(it));
        named.into_iter().rev().for_each(|it| self.waiting.push_front(it));
        unknown
    }

    /// Whose word it is.
    pub fn next(&self) -> Speaker {
        let in_turn = self.last.map_or(0, |last| (last + 1) % self.names.len());
        self.waiting.front().copied().unwrap_or(Speaker::Member(in_turn))
    }

    pub fn name(&self, speaker: Speaker) -> &str {
        match speaker {
            Speaker::Member(index) => self.names[index].as_str(),
            Speaker::User => USER,
        }
    }

    /// What a member must know of the team: who it is, who else is there, and how the word is handed on.
    pub fn introduction(&self, member: usize) -> String {
        let others = self.names.iter().enumerate().filter(|(index, _)| *index != member);
        let others: Vec<&str> = others.map(|(_, name)| name.as_str()).chain([USER]).collect();
        format!(
            "You are {}. You talk with: {}. To say who speaks next, end with [NEXT: name].",
            self.names[member].as_str(),
            others.join(", ")
        )
    }

    /// Whom a message is for: all whom its marker names, else whoever speaks next.
    pub fn addressees(&self, text: &str) -> Vec<&str> {
        let named = clean(text).next.into_iter().flat_map(names);
        let mut found: Vec<&str> =
            named.filter_map(|name| self.find(name)).map(|it| self.name(it)).collect();
        if found.is_empty() {
            found.push(self.name(self.next()));
        }
        found
    }

    fn find(&self, name: &str) -> Option<Speaker> {
        if is_same(name, USER) {
            return Some(Speaker::User);
        }
        self.names.iter().position(|it| it.is(name)).map(Speaker::Member)
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadName {}

#[cfg(test)]
mod tests;

//! Where conversations went, so that within a class one stays with the target that has its prompt cache and its signatures. What is
//! remembered of a conversation is a number and the names of targets, of so many conversations as were heard of last.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use sabir_compose::class::{Class, Classified};

use crate::route::Candidate;

/// Conversations of which one half of the memory knows. When it is full, the other half is forgotten.
const CONVERSATIONS_MAX: usize = 4_096;

/// Where the conversations of one `[[model]]` went.
#[derive(Debug, Default)]
pub(crate) struct Stays {
    /// Nobody can choose conversations that are taken for each other.
    hasher: RandomState,
    halves: Mutex<Halves>,
}

#[derive(Debug, Default)]
struct Halves {
    young: HashMap<u64, Vec<Went>>,
    old: HashMap<u64, Vec<Went>>,
}

/// The last target of a conversation in one class.
#[derive(Clone, Debug)]
struct Went {
    class: Class,
    target: Arc<str>,
}

/// What is known of the conversation that a call goes on with.
#[derive(Clone, Debug)]
pub(crate) struct Stay {
    conversation: u64,
    classified: Classified,
    /// Its last target in this class.
    home: Option<Arc<str>>,
    /// Its last target in any class.
    last: Option<Arc<str>>,
    /// How many tokens the call has, by estimate.
    tokens: u64,
}

/// A conversation that goes to another target than before, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Switch {
    pub(crate) from: Arc<str>,
    pub(crate) reason: &'static str,
    /// Whether it is its class that has another target.
    pub(crate) by_class: bool,
}

/// How a conversation is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conversation {
    pub(super) number: u64,
    /// Whether there was a call of it before this one, as far as the call itself tells.
    pub(super) goes_on: bool,
}

impl Stays {
    /// The number by which something is remembered.
    pub(super) fn number(&self, of: impl Hash) -> u64 {
        self.hasher.hash_one(of)
    }

    /// What is known of a conversation.
    pub(super) fn stay(&self, conversation: Conversation, classified: Classified) -> Stay {
        let Conversation { number, goes_on } = conversation;
        let halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let went = halves.went(number).filter(|_| goes_on).unwrap_or_default();
        let home = went.iter().find(|it| it.class == classified.class);
        Stay {
            conversation: number,
            classified,
            home: home.map(|it| Arc::clone(&it.target)),
            last: went.last().map(|it| Arc::clone(&it.target)),
            tokens: 0,
        }
    }

    /// A target of the class has answered.
    pub(crate) fn went(&self, stay: &Stay, target: &Candidate) {
        if stay.is_home(target) && stay.last.as_ref().is_some_and(|last| target.is_called(last)) {
            return;
        }
        let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
        let mut went = halves.take(stay.conversation);
        went.retain(|it| it.class != stay.classified.class);
        let target = target.label().into();
        went.push(Went { class: stay.classified.class, target });
        halves.insert(stay.conversation, went);
    }
}

impl Halves {
    fn went(&self, number: u64) -> Option<&[Went]> {
        let went = self.young.get(&number).or_else(|| self.old.get(&number));
        went.map(Vec::as_slice)
    }

    fn take(&mut self, number: u64) -> Vec<Went> {
        let young = self.young.remove(&number);
        let old = self.old.remove(&number);
        young.or(old).unwrap_or_default()
    }

    fn insert(&mut self, number: u64, went: Vec<Went>) {
        if self.young.len() >= CONVERSATIONS_MAX {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(number, went);
    }
}

impl Stay {
    /// The same for a call of about so many tokens.
    pub(super) fn with_tokens(self, tokens: u64) -> Self {
        Self { tokens, ..self }
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tokens
    }

    /// A number for the conversation.
    pub(crate) fn conversation(&self) -> u64 {
        self.conversation
    }

    pub(crate) fn class(&self) -> Class {
        self.classified.class
    }

    /// Whether the conversation is at home at a target.
    pub(crate) fn is_home(&self, target: &Candidate) -> bool {
        self.home.as_ref().is_some_and(|home| target.is_called(home))
    }

    /// Whether the conversation has a home.
    pub(super) fn has_home(&self) -> bool {
        self.home.is_some()
    }

    /// What is to be told if the conversation goes to this target: why it is not at home, or else by which class it has another.
    pub(crate) fn switch(&self, to: &Candidate, why_not_home: &'static str) -> Option<Switch> {
        let (from, reason, by_class) = match &self.home {
            Some(home) if !to.is_called(home) => (home, why_not_home, false),
            _ => (self.last.as_ref()?, self.classified.reason, true),
        };
        (!to.is_called(from)).then(|| Switch { from: Arc::clone(from), reason, by_class })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::order::tests::candidate;

    fn known(stays: &Stays, number: u64, class: Class) -> Stay {
        let conversation = Conversation { number, goes_on: true };
        stays.stay(conversation, Classified { class, reason: "by its class" })
    }

    #[test]
    fn a_conversation_has_a_home_in_each_class() {
        let stays = Stays::default();
        let [one, other] = ["one", "other"].map(|model| candidate(model, 1));
        stays.went(&known(&stays, 7, Class::Coding), &one);
        stays.went(&known(&stays, 7, Class::Thinking), &other);
        let coding = known(&stays, 7, Class::Coding);
        assert!(coding.is_home(&one) && !coding.is_home(&other));
        let switch = |to| coding.switch(to, "it failed").map(|it| (it.from.to_string(), it.reason));
        assert_eq!(switch(&one), Some(("p/other".into(), "by its class")), "from the other class");
        assert_eq!(switch(&other), Some(("p/one".into(), "it failed")));
        stays.went(&coding, &one);
        assert_eq!(known(&stays, 7, Class::Coding).switch(&one, ""), None);
        assert!(!known(&stays, 8, Class::Coding).has_home());
        let begins = Conversation { number: 7, goes_on: false };
        let classified = Classified { class: Class::Coding, reason: "" };
        assert!(!stays.stay(begins, classified).has_home());
    }

    #[test]
    fn any_number_of_conversations_takes_bounded_memory() {
        let stays = Stays::default();
        let target = candidate("m", 1);
        let first = known(&stays, 0, Class::Default);
        for number in 0..10 * CONVERSATIONS_MAX as u64 {
            stays.went(&known(&stays, number, Class::Default), &target);
        }
        let halves = stays.halves.lock().unwrap();
        assert!(halves.young.len() + halves.old.len() <= 2 * CONVERSATIONS_MAX);
        assert!(halves.went(first.conversation).is_none());
        assert!(halves.went(10 * CONVERSATIONS_MAX as u64 - 1).is_some());
    }
}

//! The newest answers of a socket, one of each lane, where nobody else keeps them: the next call may go on from one as long as
//! the socket is open.

use std::sync::Arc;

use crate::held::Held;
use crate::server::socket::lanes::LANES_MAX;
use crate::state::Snapshot;

/// What a call goes on from: an answer that is kept elsewhere, if any, and the elements behind it.
#[derive(Clone, Debug, Default)]
pub(super) struct Past {
    pub(super) base: Option<String>,
    pub(super) elements: Arc<str>,
}

impl Past {
    /// The same with more elements.
    pub(super) fn with(&self, parts: &[&str]) -> Self {
        let filled = std::iter::once(&*self.elements).chain(parts.iter().copied());
        let filled: Vec<&str> = filled.filter(|part| !part.is_empty()).collect();
        Self { base: self.base.clone(), elements: filled.join(",").into() }
    }
}

/// The answers that are kept, the newest of each lane, from the oldest on. As many as a socket has lanes at once: names of lanes
/// cost a client nothing.
#[derive(Debug, Default)]
pub(super) struct Recent(Vec<RecentAnswer>);

#[derive(Debug)]
struct RecentAnswer {
    lane: Option<String>,
    id: String,
    past: Past,
    /// The memory that it takes counts with that of all bodies.
    _held: Held,
}

impl Recent {
    pub(super) fn find(&self, id: &str) -> Option<Past> {
        self.0.iter().find(|answer| answer.id == id).map(|answer| answer.past.clone())
    }

    /// Keeps an answer in the place of the last of its lane. One that finds no room is not kept: its client sends everything
    /// again, as after a reconnection.
    pub(super) fn keep(
        &mut self,
        lane: Option<String>,
        (id, past): (String, Past),
        snapshot: &Arc<Snapshot>,
    ) {
        self.forget_lane(&lane);
        let mut held = Held::nothing(snapshot);
        let is_short = past.elements.len() <= snapshot.config().limits.body_bytes_max;
        if is_short && held.grow(past.elements.len()).is_ok() {
            if self.0.len() >= LANES_MAX {
                self.0.remove(0);
            }
            // Most sockets have but one lane.
            self.0.reserve_exact(1);
            self.0.push(RecentAnswer { lane, id, past, _held: held });
        }
    }

    /// Forgets an answer that a call could not go on from.
    pub(super) fn forget(&mut self, id: &str) {
        self.0.retain(|answer| answer.id != id);
    }

    /// Forgets the last answer of a lane.
    pub(super) fn forget_lane(&mut self, lane: &Option<String>) {
        self.0.retain(|answer| answer.lane != *lane);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_answer_of_a_lane_is_kept_until_it_failed_somebody() {
        let config = crate::config::types::Config::default();
        let snapshot = Arc::new(Snapshot::new(config));
        let mut recent = Recent::default();
        let past = Past::default().with(&["1", "", "2"]);
        assert_eq!(&*past.elements, "1,2");
        recent.keep(None, ("a".to_owned(), past.clone()), &snapshot);
        recent.keep(Some("x".to_owned()), ("b".to_owned(), past.with(&["3"])), &snapshot);
        assert_eq!(&*recent.find("b").unwrap().elements, "1,2,3");
        recent.keep(None, ("c".to_owned(), past), &snapshot);
        assert!(recent.find("a").is_none());
        recent.forget("b");
        assert!(recent.find("b").is_none() && recent.find("c").is_some());
        for lane in 0..3 * LANES_MAX {
            let answer = (lane.to_string(), Past::default());
            recent.keep(Some(lane.to_string()), answer, &snapshot);
        }
        let kept = |lane: usize| recent.find(&lane.to_string()).is_some();
        assert!(!kept(2 * LANES_MAX - 1) && kept(2 * LANES_MAX) && kept(3 * LANES_MAX - 1));
        drop(recent);
        assert!(snapshot.render_metrics().contains("sabir_bodies_bytes 0"));
    }
}

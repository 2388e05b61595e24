//! The last exchanges, for people and programs that want to know what became of them.

use std::sync::Arc;

use http::StatusCode;
use sabir_wire::json::{Text, Writer};
use sabir_wire::{Fault, FaultKind};

use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::observe::Seen;
use crate::state::Snapshot;
use crate::{egress, surface};

/// Whose exchanges are shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Viewer<'g> {
    /// Nobody has a key of their own, and everybody sees all.
    Anybody,
    /// Those of one gateway key, by its name.
    Key(&'g str),
}

impl<'g> Viewer<'g> {
    pub(super) fn of(key: Option<&'g Arc<GatewayKey>>) -> Self {
        key.map_or(Self::Anybody, |key| Self::Key(&key.name))
    }

    fn may_see(self, seen: &Seen) -> bool {
        match self {
            Self::Anybody => true,
            Self::Key(name) => seen.key.as_deref() == Some(name),
        }
    }
}

pub(super) fn all(snapshot: &Snapshot, viewer: Viewer<'_>) -> Reply {
    let exchanges = snapshot.shared.exchanges.all();
    let shown = exchanges.iter().filter(|seen| viewer.may_see(seen));
    let mut writer = Writer::with_capacity(16 * 1024);
    writer.object(|it| {
        it.key("exchanges");
        it.array(|list| shown.for_each(|seen| seen.write(list)));
    });
    egress::json(StatusCode::OK, writer.into_string())
}

/// One exchange. That of another key looks like one that nobody remembers.
pub(super) fn one(snapshot: &Snapshot, viewer: Viewer<'_>, id: &str) -> Reply {
    match snapshot.shared.exchanges.find(id).filter(|seen| viewer.may_see(seen)) {
        Some(seen) => {
            let mut writer = Writer::with_capacity(1024);
            seen.write(&mut writer);
            egress::json(StatusCode::OK, writer.into_string())
        }
        None => {
            let message = "no exchange of that id is remembered; only the last 1,000 are, once they have ended";
            let mut fault = Fault::new(FaultKind::NotFound, message);
            fault.code = Some(Text::literal("unknown_exchange"));
            let (_, body) = surface::DEFAULT.encode_fault(&fault);
            egress::json(StatusCode::NOT_FOUND, body)
        }
    }
}

//! Whole answers.

use super::{Show, show, show_names};
use crate::conversation::{Candidate, Count, Finish, FinishKind, Response, Usage};
use crate::json::Writer;

show! {
    Response { id, model, created, candidates, usage, service_tier, fault, semantics }
    Candidate { message, finish, semantics }
    Finish { kind, raw, stop_sequence, details }
}

show_names!(FinishKind);

impl Show for Usage<'_> {
    fn members(&self, writer: &mut Writer) {
        let Usage { counts, semantics, later: _ } = self;
        for count in Count::ALL {
            writer.optional(count.name(), counts[count].as_ref());
        }
        semantics.show_members(writer);
    }
}

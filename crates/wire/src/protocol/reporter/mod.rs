//! Reporting losses: one walk over everything that is set, against the target's table of fates.
//!
//! What a target never carries is found here, so an encoder cannot forget it; what depends on a value or a model is
//! reported by the encoder that decides.

mod answer;
mod node;
mod request;

pub(super) use answer::FINER_FINISH;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::conversation::Candidate;
use crate::loss::{LossKind, Report};
use crate::place::{Place, Step};
use crate::protocol::field::FieldSet;
use crate::protocol::semantics::{Extras, NodeSemantics, Spelling};
use crate::protocol::{DecodedRequest, Fate, Field, Protocol};

/// The report of one translation in the making: the source, the target, and what is lost between them.
pub(super) struct Reporter<'r> {
    /// The protocol of the request or the answer.
    home: Protocol,
    /// The protocol of what is being written: a recalled message may come from another.
    source: Protocol,
    target: Protocol,
    /// What the target never carries.
    lost: FieldSet,
    /// The shape of the whole request, which decides how some of its fields are spelled.
    spelling: Spelling,
    side: Side,
    /// The nodes whose own fields are spelled in another way than the table of their protocol has them.
    respelled: BTreeMap<Place, Spelling>,
    report: &'r mut Report,
}

/// What a loss is about.
pub(super) struct Subject {
    place: Place,
    /// None for the node as a whole.
    field: Option<Field>,
}

/// Whatever stands somewhere in the input.
pub(super) trait Placed {
    fn place(&self) -> Place;
}

impl Placed for Place {
    fn place(&self) -> Place {
        *self
    }
}

impl Placed for NodeSemantics<'_> {
    fn place(&self) -> Place {
        self.place()
    }
}

impl<P: Placed> Placed for &P {
    fn place(&self) -> Place {
        P::place(self)
    }
}

/// Nodes stand where their semantics say.
macro_rules! placed {
    ($($node:ident),*) => {$(
        impl Placed for crate::conversation::$node<'_> {
            fn place(&self) -> Place {
                self.semantics().place()
            }
        }
    )*};
}

placed!(Candidate, Message, Part, Tool, Usage);

impl<P: Placed> From<P> for Subject {
    fn from(node: P) -> Self {
        Self { place: node.place(), field: None }
    }
}

impl<P: Placed> From<(P, Field)> for Subject {
    fn from((node, field): (P, Field)) -> Self {
        Self { place: node.place(), field: Some(field) }
    }
}

/// A setting of the request.
impl From<Field> for Subject {
    fn from(field: Field) -> Self {
        Self { place: Place::default(), field: Some(field) }
    }
}

/// Reports a loss of one kind, as [`Reporter::lose`] does.
macro_rules! by_kind {
    ($($name:ident: $kind:ident;)*) => {
        impl Reporter<'_> {
            $(pub(super) fn $name(
                &mut self,
                subject: impl Into<Subject>,
                reason: impl Into<Cow<'static, str>>,
            ) {
                self.lose(subject, LossKind::$kind, reason);
            })*
        }
    };
}

by_kind! {
    approximated: Approximated;
    dropped: Dropped;
    implied: Implied;
    renamed: Renamed;
    repaired: Repaired;
    synthesised: Synthesised;
    withheld: Withheld;
}

/// What is translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Request,
    Answer,
}

impl<'r> Reporter<'r> {
    pub(super) fn new(source: Protocol, target: Protocol, report: &'r mut Report) -> Self {
        Self {
            home: source,
            source,
            target,
            lost: target.codec().lost,
            spelling: Spelling::default(),
            side: Side::Answer,
            respelled: BTreeMap::new(),
            report,
        }
    }

    pub(super) fn spelled(mut self, spelling: Spelling) -> Self {
        self.spelling = spelling;
        self.respell(Place::default(), spelling);
        self
    }

    /// Turns to the node at `place`, in whichever protocol it was written.
    #[inline]
    pub(super) fn turn_to(&mut self, place: Place) {
        self.source = self.source_of(place);
    }

    /// Turns to what is the request's own.
    pub(super) fn turn_home(&mut self) {
        self.source = self.home;
    }

    #[inline]
    fn source_of(&self, place: Place) -> Protocol {
        place.protocol().unwrap_or(self.home)
    }

    /// Whether what is being written was written in the target's protocol, so that nothing of it is lost and extras come back.
    pub(super) fn is_same(&self) -> bool {
        self.source == self.target
    }

    /// The extras of a node, if they may be written: those of another protocol may not. `scope` is the object inside the node.
    pub(super) fn own_extras<'e>(
        &self,
        semantics: &'e NodeSemantics<'_>,
        scope: &'static str,
    ) -> Option<(&'e Extras<'e>, &'static str)> {
        let extras = semantics.extras().filter(|_| self.is_same())?;
        Some((extras, scope))
    }

    /// Whether one vendor made both protocols, so that what its servers hold and take is the same.
    pub(super) fn shares_vendor(&self) -> bool {
        self.source.shares_vendor_with(self.target)
    }

    pub(super) fn source(&self) -> Protocol {
        self.source
    }

    pub(super) fn target(&self) -> Protocol {
        self.target
    }

    /// Reports what happened to a setting of the request, to a node, or to a field of it.
    pub(super) fn lose(
        &mut self,
        subject: impl Into<Subject>,
        kind: LossKind,
        reason: impl Into<Cow<'static, str>>,
    ) {
        let Subject { place, field } = subject.into();
        match field.map(|field| self.suffix(place, field)) {
            None | Some("") if self.home == self.target => {}
            None | Some("") => self.report.lose(place.pointer(""), kind, reason),
            Some(suffix) => self.below(place, suffix, kind, reason),
        }
    }

    /// Where a field stands below the node at `place`.
    fn suffix(&self, place: Place, field: Field) -> &'static str {
        match self.source_of(place).pointer(field, self.spelling) {
            "/finishReason" if place.ends_with(Step::PromptFeedback) => "/blockReason",
            "/function/arguments" if place.ends_with(Step::FunctionCall) => "/arguments",
            "/function/name" if place.ends_with(Step::FunctionCall) => "/name",
            suffix => suffix,
        }
    }

    /// The pointer of a field of a node, as entries have it.
    fn pointer(mut self, node: &NodeSemantics<'_>, field: Field) -> String {
        let place = match field {
            Field::Signature | Field::Ciphertext => node.sealed_at(),
            _ => node.place(),
        };
        self.respell(place, node.spelling());
        let suffix = self.suffix(place, field);
        self.pointer_below(place, suffix)
    }

    fn pointer_below(&self, place: Place, suffix: &str) -> String {
        match (self.respelled.get(&place), self.source_of(place).conventions().respelling) {
            (Some(spelling), Some(respelled)) => place.pointer(&respelled(suffix, *spelling)),
            (None, _) | (_, None) => place.pointer(suffix),
        }
    }

    /// Reports what happened inside `field` of the node at `place`; `suffix` is empty or begins with a slash.
    pub(super) fn within(
        &mut self,
        place: Place,
        (field, suffix): (Field, &str),
        kind: LossKind,
        reason: impl Into<Cow<'static, str>>,
    ) {
        let suffix = format!("{}{suffix}", self.source_of(place).pointer(field, self.spelling));
        self.below(place, &suffix, kind, reason);
    }

    /// Reports what happened to one stop sequence; the only one may stand there by itself.
    pub(super) fn stop(&mut self, index: usize, kind: LossKind, reason: &'static str) {
        match (self.source.codec().is_stop_string)(self.spelling) {
            true => self.lose(Field::Stop, kind, reason),
            false => {
                self.within(Place::default(), (Field::Stop, &format!("/{index}")), kind, reason)
            }
        }
    }

    /// Reports what happened at a pointer relative to the node at `place`; `suffix` is as [`Place::pointer`] takes it.
    pub(super) fn below(
        &mut self,
        place: Place,
        suffix: &str,
        kind: LossKind,
        reason: impl Into<Cow<'static, str>>,
    ) {
        if self.home == self.target {
            return;
        }
        self.report.lose(self.pointer_below(place, suffix), kind, reason);
    }

    /// Remembers how a node is spelled, for the pointers of its fields.
    fn respell(&mut self, place: Place, spelling: Spelling) {
        if spelling.is_respelled() && self.source_of(place).conventions().respelling.is_some() {
            self.respelled.insert(place, spelling);
        }
    }

    /// Reports what happened to the item that opened at `place` in a stream of Responses, or whose content did: there only its
    /// id tells it.
    pub(super) fn item(
        &mut self,
        place: Place,
        kind: LossKind,
        reason: impl Into<Cow<'static, str>>,
    ) {
        if self.source_of(place).conventions().has_items {
            let id = if place.ends_with(Step::Item) { "/id" } else { "../item_id" };
            self.below(place, id, kind, reason);
        }
    }

    /// Consults the target's table for a field that is set.
    #[inline]
    fn set(&mut self, place: Place, field: Field) {
        if self.lost.has(field) {
            self.lose_by_table(place, field);
        }
    }

    /// Reports a field that the target's table calls lost.
    fn lose_by_table(&mut self, place: Place, field: Field) {
        if let Fate::Lost(kind, reason) = self.target.fate(field) {
            self.lose((place, field), kind, reason);
        }
    }

    #[inline]
    fn set_if<T>(&mut self, place: Place, field: Field, value: &Option<T>) {
        if value.is_some() {
            self.set(place, field);
        }
    }
}

impl DecodedRequest<'_> {
    /// Where a field of the request, or of one of its nodes, stands in the input, as reports name it.
    pub fn pointer(&self, node: Option<&NodeSemantics<'_>>, field: Field) -> String {
        let (source, mut report) = (self.protocol(), Report::default());
        let reporter =
            Reporter::new(source, source, &mut report).spelled(self.semantics().spelling());
        reporter.pointer(node.unwrap_or(&NodeSemantics::default()), field)
    }
}

impl Candidate<'_> {
    /// Where a field of a node in this answer stands in the input of `protocol`, as reports name it.
    pub fn pointer(&self, protocol: Protocol, node: &NodeSemantics<'_>, field: Field) -> String {
        let mut report = Report::default();
        let reporter = Reporter::new(protocol, protocol, &mut report);
        reporter.spelled(self.semantics().spelling()).pointer(node, field)
    }
}

//! Usage by table: each protocol states once where its counts stand and what they include, and reading, writing, loss reports
//! and the watching of passing answers all follow that table.

use std::borrow::Cow;

use crate::conversation::{Count, Counts, Usage};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text, Writer};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::object::{Keep, Members, Object, read_object, set};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extras, NodeSemantics, Shape, Speller};
use crate::protocol::{Fate, Field, Protocol};

/// The usage reports of one protocol.
pub(super) struct Table<S: 'static> {
    /// The member of an answer that holds the report.
    pub(super) member: &'static str,
    /// Every count, in the order in which a report states them.
    pub(super) rows: [Row; Count::ALL.len()],
    /// The counts that the vendor states without some of their parts.
    pub(super) sums: &'static [Sum],
    /// The member that names the service tier, if it stands in the report.
    pub(super) tier: Option<&'static str>,
    pub(super) zero: Zero,
    /// How it is remembered that the output was not stated and is what the total leaves beside the other counts.
    pub(super) output_by_total: Option<Shape<S>>,
}

/// One count of a protocol.
#[derive(Clone, Copy)]
pub(super) struct Row {
    count: Count,
    pub(super) pointer: &'static str,
    pub(super) fate: Fate,
    scope: &'static str,
    key: &'static str,
    standing: Standing,
}

#[derive(Clone, Copy)]
enum Standing {
    Optional,
    /// Clients rely on it, so that a count that is unknown is written as zero, for this reason.
    Needed,
    /// Reports do not have it.
    Nowhere,
    /// Reports count it with the input, which is written so.
    InInput(LossKind, &'static str),
}

/// A count that the vendor states without some of its parts, which stand beside it.
pub(super) struct Sum {
    pub(super) count: Count,
    pub(super) beside: &'static [Count],
    /// What is written where the parts are more than the whole.
    pub(super) exceeded: &'static str,
}

/// What a count of zero is in a protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Zero {
    /// A count like others.
    Stated,
    /// The same as no count, and left out.
    LeftOut,
}

/// How much a report that is written states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stating {
    /// What the report stated that was read.
    AsRead,
    /// What is known and what clients of the protocol rely on.
    WhatIsNeeded,
}

/// A usage report with the counts as the vendor states them.
#[derive(Debug, Default)]
pub(super) struct Report<'a> {
    stated: Counts,
    pub(super) service_tier: Option<Text<'a>>,
    semantics: NodeSemantics<'a>,
    extras: Extras<'a>,
}

impl Report<'_> {
    /// A report of which nothing has been read.
    pub(super) fn at(place: Place) -> Self {
        Self { semantics: NodeSemantics::at(place), ..Self::default() }
    }

    /// Adds what else it states to what is known of its stream.
    pub(super) fn add_details_to(&self, known: &mut Extras<'static>) {
        if !self.extras.is_empty() {
            known.update(self.extras.clone().into_owned());
        }
    }
}

/// The extras of a report that no earlier one of its stream had in the same words: most repeat their details in every frame.
struct News<'k, 'a> {
    known: &'k mut Extras<'static>,
    extras: Extras<'a>,
}

impl<'a> Keep<'a> for News<'_, 'a> {
    fn keep_next(
        &mut self,
        scope: &'static str,
        key: Cow<'a, str>,
        reader: &mut Reader<'a>,
    ) -> Result<()> {
        // Of two of one name the last holds, though it says what is known.
        // Fixture `stream/usage/gemini-details-stated-twice`.
        let known = self.known.find(scope, &key);
        let known = known.filter(|_| self.extras.find(scope, &key).is_none()).map(|it| &it.json);
        if known.is_some_and(|known| reader.passes_known(known)) {
            return Ok(());
        }
        let json = reader.raw()?;
        if known.is_none_or(|known| known.as_str() != json.as_str()) {
            self.extras.keep(scope, key, json);
        }
        Ok(())
    }
}

impl Count {
    pub const fn field(self) -> Field {
        Field::ALL[Field::UsageInput as usize + self as usize]
    }

    /// The count that a field is, if it is one of the usage: those stand last.
    pub(super) const fn of(field: Field) -> Option<Self> {
        match (field as usize).checked_sub(Field::UsageInput as usize) {
            Some(at) => Some(Self::ALL[at]),
            None => None,
        }
    }
}

const _: () = assert!(matches!(Count::Input.field(), Field::UsageInput));
const _: () = assert!(matches!(Count::of(Field::UsageTotal), Some(Count::Total)));
const _: () = assert!(Count::Total.field() as usize + 1 == Field::ALL.len());

/// A count that stands at `pointer` in a report.
pub(super) const fn count(count: Count, pointer: &'static str, fate: Fate) -> Row {
    let (scope, key) = split(pointer);
    Row { count, pointer, fate, scope, key, standing: Standing::Optional }
}

/// A count that reports do not have; `pointer` is the place that comes closest.
pub(super) const fn absent(count: Count, pointer: &'static str, fate: Fate) -> Row {
    Row { count, pointer, fate, scope: "", key: "", standing: Standing::Nowhere }
}

impl Row {
    /// Clients rely on it.
    pub(super) const fn needed(self) -> Self {
        Self { standing: Standing::Needed, ..self }
    }

    /// It is counted with the input.
    pub(super) const fn in_input(self, kind: LossKind, reason: &'static str) -> Self {
        Self { standing: Standing::InInput(kind, reason), ..self }
    }

    const fn is_here(&self) -> bool {
        matches!(self.standing, Standing::Optional | Standing::Needed)
    }
}

/// The object and the member that a pointer of one or two steps names.
const fn split(pointer: &'static str) -> (&'static str, &'static str) {
    let (_, path) = pointer.split_at(1);
    let mut at = 0;
    while at < path.len() {
        if path.as_bytes()[at] == b'/' {
            let (scope, rest) = path.split_at(at);
            return (scope, rest.split_at(1).1);
        }
        at += 1;
    }
    ("", path)
}

impl<S: Speller> Table<S> {
    pub(super) const fn row(&self, count: Count) -> &Row {
        let mut at = 0;
        while self.rows[at].count as usize != count as usize {
            at += 1;
        }
        &self.rows[at]
    }

    /// How much a report states here that came from `source`.
    pub(super) fn stating(&self, source: Protocol) -> Stating {
        if source == S::PROTOCOL { Stating::AsRead } else { Stating::WhatIsNeeded }
    }

    /// Reads a usage report that stands alone.
    pub(super) fn decode<'a>(&self, reader: &mut Reader<'a>, place: Place) -> Result<Usage<'a>> {
        Ok(self.usage(self.read(reader, place)?))
    }

    /// Reads a usage report. What is no whole number stays as it is.
    pub(super) fn read<'a>(&self, reader: &mut Reader<'a>, place: Place) -> Result<Report<'a>> {
        let mut report = Report::at(place);
        self.read_later(reader, &mut report, &mut Extras::default())?;
        Ok(report)
    }

    /// Reads a report of a stream without the details that are `known`.
    pub(super) fn read_later<'a>(
        &self,
        reader: &mut Reader<'a>,
        report: &mut Report<'a>,
        known: &mut Extras<'static>,
    ) -> Result<()> {
        let mut news = News { known, extras: Extras::default() };
        read_object(reader, "", &mut news, |key, reader| {
            self.read_member(("", key), reader, report)
        })?;
        report.extras = news.extras;
        Ok(())
    }

    fn read_member<'a>(
        &self,
        (scope, key): (&str, &str),
        reader: &mut Members<'_, 'a, News<'_, 'a>>,
        report: &mut Report<'a>,
    ) -> Result<()> {
        if let Some(row) = self.row_at(scope, key) {
            return read_count(reader, &mut report.stated[row.count]);
        }
        match reader.kind()? {
            Kind::Object if scope.is_empty() && !key.is_empty() => {
                let inner = self.rows.iter().find(|row| row.scope == key && row.is_here());
                let Some(Row { scope, .. }) = inner else { return Ok(()) };
                reader.inside(scope, |key, reader| self.read_member((scope, key), reader, report))
            }
            Kind::String if self.tier == Some(key) && scope.is_empty() => {
                set(&mut report.service_tier, reader.string())
            }
            _ => Ok(()),
        }
    }

    fn row_at(&self, scope: &str, key: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.key == key && row.scope == scope && row.is_here())
    }

    /// The canonical usage of a later report of a stream. What it does not repeat is known from `earlier` ones.
    pub(super) fn following<'a>(&self, report: Report<'a>, earlier: &mut Counts) -> Usage<'a> {
        earlier.update(report.stated);
        if self.output_by_total.is_some() && report.stated[Count::Output].is_none() {
            // A report with a total of its own gives the output by that total: an earlier count of it is old.
            let total = report.stated[Count::Total].filter(|_| earlier[Count::Output].is_some());
            let left = total.and_then(|total| self.left_by(total, earlier));
            earlier[Count::Output] = left.or(earlier[Count::Output]);
        }
        self.canonical(earlier, report.semantics.keeping(report.extras))
    }

    /// The canonical usage of a report that stands alone.
    pub(super) fn usage<'a>(&self, report: Report<'a>) -> Usage<'a> {
        self.canonical(&report.stated, report.semantics.keeping(report.extras))
    }

    /// Counts that include what the vendor counts beside them.
    fn canonical<'a>(&self, stated: &Counts, semantics: NodeSemantics<'a>) -> Usage<'a> {
        let mut usage = Usage { counts: *stated, semantics, later: Vec::new() };
        if let (Some(shape), Some(left)) = (self.output_by_total, self.output_left(stated)) {
            usage.counts[Count::Output] = Some(left);
            usage.semantics.add_shape(shape);
        }
        for sum in self.sums {
            let whole = self.whole(sum, &usage.counts);
            if let (Some(count), None) = (usage.counts[sum.count], whole) {
                // A sum beyond counting stays as the vendor states it.
                let json = Json::trusted(count.to_string().into());
                let key = Cow::Borrowed(self.row(sum.count).key);
                usage.semantics.extras_mut().keep("", key, json);
            }
            usage.counts[sum.count] = whole;
        }
        usage
    }

    /// A count with what stands beside it.
    fn whole(&self, sum: &Sum, counts: &Counts) -> Option<u64> {
        let mut beside = sum.beside.iter().filter_map(|part| counts[*part]).peekable();
        let alone = match self.zero {
            Zero::LeftOut if beside.peek().is_some() => counts[sum.count].unwrap_or_default(),
            Zero::LeftOut | Zero::Stated => counts[sum.count]?,
        };
        beside.try_fold(alone, u64::checked_add)
    }

    /// The output where only the total includes it.
    fn output_left(&self, stated: &Counts) -> Option<u64> {
        let total = stated[Count::Total].filter(|_| stated[Count::Output].is_none())?;
        self.left_by(total, stated).filter(|count| *count > 0)
    }

    /// What a total leaves for the output beside all other counts.
    fn left_by(&self, total: u64, stated: &Counts) -> Option<u64> {
        let beside = self.sums.iter().flat_map(|sum| sum.beside);
        let rest = beside.map(|part| stated[*part].unwrap_or_default());
        rest.chain([stated[Count::Input]?]).try_fold(total, u64::checked_sub)
    }

    /// Writes a usage report.
    pub(super) fn write(
        &self,
        writer: &mut Writer,
        usage: &Usage<'_>,
        tier: Option<&Text<'_>>,
        stating: Stating,
    ) {
        let extras = usage.semantics().extras().filter(|_| stating == Stating::AsRead);
        let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
        for rows in self.rows.chunk_by(|one, next| one.scope == next.scope) {
            let scope = rows[0].scope;
            if scope.is_empty() {
                self.write_counts(&mut object, rows, usage, stating);
            } else {
                object.unless_empty(scope, extras.map(|extras| (extras, scope)), |inner| {
                    self.write_counts(inner, rows, usage, stating);
                });
            }
        }
        if let Some(member) = self.tier {
            object.optional(member, tier);
        }
        object.close();
    }

    fn write_counts(
        &self,
        object: &mut Object<'_, '_>,
        rows: &[Row],
        usage: &Usage<'_>,
        stating: Stating,
    ) {
        for row in rows.iter().filter(|row| row.is_here()) {
            object.optional(row.key, self.value(row, usage, stating).as_ref());
        }
    }

    /// The number that a report states for a count.
    fn value(&self, row: &Row, usage: &Usage<'_>, stating: Stating) -> Option<u64> {
        let sum = self.sums.iter().find(|sum| sum.count == row.count);
        let count = usage.counts[row.count];
        let alone = |count: u64| match sum {
            Some(sum) => count.saturating_sub(sum.parts(&usage.counts)),
            None => count,
        };
        match stating {
            Stating::AsRead => {
                let count = count.map(alone).filter(|_| !row.is_beyond_counting(usage));
                count.filter(|count| self.was_stated(*count, sum, usage))
            }
            Stating::WhatIsNeeded => {
                let is_total = row.count == Count::Total;
                let count = count.or_else(|| is_total.then(|| total(&usage.counts))).map(alone);
                let is_needed = matches!(row.standing, Standing::Needed);
                count
                    .or(is_needed.then_some(0))
                    .filter(|count| *count > 0 || self.states_zero(row.count, usage))
            }
        }
    }

    /// Whether a count that was put together from others was stated itself.
    fn was_stated(&self, count: u64, sum: Option<&Sum>, usage: &Usage<'_>) -> bool {
        let has = |shape: Option<Shape<S>>| shape.is_some_and(|it| usage.semantics().has_shape(it));
        match sum {
            Some(Sum { count: Count::Output, .. }) if has(self.output_by_total) => false,
            // What the total leaves for the output is read only beside a stated input.
            Some(Sum { count: Count::Input, .. }) if has(self.output_by_total) => true,
            Some(sum) if count == 0 => self.states_zero(sum.count, usage),
            Some(_) | None => true,
        }
    }

    /// Whether a count of zero is written: where zeros are left out, only an output that the total would contradict.
    fn states_zero(&self, count: Count, usage: &Usage<'_>) -> bool {
        let mut stated = usage.counts;
        for sum in self.sums {
            let whole = usage.counts[sum.count].unwrap_or_default();
            stated[sum.count] = whole.checked_sub(sum.parts(&usage.counts)).filter(|it| *it > 0);
        }
        let is_misread = || count == Count::Output && self.output_left(&stated).is_some();
        self.zero == Zero::Stated || self.output_by_total.is_some() && is_misread()
    }

    /// Reports what the counts of another vendor become here; a count of zero means no more than none.
    pub(super) fn report(&self, usage: &Usage<'_>, reporter: &mut Reporter<'_>) {
        for row in &self.rows {
            if let (Standing::InInput(kind, reason), Some(1..)) =
                (row.standing, usage.counts[row.count])
            {
                reporter.count(usage, Count::Input, (kind, reason));
            }
        }
        for sum in self.sums {
            let whole = usage.counts[sum.count].or((self.zero == Zero::LeftOut).then_some(0));
            if whole.is_some_and(|whole| sum.parts(&usage.counts) > whole) {
                reporter.count(usage, sum.count, (LossKind::Repaired, sum.exceeded));
            }
        }
    }
}

impl Sum {
    fn parts(&self, counts: &Counts) -> u64 {
        let parts = self.beside.iter().filter_map(|part| counts[*part]);
        parts.fold(0, u64::saturating_add)
    }
}

impl Row {
    /// Whether a later number beyond counting takes the place of an earlier count.
    fn is_beyond_counting(&self, usage: &Usage<'_>) -> bool {
        let mut within =
            usage.semantics().extras().into_iter().flat_map(|extras| extras.within(self.scope));
        within.any(|extra| extra.key == self.key && extra.json.kind() == Kind::Number)
    }
}

/// The sum where the vendor gave none.
fn total(counts: &Counts) -> u64 {
    let [input, output] = [Count::Input, Count::Output].map(|it| counts[it].unwrap_or_default());
    input.saturating_add(output)
}

/// Reads a whole number; anything else is left unread.
fn read_count(reader: &mut Reader<'_>, count: &mut Option<u64>) -> Result<()> {
    let mut ahead = reader.checkpoint();
    if let Ok(number) = ahead.u64() {
        *reader = ahead;
        *count = Some(number);
    }
    Ok(())
}

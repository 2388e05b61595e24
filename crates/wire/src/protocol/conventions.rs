//! How protocols differ in what they mean, as data: for encoders, which must know what a request or an answer means by what it
//! leaves out, whichever protocol it came in.

use crate::conversation::{Finish, Usage};
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::semantics::{Extra, Spelling};
use crate::protocol::{Artefact, ArtefactKind, Citation, DecodedRequest, Protocol};
use crate::target::Vendor;

/// The conventions of one protocol. Each protocol's folder states those that are not the usual ones.
pub(super) struct Conventions {
    /// Who made the protocol. A vendor's protocols share files, schemas, tiers and words for the cache.
    pub(super) vendor: Vendor,
    /// Whether a conversation is a list of items, of which messages are one kind.
    pub(super) has_items: bool,
    /// Whether each block of a system prompt is a prompt of its own.
    pub(super) has_system_blocks: bool,
    /// Whether the model continues an answer that the request begins.
    pub(super) continues_answers: bool,
    /// Whether a tool is strict by default: held to its schema.
    pub(super) strict_by_default: bool,
    /// Whether the arguments of a call are an object instead of a text, so that none are an empty one.
    pub(super) has_object_arguments: bool,
    /// Whether a result of a tool can hold documents.
    pub(super) has_result_documents: bool,
    /// Whether the type of a hosted tool names its version.
    pub(super) versions_hosted_tools: bool,
    /// Whether a request has a setting for showing thinking.
    pub(super) can_ask_for_thoughts: bool,
    /// Whether servers refuse JSON mode unless the prompt mentions JSON.
    pub(super) needs_json_in_prompt: bool,
    /// Whether a stream may state log probabilities of a text that is complete.
    pub(super) has_late_logprobs: bool,
    /// Whether a stream may state its usage behind its end.
    pub(super) has_late_usage: bool,
    /// Whose signatures a call has a field for, beside those of the protocol's own vendor.
    pub(super) signs_calls_of: Option<Vendor>,
    /// Blocks of its own whose titles, addresses and texts can be sent as text.
    pub(super) readable_blocks: &'static [&'static str],
    /// The members of a request that offer tools.
    pub(super) tool_members: &'static [&'static str],
    /// Where a part states the MIME type of what a URL leads to.
    pub(super) url_mime_type: Option<&'static str>,
    /// Where a whole answer has its usage report.
    pub(super) usage_pointer: &'static str,
    /// Whether a citation holds no more than an address, a title and a range.
    pub(super) is_plain_citation: fn(&Citation<'_>) -> bool,
    /// What any other protocol loses of why an answer ended.
    pub(super) finish_loss: fn(&Finish<'_>) -> Option<(LossKind, &'static str)>,
    /// Whether the count of the output was computed from the total.
    pub(super) computes_output: fn(&Usage<'_>) -> bool,
    /// Whether a stream is to state its usage.
    pub(super) asks_for_usage: fn(&DecodedRequest<'_>) -> bool,
    /// Where an undeclared field of a node, kept at a pointer below it, stands in the input.
    pub(super) extra_pointer: for<'p> fn(Place, &Extra<'_>, &'p str) -> &'p str,
    /// A pointer below a node with its names as the node spells them, in a protocol whose names have several spellings.
    pub(super) respelling: Option<fn(&str, Spelling) -> String>,
}

impl Conventions {
    /// What holds where a protocol states nothing else.
    pub(super) const fn of(vendor: Vendor) -> Self {
        Self {
            vendor,
            has_items: false,
            has_system_blocks: false,
            continues_answers: false,
            strict_by_default: false,
            has_object_arguments: false,
            has_result_documents: false,
            versions_hosted_tools: false,
            can_ask_for_thoughts: false,
            needs_json_in_prompt: false,
            has_late_logprobs: false,
            has_late_usage: false,
            signs_calls_of: None,
            readable_blocks: &[],
            tool_members: &["tools"],
            url_mime_type: None,
            usage_pointer: "/usage",
            is_plain_citation: |_| false,
            finish_loss: |_| None,
            computes_output: |_| false,
            asks_for_usage: |_| true,
            extra_pointer: |_, _, pointer| pointer,
            respelling: None,
        }
    }
}

impl Protocol {
    pub(super) const fn conventions(self) -> &'static Conventions {
        &self.codec().conventions
    }

    /// Whether the vendor of this protocol made the other one too.
    pub(super) fn shares_vendor_with(self, other: Self) -> bool {
        self.conventions().vendor == other.conventions().vendor
    }

    /// Where an instruction that no place of the request holds would stand.
    pub(super) fn system_pointer(self) -> String {
        match self.facts().system {
            Some(field) => format!("/{field}"),
            None => format!("{}/0", self.facts().messages_pointer),
        }
    }
}

impl<'a> Artefact<'a> {
    /// A signature of Google's models, which other vendors' protocols have a field for too.
    pub(super) fn signed_by_google(data: Text<'a>) -> Self {
        Self::new(Protocol::Gemini, ArtefactKind::Signature, data)
    }

    /// Whether a call of `carrier`'s protocol has a field for it that is not the protocol's own.
    pub(super) fn is_shown_on_calls_of(&self, carrier: Protocol) -> bool {
        carrier.conventions().signs_calls_of == Some(self.issuer().conventions().vendor)
    }
}

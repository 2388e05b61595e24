//! Must not compile: artefact forged.

use sabir_wire::Protocol;
use sabir_wire::json::Text;
use sabir_wire::protocol::{Artefact, ArtefactKind};

fn main() {
    let data = Text::plain("a signature that nobody gave");
    let _ = Artefact::new(Protocol::AnthropicMessages, ArtefactKind::Signature, data);
}

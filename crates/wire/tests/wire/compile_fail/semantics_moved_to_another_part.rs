//! Must not compile: semantics moved to another part.

use sabir_wire::conversation::Part;

fn main() {
    let signed = Part::text("signed words");
    let _ = Part::text("other words").with_semantics(signed.semantics().clone());
}

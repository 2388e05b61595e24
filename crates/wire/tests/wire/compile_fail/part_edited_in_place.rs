//! Must not compile: part edited in place.

use sabir_wire::conversation::{Content, Part};
use sabir_wire::json::Text;

fn main() {
    let mut part = Part::text("signed words");
    part.content = Content::Text(Text::plain("other words under the same signature"));
}

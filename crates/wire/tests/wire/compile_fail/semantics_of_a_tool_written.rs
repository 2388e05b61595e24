//! Must not compile: semantics of a tool written.

use sabir_wire::conversation::Tool;
use sabir_wire::protocol::NodeSemantics;

/// They can be read.
fn read<'t>(tool: &'t Tool<'t>) -> &'t NodeSemantics<'t> {
    tool.semantics()
}

fn forge(tool: &mut Tool<'_>) {
    tool.semantics = NodeSemantics::default();
}

fn main() {}

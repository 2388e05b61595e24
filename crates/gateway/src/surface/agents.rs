//! Which protocol an agent CLI is closest to: what its history is written in, and whose signatures its answers have.

use sabir_compose::assemble::Agent;
use sabir_wire::Protocol;

pub(crate) fn protocol_of(agent: Agent) -> Protocol {
    match agent {
        Agent::ClaudeCode => Protocol::AnthropicMessages,
        Agent::OpenaiCodex => Protocol::OpenaiResponses,
        Agent::GoogleGemini => Protocol::Gemini,
        Agent::Plain => super::DEFAULT,
    }
}

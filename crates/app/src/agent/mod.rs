//! The agent CLIs: what each needs to work on a gateway, and how it is started there. One file for each CLI.

mod access;
mod claude;
mod codex;
mod folder;
mod gemini;
mod handoff;
mod launch;
mod model;
mod moment;
mod process;
mod shell;

pub(crate) use access::Access;
pub(crate) use folder::{Folder, RunFiles};
pub(crate) use handoff::{At, Handoff, Invocation, PROTOCOL as HANDOFF_PROTOCOL, TakenUp};
pub(crate) use launch::Launch;
pub(crate) use process::{find_program, run};
pub(crate) use shell::script;

use anyhow::Result;
use clap::ValueEnum;
use sabir_compose::assemble;
use sabir_wire::Protocol;

/// An agent CLI that Sabir can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code
    #[value(alias = "claude-code")]
    Claude,
    /// Codex
    #[value(alias = "openai-codex")]
    Codex,
    /// Gemini CLI
    #[value(alias = "google-gemini")]
    Gemini,
}

impl Agent {
    /// What its program is called.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Claude => claude::PROGRAM,
            Self::Codex => codex::PROGRAM,
            Self::Gemini => gemini::PROGRAM,
        }
    }

    /// The npm package that it comes in.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::Claude => claude::PACKAGE,
            Self::Codex => codex::PACKAGE,
            Self::Gemini => gemini::PACKAGE,
        }
    }

    /// The protocol that it speaks.
    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Self::Claude => claude::PROTOCOL,
            Self::Codex => codex::PROTOCOL,
            Self::Gemini => gemini::PROTOCOL,
        }
    }

    /// Who writes prompts for it.
    pub(crate) fn assembler(self) -> assemble::Agent {
        match self {
            Self::Claude => assemble::Agent::ClaudeCode,
            Self::Codex => assemble::Agent::OpenaiCodex,
            Self::Gemini => assemble::Agent::GoogleGemini,
        }
    }

    /// A name like those that it asks for when nobody names a model.
    pub(crate) fn own_model(self) -> &'static str {
        match self {
            Self::Claude => claude::OWN_MODEL,
            Self::Codex => codex::OWN_MODEL,
            Self::Gemini => gemini::OWN_MODEL,
        }
    }

    /// What it is started with; private files that it needs are written.
    pub(crate) fn launch(self, access: &Access, folder: &Folder) -> Result<Launch> {
        match self {
            Self::Claude => claude::launch(access, folder),
            Self::Codex => Ok(codex::launch(access)),
            Self::Gemini => gemini::launch(access, folder),
        }
    }
}

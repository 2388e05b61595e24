//! `sabir completions`: what a shell needs to complete our commands, options, and the ids of what is kept.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;

use crate::output;

/// Print the completions for a shell.
///
/// Bash, zsh and fish also complete the ids of conversations.
///
/// Example:
///   sabir completions bash > sabir.bash
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Completions {
    /// Which shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, mut sabir: clap::Command) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut sabir, "sabir", &mut script);
        let script = String::from_utf8(script)?;
        output::print(&with_ids(self.shell, script))?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The generated script completes what is known beforehand; ids are asked for when the key is pressed.
fn with_ids(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + BASH,
        Shell::Fish => script + FISH,
        Shell::Zsh => {
            let script = ZSH_IDS.iter().fold(script, |it, (from, to)| it.replace(from, to));
            script.replacen("\n_sabir() {", &format!("\n{ZSH}_sabir() {{"), 1)
        }
        _ => script,
    }
}

/// What is read is not expanded: an id is never a command.
const BASH: &str = r#"
_sabir_or_ids() {
    local word="${COMP_WORDS[COMP_CWORD]}" before=" ${COMP_WORDS[*]:1:COMP_CWORD-1} " id
    case "$before" in
    *" conversations show " | *" conversations export " | *" conversations delete " | *" conversations fork " | *" --conversation " | *" run "*" --continue ")
        if [[ "$word" != -* ]]; then
            COMPREPLY=()
            while IFS= read -r id; do COMPREPLY+=("$id"); done < <("$1" conversations ids "$word" 2>/dev/null)
            return
        fi
        ;;
    esac
    _sabir "$@"
}
complete -F _sabir_or_ids -o bashdefault -o default sabir
"#;

const FISH: &str = r#"
complete -c sabir -n "__fish_seen_subcommand_from conversations; and __fish_seen_subcommand_from show export delete fork" -f -a "(sabir conversations ids (commandline -ct) 2>/dev/null)"
complete -c sabir -n "__fish_seen_subcommand_from run" -l continue -x -a "(sabir conversations ids (commandline -ct) 2>/dev/null)"
complete -c sabir -n "__fish_seen_subcommand_from chat" -l conversation -x -a "(sabir conversations ids (commandline -ct) 2>/dev/null)"
"#;

/// How the generated script completes an id, and how it is to.
const ZSH_IDS: [(&str, &str); 3] = [
    (":id -- The conversation:_default", ":id -- The conversation:_sabir_ids"),
    ("or the name of a new one]:ID:_default", "or the name of a new one]:ID:_sabir_ids"),
    ("has the ids]:CONVERSATION:_default", "has the ids]:CONVERSATION:_sabir_ids"),
];
const ZSH: &str = r#"_sabir_ids() {
    local -a ids
    ids=(${(f)"$(sabir conversations ids "$PREFIX" 2>/dev/null)"})
    compadd -a ids
}

"#;

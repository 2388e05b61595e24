//! What a shell command does, guessed from its programs: it need not be right about every program, only about those that
//! agents use to read, search and write.

use crate::class::tool::ToolEffect;
use crate::class::words::{GIT_READERS, READING_PROGRAMS, SEARCHING_PROGRAMS, WRITING_PROGRAMS};

/// A long command is judged by its beginning.
const COMMAND_BYTES_MAX: usize = 16 * 1024;

/// The farthest-reaching thing that the command does. The words are those of one program, or of a shell with its script.
pub(super) fn effect(words: &[String]) -> ToolEffect {
    match script(words) {
        Some(script) => effect_of_script(script),
        None => effect_of_program(&words.iter().map(String::as_str).collect::<Vec<_>>()),
    }
}

/// The script, where the words are no program with its arguments.
fn script(words: &[String]) -> Option<&str> {
    match words {
        [script] => Some(script),
        [shell, rest @ ..] if is_shell(shell) => {
            rest.iter().find(|word| !word.starts_with('-')).map(String::as_str)
        }
        _ => None,
    }
}

fn is_shell(word: &str) -> bool {
    matches!(
        base_name(word),
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" | "pwsh" | "powershell"
    )
}

fn effect_of_script(script: &str) -> ToolEffect {
    let script = head(script);
    if writes_to_file(script) {
        return ToolEffect::Wrote;
    }
    let commands = script.split(['|', ';', '&', '\n', '(', ')', '`']);
    let effects = commands.map(|it| effect_of_program(&it.split_whitespace().collect::<Vec<_>>()));
    effects.max().unwrap_or(ToolEffect::Other)
}

fn head(script: &str) -> &str {
    &script[..script.floor_char_boundary(COMMAND_BYTES_MAX)]
}

/// Whether output is redirected to something that stays.
fn writes_to_file(script: &str) -> bool {
    let bytes = script.as_bytes();
    let mut quote = None;
    for (at, byte) in script.bytes().enumerate() {
        match (byte, quote) {
            (b'\'' | b'"', None) => quote = Some(byte),
            (b'\'' | b'"', Some(open)) if open == byte => quote = None,
            (b'>', None) => {
                let before = at.checked_sub(1).map(|before| bytes[before]);
                let is_arrow = matches!(before, Some(b'-' | b'=' | b'>'));
                if !is_arrow && is_file(&script[at + 1..]) {
                    return true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether what follows a `>` is a file, and neither another stream nor nothing.
fn is_file(rest: &str) -> bool {
    let rest = rest.trim_start_matches(['>', '|']);
    !rest.starts_with('&') && !rest.trim_start().starts_with("/dev/")
}

fn effect_of_program(words: &[&str]) -> ToolEffect {
    let is_assignment = |word: &&&str| word.contains('=') && !word.starts_with('-');
    let is_prefix =
        |word: &&&str| matches!(**word, "sudo" | "env" | "time" | "xargs" | "command" | "nohup");
    let mut words = words.iter().skip_while(|word| is_assignment(word) || is_prefix(word));
    let Some(program) = words.next() else {
        return ToolEffect::Other;
    };
    let arguments: Vec<&str> = words.copied().collect();
    match base_name(program) {
        "git" => effect_of_git(&arguments),
        "sed" | "perl" => {
            match arguments.iter().any(|it| it.starts_with("-i") || it.starts_with("-pi")) {
                true => ToolEffect::Wrote,
                false => ToolEffect::Read,
            }
        }
        "find" if arguments.iter().any(|it| matches!(*it, "-delete" | "-exec")) => {
            let run: Vec<&str> =
                arguments.iter().skip_while(|it| **it != "-exec").skip(1).copied().collect();
            if run.is_empty() {
                ToolEffect::Wrote
            } else {
                effect_of_program(&run).max(ToolEffect::Searched)
            }
        }
        program if WRITING_PROGRAMS.contains(&program) => ToolEffect::Wrote,
        program if SEARCHING_PROGRAMS.contains(&program) => ToolEffect::Searched,
        program if READING_PROGRAMS.contains(&program) => ToolEffect::Read,
        _ => ToolEffect::Other,
    }
}

fn effect_of_git(arguments: &[&str]) -> ToolEffect {
    match arguments.iter().find(|word| !word.starts_with('-')) {
        Some(&"grep") => ToolEffect::Searched,
        Some(word) if GIT_READERS.contains(word) => ToolEffect::Read,
        Some(_) => ToolEffect::Wrote,
        None => ToolEffect::Other,
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(effect_expected: ToolEffect, scripts: &[&str]) {
        for script in scripts {
            assert_eq!(effect(&[(*script).to_owned()]), effect_expected, "{script}");
        }
    }

    #[test]
    fn commands_that_change_files_write() {
        check(
            ToolEffect::Wrote,
            &[
                "echo a>b",
                "cargo build 2>&1 | tee log",
                "FOO=1 rm x",
                "sudo mv a b",
                "git commit -m 'x > y'",
                "perl -pi -e s/a/b/ f",
                "find . -name x -delete",
                "find . -exec rm {} ;",
                "cat a >> b",
            ],
        );
    }

    #[test]
    fn commands_that_only_print_read() {
        check(
            ToolEffect::Read,
            &[
                "cat a 2>&1",
                "ls >/dev/null",
                "git --no-pager show HEAD",
                "awk '$1 > 3' f",
                "cd a && cat b",
                "wc -l x",
            ],
        );
    }

    #[test]
    fn commands_that_look_for_something_search() {
        check(
            ToolEffect::Searched,
            &["rg x", "/usr/bin/grep -n x y", "find . -exec cat {} ;", "ls | grep x"],
        );
    }

    #[test]
    fn all_else_is_neither() {
        check(ToolEffect::Other, &["", "cargo test", "cd a", "python3 -c 'lambda x: x->y'"]);
    }
}

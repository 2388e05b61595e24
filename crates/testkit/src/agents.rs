//! Programs that play agent CLIs: shell scripts that print what a test wants of them and note what they were told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use std::{env, fs, process, thread};

/// A script in a folder of its own, which goes with it. In the script `$here` is that folder.
#[derive(Debug)]
pub struct FakeAgent {
    folder: PathBuf,
}

impl FakeAgent {
    /// A program that runs the script.
    pub fn new(script: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        static SWEPT: Once = Once::new();
        SWEPT.call_once(sweep);
        let number = NUMBER.fetch_add(1, Relaxed);
        let folder = env::temp_dir().join(format!("{PREFIX}{}-{number}", process::id()));
        fs::create_dir_all(&folder).expect("the folder for temporary files can be written to");
        // Another process may begin while what the first noted is read.
        let noted = r#"here=$(dirname "$0")
note() { cat > "$here/$1.$$"; mv "$here/$1.$$" "$here/$1"; }
printf '%s\n' "$@" | note arguments; env | note environment; pwd | note cwd"#;
        fs::write(folder.join("agent"), format!("{noted}\n{script}\n"))
            .expect("the folder was just made");
        Self { folder }
    }

    /// One that notes its input, then prints this and ends well.
    pub fn printing(output: &str) -> Self {
        let fake = Self::new(r#"cat > "$here/input"; cat "$here/output""#);
        fake.write("output", output);
        fake
    }

    /// Claude Code as far as it is spoken to: it introduces itself, takes what was said before, and answers the last message with
    /// the lines of `answer`.
    pub fn claude(answer: &str) -> Self {
        let fake = Self::new(&format!("{ROUNDS}{CLAUDE}"));
        fake.write("answer", answer);
        fake
    }

    /// Says that it is this version when it is asked for it.
    #[must_use]
    pub fn stating(self, version: &str) -> Self {
        self.write("version", version);
        self
    }

    /// Goes on in the lines of `next` when all calls that it asked for last have a result; in one call after the other, the rounds.
    #[must_use]
    pub fn going_on(self, rounds: &[&str]) -> Self {
        for (number, next) in rounds.iter().enumerate() {
            self.write(&format!("next{}", number + 1), next);
        }
        self
    }

    /// Codex's server for applications as far as it is spoken to: one thread, whose turn is told in the lines of `turn`.
    pub fn codex(turn: &str) -> Self {
        let fake = Self::new(&format!("{ROUNDS}{CODEX}"));
        fake.write("turn", turn);
        fake
    }

    /// Gemini CLI by its protocol for editors as far as it is spoken to: each turn is told in the lines of `turn`, in which `@S` is the
    /// session and `@P` the request, and recorded in those of `record`. A turn that is cancelled ends when its question has failed.
    pub fn gemini(turn: &str, record: &str) -> Self {
        let fake = Self::new(GEMINI);
        fake.write("turn", turn);
        fake.write("kept", record);
        fake
    }

    /// What starts it. The script is read and not run itself: a file that was just written may still be busy.
    pub fn command(&self) -> Vec<String> {
        vec!["/bin/sh".to_owned(), self.path("agent").to_string_lossy().into_owned()]
    }

    /// What it noted under a name; nothing if it noted nothing.
    pub fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// How many of it run: groups of processes, since what a script does it does in processes of its own.
    pub fn running(&self) -> usize {
        let folder = self.folder.to_string_lossy().into_owned();
        let group = |path: &Path| {
            let line = fs::read(path.join("cmdline")).ok()?;
            let is_own = String::from_utf8_lossy(&line).contains(&folder);
            // Behind the name, which stands in brackets, are the state, the parent and the group.
            let stat = fs::read_to_string(path.join("stat")).ok()?;
            let group = stat.rsplit_once(')')?.1.split_whitespace().nth(2)?.to_owned();
            is_own.then_some(group)
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.filter_map(|entry| group(&entry.path())).collect::<BTreeSet<_>>().len()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the folder was just made");
    }
}

/// What the names of the folders begin with; the number of their process follows.
const PREFIX: &str = "sabir-agent-";

/// How often it is looked whether a program that was ended is gone, and how long apart.
const LOOKS_MAX: u32 = 200;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The folder goes when nothing of it runs any more: whatever does would write it anew.
impl Drop for FakeAgent {
    fn drop(&mut self) {
        for _ in 0..LOOKS_MAX {
            let is_over = self.running() == 0;
            let _ = fs::remove_dir_all(&self.folder);
            if is_over && !self.folder.exists() {
                return;
            }
            thread::park_timeout(BETWEEN_LOOKS);
        }
    }
}

/// Removes the folders of test processes that are gone: one that is killed removes nothing.
fn sweep() {
    let folders = fs::read_dir(env::temp_dir()).into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        let is_gone = number.is_some_and(|number| !Path::new("/proc").join(number).exists());
        if is_gone && Path::new("/proc/self").exists() {
            let _ = fs::remove_dir_all(folder.path());
        }
    }
}

/// What goes on when all results are there: `said` is the file that was printed last, `$1` what asks for a result in it.
const ROUNDS: &str = r#"
say() { said=$1; results=0; cat "$here/$said"; }
result() {
    results=$((results + 1))
    [ "$results" -lt "$(grep -c "$1" "$here/$said")" ] && return
    round=$((round + 1)); say "next$round"
}
"#;

const CLAUDE: &str = r#"
[ "$1" = --version ] && { cat "$here/version" 2> /dev/null; exit; }
cat "$CLAUDE_CONFIG_DIR/.claude.json" 2> /dev/null | note home
control() { printf '{"type":"control_request","request_id":"%s","request":{"subtype":"mcp_message","server_name":"sabir","message":%s}}\n' "$1" "$2"; }
while IFS= read -r line; do
    printf '%s\n' "$line" >> "$here/input"
    case $line in
    *'"subtype":"initialize"'*'"sdkMcpServers":["sabir"]'*)
        control a '{"method":"initialize","params":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0}' ;;
    *'"subtype":"initialize"'*)
        printf '{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}\n' ;;
    *'"isError":'*) result tools/call ;;
    *'"request_id":"a"'*)
        printf '{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}\n'
        control b '{"method":"tools/list","jsonrpc":"2.0","id":1}' ;;
    *'"request_id":"b"'*) ;;
    *'"shouldQuery":false'*)
        printf '{"type":"system","subtype":"init","model":"claude-fake"}\n'
        printf '{"is_error":false,"num_turns":0,"type":"result"}\n' ;;
    '{"type":"user"'*) say answer ;;
    esac
done
"#;

const CODEX: &str = r#"
cat "$CODEX_HOME/config.toml" "$CODEX_HOME/catalog.json" 2> /dev/null | note home
while IFS= read -r line; do
    printf '%s\n' "$line" >> "$here/input"
    case $line in
    *'"method":"initialize"'*) printf '{"id":1,"result":{"userAgent":"sabir/0.0.2 (Linux)"}}\n{"method":"configWarning","params":{}}\n' ;;
    *'"method":"thread/resume"'*'"threadId":"T"'*) printf '{"id":2,"result":{"thread":{"id":"T"},"model":"codex-fake"}}\n' ;;
    *'"method":"thread/resume"'*) printf '{"id":2,"error":{"code":-32600,"message":"no rollout found for thread id"}}\n' ;;
    *'"method":"thread/start"'*) printf '{"id":2,"result":{"thread":{"id":"T"},"model":"codex-fake"}}\n' ;;
    *'"method":"thread/inject_items"'*'"threadId":"00000000-'*) printf '{"id":3,"error":{"code":-32600,"message":"thread not found"}}\n' ;;
    *'"method":"thread/inject_items"'*) printf '{"id":3,"result":{}}\n' ;;
    *'"method":"turn/start"'*)
        printf '{"id":4,"result":{"turn":{"id":"U","status":"inProgress"}}}\n'
        say turn ;;
    *'"contentItems":'*) result item/tool/call ;;
    esac
done
"#;

const GEMINI: &str = r#"
chats="$GEMINI_CLI_HOME/.gemini/tmp/work/chats"
cat "$GEMINI_CLI_HOME/.gemini/settings.json" "$GEMINI_CLI_HOME/policy.toml" 2> /dev/null | note home
[ -n "$GEMINI_SYSTEM_MD" ] || GEMINI_SYSTEM_MD=/dev/null
update() { printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"%s","update":{"sessionUpdate":"%s","content":{"type":"text","text":"then"}}}}\n' "$1" "$2"; }
while IFS= read -r line; do
    printf '%s\n' "$line" >> "$here/input"
    id=${line#*'"id":'}; id=${id%%,*}
    case $line in
    *'"method":"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentInfo":{"version":"0.0.3"},"agentCapabilities":{"loadSession":true}}}\n' "$id" ;;
    *'"method":"session/new"'*)
        session=abcdef01-0000; cp "$GEMINI_SYSTEM_MD" "$here/system"
        printf '{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"%s"}}\n' "$id" "$session" ;;
    *'"method":"session/load"'*)
        session=${line#*'"sessionId":"'}; session=${session%%'"'*}
        if [ ! -f "$chats/session-0-${session%%-*}.jsonl" ]; then
            printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error"}}\n' "$id"; continue
        fi
        cat "$chats/session-0-${session%%-*}.jsonl" > "$here/record"; cp "$GEMINI_SYSTEM_MD" "$here/system"
        printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id"
        while IFS= read -r kept; do
            case $kept in *'"type":"user"'*) update "$session" user_message_chunk ;; *'"type":"gemini"'*) update "$session" agent_message_chunk ;; esac
        done < "$here/record" ;;
    *'"method":"session/prompt"'*)
        prompt=$id; mkdir -p "$chats"; cat "$here/kept" >> "$chats/session-1-${session%%-*}.jsonl"
        sed "s/@S/$session/g; s/@P/$id/g" "$here/turn" ;;
    *'"method":"session/cancel"'*) ;;
    *'"error":'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}\n' "$prompt" ;;
    esac
done
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_program_and_what_dead_processes_left_is_swept() {
        let left = env::temp_dir().join(format!("{PREFIX}2000000000-1"));
        fs::create_dir_all(left.join("processes")).unwrap();
        let fake = FakeAgent::new("cat");
        sweep();
        assert!(!left.exists() && fake.path("agent").exists());
        let command = fake.command();
        let mut program = process::Command::new(&command[0]);
        let mut child = program.args(&command[1..]).stdin(process::Stdio::piped()).spawn().unwrap();
        let folder = fake.folder.clone();
        let ended = thread::spawn(move || {
            child.kill().unwrap();
            child.wait().unwrap();
        });
        drop(fake);
        assert!(!folder.exists());
        ended.join().unwrap();
    }
}

//! Programs that play agent CLIs: shell scripts that print what a test wants of them and note what they were told.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::{env, fs, process};

/// A script in a folder of its own, which goes with it. In the script `$here` is that folder.
#[derive(Debug)]
pub struct FakeAgent {
    folder: PathBuf,
}

impl FakeAgent {
    /// A program that runs the script.
    pub fn new(script: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("sabir-agent-{}-{}", process::id(), NUMBER.fetch_add(1, Relaxed));
        let folder = env::temp_dir().join(name);
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
        let fake = Self::new(CLAUDE);
        fake.write("answer", answer);
        fake
    }

    /// Codex's server for applications as far as it is spoken to: one thread, whose turn is told in the lines of `turn`.
    pub fn codex(turn: &str) -> Self {
        let fake = Self::new(CODEX);
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

    /// How many processes there are that run it.
    pub fn running(&self) -> usize {
        let folder = self.folder.to_string_lossy().into_owned();
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_own = |path: &Path| {
            let line = fs::read(path.join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains(&folder)
        };
        processes.filter(|entry| is_own(&entry.path())).count()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the folder was just made");
    }
}

impl Drop for FakeAgent {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const CLAUDE: &str = r#"
control() { printf '{"type":"control_request","request_id":"%s","request":{"subtype":"mcp_message","server_name":"sabir","message":%s}}\n' "$1" "$2"; }
while IFS= read -r line; do
    printf '%s\n' "$line" >> "$here/input"
    case $line in
    *'"subtype":"initialize"'*'"sdkMcpServers":["sabir"]'*)
        control a '{"method":"initialize","params":{"protocolVersion":"2025-11-25"},"jsonrpc":"2.0","id":0}' ;;
    *'"subtype":"initialize"'*)
        printf '{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}\n' ;;
    *'"request_id":"a"'*)
        printf '{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{}}}\n'
        control b '{"method":"tools/list","jsonrpc":"2.0","id":1}' ;;
    *'"request_id":"b"'*) ;;
    *'"shouldQuery":false'*)
        printf '{"type":"system","subtype":"init","model":"claude-fake"}\n'
        printf '{"is_error":false,"num_turns":0,"type":"result"}\n' ;;
    '{"type":"user"'*) cat "$here/answer" ;;
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
        cat "$here/turn" ;;
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

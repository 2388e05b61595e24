//! `team` without a terminal: a task through an argument or a pipe, with simulators and small programs as members.
//! `tests/terminal` has one.

use std::fs;

use sabir_testkit::agents::FakeAgent;
use serde_json::Value;

use crate::folder::Folder;
use crate::serving::Serving;

const NOBODY: &str = "listen = \"127.0.0.1:1\"\nenv_providers = false\n";

/// Two members on simulators of different protocols.
const PAIR: &str = "[[member]]\nname = \"ann\"\nmodel = \"sim-chat/a\"\n\n[[member]]\nname = \"bob\"\nmodel = \"sim-gemini/b\"\n";

/// A member that is a program, which is given the prompt on its input.
fn plain(name: &str) -> String {
    format!("[[member]]\nname = \"{name}\"\nagent = \"plain\"\nmodel = \"{name}\"\n")
}

/// A provider whose program notes the prompts of all who speak through it, and answers from a file of lines.
const SCRIPTED: &str = "[[provider]]\nname = \"scripted\"\nagent = \"plain\"\ncommand = [\"sh\", \"DIR/speak.sh\"]\nenv = [\"NOTES\"]\n";

const SPEAK: &str = "\
count=$(cat \"$NOTES/count\" 2>/dev/null || echo 0)
count=$((count + 1))
echo $count > \"$NOTES/count\"
cat > \"$NOTES/prompt-$count\"
sed -n \"${count}p\" \"$NOTES/answers\"
";

/// A folder where each answer of a plain member is the next line.
fn scripted(test: &str, answers: &str) -> Folder {
    let folder = Folder::new(test).with("answers", answers).with("speak.sh", SPEAK);
    let here = folder.path().display().to_string();
    folder.with("sabir.toml", &format!("{NOBODY}{}", SCRIPTED.replace("DIR", &here)))
}

#[track_caller]
fn run(folder: &Folder, arguments: &str) -> crate::run::Run {
    let here = folder.path().display().to_string();
    let path = std::env::var("PATH").unwrap();
    folder.sabir(arguments, &[("NOTES", &here), ("HOME", &here), ("PATH", &path)])
}

/// What was kept of the team that ran.
#[track_caller]
fn kept(folder: &Folder, stderr: &str) -> Vec<(String, String)> {
    let id = stderr.lines().find_map(|line| line.strip_prefix("conversation: ")).unwrap();
    let shown = run(folder, &format!("conversations show {id} --json")).exits(0).json();
    let text = |message: &Value, key: &str| message[key].as_str().unwrap().to_owned();
    let messages = shown["messages"].as_array().unwrap().iter();
    messages.map(|it| (text(it, "role"), text(it, "content"))).collect()
}

#[test]
fn members_on_two_models_speak_in_turn_in_one_conversation() {
    let folder = Folder::new("team-pair").with("sabir.toml", NOBODY).with("pair.toml", PAIR);
    let ran = folder.sabir("team pair.toml --rounds 1 Hello", &[]).exits(0);
    let (ann, bob) = ran.stdout.split_once("\nbob:\n").unwrap();
    assert!(
        ann.starts_with("ann:\nThis is Sabir's openai-chat simulator, answering as `a`."),
        "{ann}"
    );
    assert!(bob.starts_with("This is Sabir's gemini simulator, answering as `b`."), "{bob}");
    // What was said first is the task of all, and bob is shown what ann said.
    assert!(bob.contains("Team Task:\nHello\n\nConversation so far:\n- user: Hello"), "{bob}");
    let kept = kept(&folder, &ran.stderr);
    let roles: Vec<&str> = kept.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "assistant"]);
    assert_eq!(kept[0].1, "[FROM: user] [NEXT: ann]\nHello");
    assert!(kept[1].1.starts_with("[FROM: ann] [NEXT: bob]\nThis is Sabir's openai-chat"));
    assert!(kept[2].1.starts_with("[FROM: bob] [NEXT: ann]\nThis is Sabir's gemini"));
}

#[test]
fn an_answer_names_who_speaks_next_and_what_others_are_shown_has_no_markers() {
    let answers = "I ask carol. [NEXT: carol]\nNot  me.\t[NEXT: dave]\nI am bob. [NEXT: user]\n";
    let team = format!(
        "task = \"Decide.\"\nwindow = 2\n{}{}{}",
        plain("ann"),
        plain("bob"),
        plain("carol")
    );
    let folder = scripted("team-next", answers).with("team.toml", &team);
    let ran = run(&folder, "team team.toml Begin");
    let ran = ran.exits(0);
    let expected = "ann:\nI ask carol. [NEXT: carol]\n\ncarol:\nNot  me.\t[NEXT: dave]\n\nann:\nI am bob. [NEXT: user]\n\n";
    assert_eq!(ran.stdout, expected);
    assert!(
        ran.stderr.contains("[carol names dave, who is none of: ann, bob, carol, user]"),
        "{}",
        ran.stderr
    );
    let kept = kept(&folder, &ran.stderr);
    assert_eq!(kept[2].1, "[FROM: carol] [NEXT: ann]\nNot  me.");
    assert_eq!(kept[3].1, "[FROM: ann] [NEXT: user]\nI am bob.");
    let prompt = fs::read_to_string(folder.path().join("prompt-3")).unwrap();
    let expected = "user: Begin\nann: I ask carol.\n\nNot  me.";
    assert!(prompt.ends_with(expected) && prompt.contains("\n\nDecide.\n\n"), "{prompt}");
    assert!(prompt.starts_with("You are ann. You talk with: bob, carol, user."), "{prompt}");
}

const CODEX_TURN: &str = r#"{"method":"item/agentMessage/delta","params":{"turnId":"U","itemId":"msg_1","delta":"Short names."}}
{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Short names.","annotations":[]}]}}}
{"method":"rawResponse/completed","params":{"turnId":"U","responseId":"resp_1","usage":{"totalTokens":4,"inputTokens":2,"outputTokens":2}}}
"#;

const GEMINI_TURN: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I agree."}}}}
{"jsonrpc":"2.0","id":@P,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":7,"output_tokens":2}}}}}
"#;

#[test]
fn each_agent_is_shown_the_prompt_of_its_own_form() {
    let (codex, gemini) = (FakeAgent::codex(CODEX_TURN), FakeAgent::gemini(GEMINI_TURN, ""));
    let provider = |name: &str, agent: &str, fake: &FakeAgent| {
        let command = serde_json::to_string(&fake.command()).unwrap();
        format!("[[provider]]\nname = \"{name}\"\nagent = \"{agent}\"\ncommand = {command}\n")
    };
    let providers =
        [provider("c", "openai-codex", &codex), provider("g", "google-gemini", &gemini)];
    let member = |name: &str, agent: &str| {
        format!("[[member]]\nname = \"{name}\"\nagent = \"{agent}\"\ninstructions = \"Be kind.\"\n")
    };
    let team =
        format!("task = \"Name it.\"\n{}{}", member("ann", "codex"), member("bob", "gemini"));
    let folder =
        Folder::new("team-agents").with("sabir.toml", &format!("{NOBODY}{}", providers.concat()));
    let folder = folder.with("team.toml", &team);
    let ran = run(&folder, "team team.toml --rounds 1 Ideas?").exits(0);
    assert_eq!(ran.stdout, "ann:\nShort names.\nbob:\nI agree.\n");
    let introduced = |name: &str, other: &str| {
        format!(
            "You are {name}. You talk with: {other}, user. To say who speaks next, end with [NEXT: name].\n\nBe kind."
        )
    };
    let quoted = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    let ann = format!(
        "[SYSTEM]\n{}\n\n[TEAM_TASK]\nName it.\n\n[MESSAGE]\nIdeas?",
        introduced("ann", "bob")
    );
    assert!(codex.noted("input").contains(&quoted(&ann)), "{}", codex.noted("input"));
    let bob = format!(
        "Instructions:\n{}\n\nTeam Task:\nName it.\n\nConversation so far:\n- user: Ideas?\n\nYour task:\nShort names.",
        introduced("bob", "ann")
    );
    assert!(gemini.noted("input").contains(&quoted(&bob)), "{}", gemini.noted("input"));
}

#[test]
fn instructions_and_their_file_reach_the_member_and_the_window_and_the_budget_are_kept() {
    let member = "name = \"ann\"\nagent = \"plain\"\ninstructions = \"Be kind.\"\ninstruction_file = \"ann.md\"\n";
    let team = format!("window = 1\nmax_bytes = 160\n[[member]]\n{member}");
    let folder = scripted("team-window", "One.\nTwo.\nThree.\n");
    let folder = folder.with("team.toml", &team).with("ann.md", "\nUse metres.\n");
    let ran = run(&folder, "team team.toml Begin").exits(0);
    let prompt =
        |number: u32| fs::read_to_string(folder.path().join(format!("prompt-{number}"))).unwrap();
    assert!(prompt(1).contains("\n\nBe kind.\n\nUse metres.\n\nBegin\n\nBegin"), "{}", prompt(1));
    assert!(prompt(3).ends_with("\n\nann: One.\n\nTwo."), "{}", prompt(3));
    assert!(prompt(3).len() <= 160 && !ran.stderr.contains("is not shown"), "{}", ran.stderr);
    let tight = team.replace("160", "120");
    let folder = folder.with("team.toml", &tight).with("count", "0");
    let ran = run(&folder, "team team.toml Begin").exits(0);
    assert!(ran.stderr.contains("[ann is not shown the 1 oldest messages"), "{}", ran.stderr);
    let folder = folder.with("team.toml", &team.replace("160", "100"));
    let refused = run(&folder, "team team.toml Begin").exits(1);
    assert!(
        refused.stderr.contains("error: ann: instructions and team task need "),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_gateway_that_runs_is_used_and_a_model_that_nobody_serves_is_said() {
    let keys = "env_providers = false\n[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"sesame-a-1234\" }\n";
    let folder = Folder::new("team-running").with("sabir.toml", keys).with("pair.toml", PAIR);
    let (_serving, address) = Serving::start(&folder);
    let folder = folder.with("sabir.toml", &format!("listen = \"{address}\"\n{keys}"));
    let ran = folder.sabir_reads("team pair.toml --rounds 1", "Hello\n").exits(0);
    assert_eq!(kept(&folder, &ran.stderr).len(), 3);
    let folder = folder.with("pair.toml", &PAIR.replace("sim-gemini/b", "nobody-has-this"));
    let refused = folder.sabir("team pair.toml Hello", &[]).exits(1);
    assert!(refused.stderr.contains("error: bob: "), "{}", refused.stderr);
    // What ann said before is kept.
    assert_eq!(kept(&folder, &refused.stderr).len(), 2);
    // Before anybody speaks, where the gateway is of this process's own.
    let folder = folder.with("sabir.toml", NOBODY);
    let refused = folder.sabir("team pair.toml Hello", &[]).exits(1);
    assert!(
        refused.stderr.starts_with("error: bob: ") && refused.stdout.is_empty(),
        "{}",
        refused.stderr
    );
    let folder = folder.with("pair.toml", &plain("ann"));
    let refused = folder.sabir("team pair.toml Hello", &[]).exits(1);
    assert!(
        refused.stderr.contains("serves no plain") && refused.stderr.contains("agent = \"plain\"")
    );
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_place() {
    let folder = Folder::new("team-wrong").with("sabir.toml", NOBODY);
    let folder = folder.with("team.toml", "[[member]]\nname = \"ann\"\nmodel = 7\n");
    let refused = folder.sabir("team team.toml Hello", &[]).exits(1);
    assert!(
        refused.stderr.starts_with("error: team.toml:3:9: invalid type: integer"),
        "{}",
        refused.stderr
    );
    let refused = folder.sabir("team nothing.toml Hello", &[]).exits(1);
    assert!(refused.stderr.starts_with("error: cannot read nothing.toml: "), "{}", refused.stderr);
    let folder = folder.with("team.toml", PAIR);
    let refused = folder.sabir_reads("team team.toml", " \n").exits(1);
    assert!(refused.stderr.contains("there is nothing to talk about"), "{}", refused.stderr);
}

#[test]
fn a_team_says_that_nothing_is_kept_and_its_conversation_goes_to_an_agent() {
    let off = format!("{NOBODY}[store]\nrecord = \"off\"\n");
    let folder = Folder::new("team-kept").with("sabir.toml", &off).with("pair.toml", PAIR);
    let ran = folder.sabir("team pair.toml --rounds 1 Hello", &[]).exits(0);
    assert!(ran.stderr.contains("not kept: "), "{}", ran.stderr);

    let folder = folder.with("sabir.toml", NOBODY).with("gemini", "#!/bin/sh\ncat \"$2\"\n");
    let program = folder.path().join("gemini");
    fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = folder.sabir("team pair.toml --rounds 1 Hello", &[]).exits(0);
    let id = ran.stderr.trim().strip_prefix("conversation: ").unwrap();
    let here = folder.path().display().to_string();
    let path = format!("{here}:{}", std::env::var("PATH").unwrap());
    let handed = folder
        .sabir(&format!("run gemini --continue {id}"), &[("HOME", &here), ("PATH", &path)])
        .exits(0);
    let session: Value = serde_json::from_str(handed.stdout.lines().nth(1).unwrap()).unwrap();
    let prompt = session["content"][0]["text"].as_str().unwrap();
    assert!(
        prompt
            .starts_with("Conversation so far:\n- user: Hello\n- ann: This is Sabir's openai-chat"),
        "{prompt}"
    );
    assert!(prompt.contains("\n- bob: This is Sabir's gemini"), "{prompt}");
}

"""`sabir chat`, `sabir team` and the tables of `sabir conversations` in a real terminal, with the simulators behind them.

usage: run.py BINARY"""

import contextlib
import http.client
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unicodedata
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from terminal import PATIENCE_S, Terminal

BINARY = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else Path("target/debug/sabir")

# How long a page of a list may take.
PAGE_S = 0.05

# Nobody listens there: every command has a gateway of its own.
NOBODY = 'listen = "127.0.0.1:1"\nenv_providers = false\n'


class Thinker(BaseHTTPRequestHandler):
    """A provider that thinks aloud, answers and calls a tool."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "sky"}'}}
        deltas = [{"role": "assistant", "reasoning_content": "hmm, a sky"}, {"content": "It is **blue**."}, {"tool_calls": [call]}]
        for delta in deltas:
            self.frame({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        self.frame({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def frame(self, chunk: dict) -> None:
        chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "m", **chunk}
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def log_message(self, *_: object) -> None:
        pass


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="sabir-terminal-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.configure(NOBODY)
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.env = {**kept, "LC_ALL": "C.UTF-8", "HOME": folder.name, "SABIR_DATA_DIR": folder.name}

    def configure(self, text: str) -> None:
        (self.folder / "sabir.toml").write_text(text)

    def sabir(self, *arguments: str, stdin: str = "", code: int = 0) -> subprocess.CompletedProcess:
        command = [str(BINARY), *arguments]
        ran = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=self.folder, env=self.env, timeout=60)
        self.assertEqual(ran.returncode, code, ran.stderr)
        return ran

    def terminal(self, *arguments: str, columns: int = 100, **env: str) -> Terminal:
        return self.command([str(BINARY), *arguments], columns, **env)

    def command(self, command: list[str], columns: int = 100, **env: str) -> Terminal:
        terminal = Terminal(command, self.folder, {**self.env, "TERM": "tmux-256color", **env}, columns)
        self.addCleanup(terminal.close)
        return terminal

    def serve(self) -> str:
        """The address of a gateway that runs to the end of the test."""
        command = [str(BINARY), "serve", "--listen", "127.0.0.1:0"]
        self.serving = serving = subprocess.Popen(command, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(serving.communicate)
        self.addCleanup(serving.terminate)
        return serving.stdout.readline().rsplit("/", 1)[1].strip()

    def messages(self, conversation: str) -> list[dict]:
        return json.loads(self.sabir("conversations", "export", conversation).stdout)

    def turns(self, conversation: str) -> list[dict]:
        return json.loads(self.sabir("conversations", "show", conversation, "--json").stdout)["turns"]


class Chat(Case):
    def test_a_conversation_goes_on_with_another_model_and_in_a_fork(self) -> None:
        terminal = self.terminal("chat")
        terminal.wait("sim-chat/sim · a new conversation")
        terminal.answer("My name is Ada.")
        screen = terminal.wait("[conversation conv_")
        conversation = screen.split("[conversation ")[1].split("]")[0]
        terminal.answer("/model sim-gemini/demo")
        terminal.wait("the next answer is sim-gemini/demo's")
        terminal.answer("/model nobody/has-it")
        terminal.wait("error: ")
        terminal.answer("What is my name?")
        terminal.wait("What is my name?", 2)
        terminal.answer("/history")
        terminal.wait("user\n  My name is Ada.")
        terminal.answer("/fork")
        fork = terminal.wait(" from now on").split("this is ")[1].split(" ")[0]
        terminal.answer("/system")
        terminal.wait("there are no instructions")
        terminal.answer("/system Be brief.")
        terminal.wait("from the next turn on")
        terminal.answer("/system")
        terminal.wait("Be brief.", 2)
        terminal.answer("Good bye")
        terminal.wait("Good bye", 2)
        terminal.answer("/nonsense")
        terminal.wait("there is no /nonsense")
        terminal.leave()
        terminal.wait_for_end()
        self.assertEqual([turn["provider"] for turn in self.turns(conversation)], ["sim-chat", "sim-gemini"])
        self.assertEqual(len(self.turns(fork)), 3)
        self.assertEqual(self.messages(fork)[0]["content"], "Be brief.")

    def test_an_answer_that_is_stopped_is_kept_as_far_as_it_came(self) -> None:
        terminal = self.terminal("chat", "--model", "sim-chat/fault-never-ending", "--conversation", "stopped")
        terminal.wait("conversation stopped")
        terminal.answer("go on and on")
        terminal.wait("This This")
        terminal.press("C-c")
        terminal.wait("[stopped; what came is kept]")
        terminal.answer("/model sim-anthropic/demo")
        terminal.answer("and now?")
        terminal.wait("and now?", 2)
        terminal.leave()
        terminal.wait_for_end()
        turns = self.turns("stopped")
        self.assertEqual([turn["status"] for turn in turns], ["interrupted", "finished"])
        self.assertIn("This This", self.messages("stopped")[1]["content"])

    def test_what_is_said_of_a_stopped_answer_is_what_became_of_it(self) -> None:
        address = self.serve()
        self.configure(f'listen = "{address}"\nenv_providers = false\n')
        terminal = self.going_on("deleted")
        self.sabir("conversations", "delete", "deleted")
        terminal.press("C-c")
        terminal.wait("the conversation was deleted meanwhile")
        self.assertNotIn("is kept]", terminal.screen())
        terminal.answer("/model sim-chat/demo")
        terminal.answer("and now?")
        terminal.wait("[deleted was deleted meanwhile: what was said in it is gone]")
        terminal.wait('said: "and now?"')

    def test_a_conversation_that_was_deleted_is_begun_anew(self) -> None:
        self.configure(f'listen = "{self.serve()}"\nenv_providers = false\n')
        terminal = self.terminal("chat", "--model", "sim-chat/demo")
        terminal.answer("first")
        deleted = terminal.wait("[conversation conv_").split("[conversation ")[1].split("]")[0]
        self.sabir("conversations", "delete", deleted)
        terminal.answer("second")
        terminal.wait(f"[{deleted} was deleted meanwhile: what was said in it is gone]")
        terminal.wait('said: "second"')
        begun = terminal.wait("[conversation conv_", 2).rsplit("[conversation ", 1)[1].split("]")[0]
        terminal.answer("third")
        terminal.wait('said: "third"')
        self.assertNotEqual(begun, deleted)
        self.assertEqual([message["content"] for message in self.messages(begun)][::2], ["second", "third"])

    def test_a_gateway_that_has_gone_is_said_to_be_missing(self) -> None:
        self.configure(f'listen = "{self.serve()}"\nenv_providers = false\n')
        terminal = self.terminal("chat", "--model", "sim-chat/demo", "--conversation", "alone")
        terminal.answer("first")
        terminal.wait('said: "first"')
        self.serving.kill()
        self.serving.wait()
        terminal.answer("second")
        terminal.wait("try: start `sabir serve`")
        terminal.answer("/history")
        terminal.wait("try: start `sabir serve`", 2)
        terminal.leave()
        self.assertIn("[ended 0]", terminal.wait_for_end())

    def test_an_answer_to_a_file_that_was_edited_meanwhile_is_not_said_to_be_kept(self) -> None:
        self.configure(NOBODY + f'[store]\nurl = "files:{self.folder}/data"\n')
        terminal = self.going_on("edited")
        mine = json.dumps([{"role": "user", "content": "mine"}])
        (self.folder / "data/sessions/edited/transcript.json").write_text(mine)
        terminal.press("C-c")
        terminal.wait("the conversation was changed meanwhile")
        self.assertNotIn("is kept]", terminal.screen())
        terminal.leave()
        terminal.wait_for_end()
        self.assertEqual((self.folder / "data/sessions/edited/transcript.json").read_text(), mine)

    def test_a_line_survives_a_terminal_that_changes_its_size(self) -> None:
        terminal = self.terminal("chat", "--model", "sim-chat/demo", "--conversation", "sized", columns=60)
        terminal.wait_until_asked()
        text = "a line that is longer than the terminal will be when it is narrow, with 漢字 in it"
        terminal.press("-l", "--", text)
        terminal.wait("in it")
        for columns in (30, 90, 45):
            terminal.tmux("resize-window", "-x", str(columns), "-y", "50")
            terminal.press("-l", "--", "!")
        terminal.wait("!!!")
        terminal.press("Enter")
        terminal.wait_until(lambda screen: "simulator" in screen, "no answer")
        terminal.leave()
        terminal.wait_for_end()
        self.assertEqual(self.messages("sized")[0]["content"], f"{text}!!!")

    def test_what_a_model_writes_cannot_turn_the_line_around(self) -> None:
        text = "exe.\u202egpj and \u2066more\u2069"
        (self.folder / "t.json").write_text(json.dumps([{"role": "user", "content": text}]))
        self.sabir("conversations", "import", "t.json", "--id", "turned")
        for arguments in (["conversations"], ["conversations", "show", "turned"], ["chat", "--conversation", "turned"]):
            with self.terminal(*arguments, columns=140) as terminal:
                screen = terminal.wait("exe.\\u{202e}gpj and \\u{2066}more\\u{2069}")
            self.assertNotIn("\u202e", screen)

    def test_a_fork_has_what_came_of_the_answer_that_was_just_stopped(self) -> None:
        terminal = self.terminal("chat", "--model", "sim-chat/fault-never-ending", "--conversation", "left")
        terminal.wait("conversation left")
        terminal.answer("go on and on")
        terminal.wait("This This")
        terminal.press("C-c")
        terminal.answer("/fork")
        fork = terminal.wait(" from now on").split("this is ")[1].split(" ")[0]
        terminal.leave()
        terminal.wait_for_end()
        self.assertIn("This This", self.messages(fork)[1]["content"])

    def test_lines_that_are_typed_at_once_are_all_sent(self) -> None:
        terminal = self.terminal("chat", "--conversation", "ahead")
        terminal.wait("conversation ahead")
        terminal.press("first", "Enter", "second", "Enter", "third", "Enter")
        terminal.wait('said: "third"')
        terminal.leave()
        terminal.wait_for_end()
        users = [message["content"] for message in self.messages("ahead") if message["role"] == "user"]
        self.assertEqual(users, ["first", "second", "third"])

    def test_lines_are_edited_recalled_and_continued(self) -> None:
        terminal = self.terminal("chat", "--conversation", "lines")
        terminal.wait("conversation lines")
        terminal.answer("one\\")
        terminal.type("two")
        terminal.wait("two", 2)
        terminal.answer('"""')
        terminal.type("three")
        terminal.type("")
        terminal.type("four")
        terminal.type('"""')
        terminal.wait("four", 2)
        terminal.answer("five six")
        terminal.wait('said: "five six"')
        terminal.ask("Up", "BSpace", "BSpace", "BSpace", "Home")
        terminal.type("not ")
        terminal.wait("not five", 2)
        terminal.leave()
        terminal.wait_for_end()
        users = [message["content"] for message in self.messages("lines") if message["role"] == "user"]
        self.assertEqual(users, ["one\ntwo", "three\n\nfour", "five six", "not five"])

    def test_code_between_fences_is_sent_as_it_is(self) -> None:
        terminal = self.terminal("chat", "--model", "sim-chat/demo", "--conversation", "code")
        terminal.answer('"""')
        terminal.type("// a comment")
        terminal.type("call() // now")
        terminal.type('"""')
        terminal.wait("simulator")
        terminal.leave()
        terminal.wait_for_end()
        self.assertEqual(self.messages("code")[0]["content"], "// a comment\ncall() // now")

    def test_thinking_is_dimmed_and_calls_are_shown(self) -> None:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Thinker)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}/v1"
        provider = f'[[provider]]\nname = "thinker"\nprotocol = "openai-chat"\nbase_url = "{base}"\napi_key = {{ value = "k" }}\n'
        self.configure(NOBODY + provider)
        for env, is_dimmed in (({}, True), ({"NO_COLOR": "1"}, False)):
            terminal = self.terminal("chat", "--model", "thinker/m", **env)
            terminal.wait("a new conversation")
            terminal.answer("look at the sky")
            terminal.wait('→ look {"at":"sky"}')
            terminal.wait("It is **blue**.")
            screen = terminal.screen("-e")
            thought = next(line for line in screen.splitlines() if "hmm, a sky" in line)
            self.assertEqual("\x1b[2m" in thought, is_dimmed, thought)
            terminal.close()

    def test_a_conversation_that_goes_on_shows_its_last_turns(self) -> None:
        for text in ("first words", "second words", "third words", "fourth words"):
            self.sabir("chat", "--model", "sim-gemini/demo", "--conversation", "long", stdin=text)
        terminal = self.terminal("chat", "--conversation", "long")
        screen = terminal.wait("conversation long")
        self.assertIn("… 2 messages before", screen)
        self.assertNotIn("first words", screen)
        self.assertIn("user\n  fourth words", screen)
        self.assertIn("sim-gemini/demo · conversation long", screen)
        terminal.ask("Up")
        terminal.wait("> fourth words")

    def test_what_comes_through_a_pipe_is_one_turn(self) -> None:
        ran = self.sabir("chat", "--model", "sim-chat/demo", stdin="Hello from a pipe\n")
        self.assertIn("Hello from a pipe", ran.stdout)
        self.assertRegex(ran.stderr, r"^conversation: conv_\w+\n$")
        self.sabir("chat", stdin="", code=1)
        ran = self.sabir("chat", "--model", "nobody/has-it", stdin="Hello", code=1)
        self.assertIn("nobody/has-it", ran.stderr)
        ran = self.sabir("chat", "--conversation", "conv_unknown", stdin="Hello", code=1)
        self.assertIn("conv_unknown", ran.stderr)

    def test_a_file_gets_the_answers_and_the_terminal_all_else(self) -> None:
        terminal = self.command(["bash", "-c", f"'{BINARY}' chat --model sim-chat/demo --conversation told > answers"])
        terminal.wait("conversation told")
        terminal.answer("My name is Ada.")
        terminal.ask("Up")
        terminal.wait("Ada.", 2)
        terminal.press("Enter")
        terminal.leave()
        terminal.wait_for_end()
        answer = 'This is Sabir\'s openai-chat simulator, answering as `demo`. You said: "My name is Ada.".\n'
        self.assertEqual((self.folder / "answers").read_text(), answer * 2)

    def test_a_turn_that_is_killed_is_shown(self) -> None:
        terminal = self.terminal("chat", "--model", "sim-chat/fault-never-ending", "--conversation", "killed")
        terminal.wait("conversation killed")
        terminal.answer("go on and on")
        terminal.wait("This This")
        self.assertEqual([turn["status"] for turn in self.turns("killed")], ["opened"])
        terminal.signal("KILL")
        terminal.wait_for_end()
        self.assertEqual([turn["status"] for turn in self.turns("killed")], ["opened"])
        # As after the lease of the gateway that died.
        with contextlib.closing(sqlite3.connect(self.folder / "sabir.db")) as store, store:
            store.execute("UPDATE node SET alive_until = 0")
        terminal = self.terminal("chat", "--model", "sim-gemini/demo", "--conversation", "killed")
        terminal.wait("[the last turn was interrupted]")
        terminal.answer("and now?")
        terminal.wait("and now?", 2)
        terminal.leave()
        terminal.wait_for_end()
        self.assertEqual([turn["status"] for turn in self.turns("killed")], ["interrupted", "finished"])
        # A gateway that dies has written nothing of an answer that it was in the middle of.
        self.assertEqual(len(self.messages("killed")), 2)

    def test_a_client_that_is_killed_leaves_what_came_to_its_gateway(self) -> None:
        address = self.serve()
        self.configure(f'listen = "{address}"\nenv_providers = false\n')
        terminal = self.going_on("orphaned")
        terminal.signal("KILL")
        terminal.wait_for_end()
        self.assert_kept("orphaned")

    def test_whoever_is_told_to_end_keeps_what_came(self) -> None:
        for name, code in (("TERM", 143), ("HUP", 129)):
            with self.subTest(name):
                terminal = self.going_on(name)
                terminal.signal(name)
                screen = terminal.wait_for_end()
                self.assertIn("[stopped; what came is kept]", screen)
                self.assertIn(f"[ended {code}]", screen)
                self.assert_kept(name)

    def test_a_terminal_that_is_closed_keeps_what_came(self) -> None:
        terminal = self.going_on("closed")
        terminal.close()
        self.assert_kept("closed")

    def test_whoever_is_told_to_end_leaves_the_terminal_as_it_was(self) -> None:
        # Both where nothing was said yet and behind an answer.
        for name, texts in (("TERM", []), ("HUP", ["hello"])):
            with self.subTest(name):
                terminal = self.terminal("chat", "--model", "sim-chat/demo")
                for text in texts:
                    terminal.answer(text)
                terminal.wait_until_asked()
                self.assertIn("-icanon", terminal.settings())
                terminal.signal(name)
                terminal.wait_for_end()
                self.assertNotIn("-icanon", terminal.settings())

    def test_a_pipe_that_is_told_to_end_keeps_what_came(self) -> None:
        command = [str(BINARY), "chat", "--model", "sim-chat/fault-never-ending", "--conversation", "piped"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        running = subprocess.Popen(command, cwd=self.folder, env=self.env, **pipes)
        self.addCleanup(running.stdout.close)
        running.stdin.write(b"go on and on")
        running.stdin.close()
        running.stdout.read(10)
        running.terminate()
        running.stdout.read()
        self.assertEqual(running.wait(30), 143)
        self.assert_kept("piped")

    def going_on(self, conversation: str) -> Terminal:
        """A conversation in the middle of an answer that has no end."""
        terminal = self.terminal("chat", "--model", "sim-chat/fault-never-ending", "--conversation", conversation)
        terminal.wait(f"conversation {conversation}")
        terminal.answer("go on and on")
        terminal.wait("This This")
        return terminal

    def assert_kept(self, conversation: str) -> None:
        """What came of an answer is kept, marked, and the conversation goes on."""
        until = time.monotonic() + PATIENCE_S
        while (turns := self.turns(conversation)) and turns[-1]["status"] == "opened":
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)
        self.assertEqual([turn["status"] for turn in turns], ["interrupted"])
        messages = self.messages(conversation)
        self.assertEqual([it["role"] for it in messages], ["user", "assistant"])
        self.assertIn("This This", messages[1]["content"])
        self.sabir("chat", "--model", "sim-gemini/demo", "--conversation", conversation, stdin="and now?")
        self.assertEqual([turn["status"] for turn in self.turns(conversation)], ["interrupted", "finished"])

    def test_where_nothing_is_kept_the_conversation_is_kept_here(self) -> None:
        self.configure(NOBODY + '[store]\nrecord = "off"\n')
        terminal = self.terminal("chat")
        terminal.wait("kept here alone, until you leave")
        terminal.answer("My name is Ada.")
        terminal.wait("Ada.", 2)
        terminal.answer("/history")
        terminal.wait("user\n  My name is Ada.")
        terminal.answer("/fork")
        terminal.wait("nothing is kept that could be forked")
        ran = self.sabir("chat", "--conversation", "mine", stdin="Hello", code=1)
        self.assertIn('record = "stateful"', ran.stderr)


class Handoff(Case):
    def test_an_agent_begins_by_itself_where_an_answer_is_due(self) -> None:
        agent = self.folder / "gemini"
        agent.write_text('#!/bin/sh\nshift 2\necho "with: $*"\n')
        agent.chmod(0o755)
        said = [{"role": "user", "content": "My name is Ada."}, {"role": "assistant", "content": "Hello."}, {"role": "user", "content": "And?"}]
        for name, messages, arguments in [("open", said, "with: -i Go on."), ("answered", said[:2], "with: \n")]:
            self.sabir("conversations", "import", "-", "--id", name, stdin=json.dumps(messages))
            path = f"{self.folder}:{self.env['PATH']}"
            terminal = self.terminal("run", "gemini", "--continue", name, PATH=path)
            terminal.wait(arguments.rstrip())
            self.assertIn(arguments.rstrip() + "\n\n[ended 0]", terminal.wait("[ended 0]"))


class Team(Case):
    """Two members on simulators, one of which speaks slowly."""

    def team(self, more: str = "") -> None:
        ann = '[[member]]\nname = "ann"\nmodel = "sim-chat/a"\n'
        bob = '[[member]]\nname = "bob"\nmodel = "sim-anthropic/fault-slow-stream-300"\n'
        (self.folder / "team.toml").write_text(more + ann + bob)

    def test_ctrl_c_stops_the_speaker_and_the_user_says_who_goes_on(self) -> None:
        self.team('task = "Plan it."\n')
        terminal = self.terminal("team", "team.toml", "--rounds", "1")
        terminal.wait("ann (sim-chat/a), bob (sim-anthropic/fault-slow-stream-300) · /help")
        terminal.answer("/nonsense")
        terminal.wait("/go     let the team go on")
        terminal.answer("Begin. [NEXT: bob]")
        terminal.wait("bob:\nThis is")
        terminal.press("C-c")
        terminal.wait("[stopped]")
        terminal.answer("Thank you. [NEXT: ann]")
        terminal.wait("ann:\nThis is Sabir's openai-chat simulator")
        # The round goes on with bob, who is stopped again, and with ann when the user has nothing to say.
        terminal.wait("bob:\nThis is", 2)
        terminal.press("C-c")
        terminal.wait("[stopped]", 2)
        terminal.answer("/go")
        terminal.wait("ann:\nThis is Sabir's openai-chat simulator", 2)
        terminal.wait("bob:\nThis is", 3)
        terminal.press("C-c")
        terminal.wait("[stopped]", 3)
        terminal.leave()
        conversation = terminal.wait("[ended 0]").split("conversation: ")[1].split()[0]
        kept = [message["content"].split("\n")[0] for message in self.messages(conversation)]
        self.assertEqual(kept[:4], ["[FROM: user] [NEXT: bob]", "[FROM: bob] [NEXT: ann]", "[FROM: user] [NEXT: ann]", "[FROM: ann] [NEXT: bob]"])

    def test_a_team_goes_on_with_the_users_word_after_its_rounds(self) -> None:
        (self.folder / "team.toml").write_text('[[member]]\nname = "ann"\nmodel = "sim-chat/a"\n')
        terminal = self.terminal("team", "team.toml", "--rounds", "1", "Hello")
        terminal.wait("ann:\nThis is")
        terminal.answer("And now?")
        terminal.wait("ann:\nThis is", 2)
        terminal.leave()
        conversation = terminal.wait("[ended 0]").split("conversation: ")[1].split()[0]
        self.assertEqual(len(self.messages(conversation)), 4)


class Completions(Case):
    """A shell completes the ids of what is kept when the key is pressed."""

    def setUp(self) -> None:
        super().setUp()
        (self.folder / "t.json").write_text(json.dumps([{"role": "user", "content": "about pears"}]))
        self.sabir("conversations", "import", "t.json", "--id", "tour")

    def shell(self, *command: str) -> Terminal:
        path = f"{BINARY.parent}:{self.env['PATH']}"
        terminal = self.command(list(command), PATH=path)
        terminal.wait("$")
        return terminal

    def complete(self, terminal: Terminal, line: str, completed: str) -> None:
        terminal.press("-l", "--", line)
        terminal.press("Tab")
        terminal.wait(completed)
        terminal.press("C-u")
        terminal.wait_until(lambda screen: screen.rstrip().endswith("$"), "the line is not empty")

    def assert_completes(self, terminal: Terminal) -> None:
        for command in ("conversations show", "conversations export", "conversations delete", "conversations fork", "chat --conversation", "run codex --continue"):
            self.complete(terminal, f"sabir {command} to", f"sabir {command} tour")
        # What begins no id stays as it is, and commands and options are completed as ever.
        self.complete(terminal, "sabir conversations show x", "$ sabir conversations show x")
        self.complete(terminal, "sabir conversat", "sabir conversations")
        self.complete(terminal, "sabir conversations list --lim", "sabir conversations list --limit")

    def test_bash_completes_ids(self) -> None:
        (self.folder / "rc").write_text("PS1='$ '\nbind 'set bell-style none'\neval \"$(sabir completions bash)\"\n")
        self.assert_completes(self.shell("bash", "--rcfile", "rc", "-i"))

    def test_zsh_completes_ids(self) -> None:
        (self.folder / "_sabir").write_text(self.sabir("completions", "zsh").stdout)
        # As a manual would have it: in a folder of the path that functions are loaded from.
        (self.folder / ".zshrc").write_text("PS1='$ '\nsetopt nobeep\nfpath=($HOME $fpath)\nautoload -U compinit\ncompinit -u\n")
        self.assert_completes(self.shell("zsh", "-i"))

    def test_fish_completes_ids(self) -> None:
        folder = self.folder / ".config/fish"
        (folder / "completions").mkdir(parents=True)
        (folder / "completions/sabir.fish").write_text(self.sabir("completions", "fish").stdout)
        (folder / "config.fish").write_text("function fish_prompt; echo -n '$ '; end\nset -g fish_autosuggestion_enabled 0\n")
        # Where it is missing, fish fills it in the background for a while, and this folder goes meanwhile.
        (self.folder / ".local/share/fish/generated_completions").mkdir(parents=True)
        self.assert_completes(self.shell("fish", "--interactive"))


class Tables(Case):
    def test_a_table_fits_the_terminal(self) -> None:
        title = "漢字かな交じり文の長い題名がここにあります、とても長い題名です"
        (self.folder / "t.json").write_text(json.dumps([{"role": "user", "content": title}]))
        self.sabir("conversations", "import", "t.json", "--id", "wide")
        for columns in (30, 50, 120):
            with self.terminal("conversations", "list", columns=columns) as terminal:
                lines = terminal.wait_for_end().splitlines()
            row = next(line for line in lines if line.startswith("wide"))
            width = sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in row)
            self.assertLessEqual(width, columns, row)
            self.assertEqual("…" in row, columns < 100, row)
            self.assertEqual("TURNS" in "".join(lines), columns > 40, lines)

    def test_tables_with_long_ids_fit_forty_columns(self) -> None:
        said = self.sabir("chat", "--model", "sim-chat/a-model-with-a-long-name", stdin="pears, apples, plums and quinces")
        conversation = said.stderr.split("conversation: ")[1].strip()
        for arguments in (["conversations"], ["conversations", "show", conversation], ["usage"], ["usage", "--by", "provider"]):
            with self.terminal(*arguments, columns=40) as terminal:
                table = terminal.wait_for_end().split("\n\n")[0].splitlines()
            # What is too wide goes on in a line of its own.
            self.assertEqual(len(table), 2, table)
            self.assertIn(table[0].split()[0], ("ID", "TURN", "MODEL", "PROVIDER"))

    def test_usage_fits_any_terminal(self) -> None:
        self.sabir("chat", "--model", "sim-chat/a-model-with-a-long-name", stdin="pears, apples, plums and quinces")
        for columns in (12, 16, 20, 24, 30, 60):
            with self.terminal("usage", columns=columns) as terminal:
                table = terminal.wait_for_end().split("\n\n")[0].splitlines()
            self.assertEqual((len(table), table[0].split()[0]), (2, "MODEL"), table)
            self.assertEqual("CALLS" in table[0], columns > 16, table)

    def test_a_page_of_ten_thousand_is_there_at_once(self) -> None:
        (self.folder / "t.json").write_text(json.dumps([{"role": "user", "content": "about pears"}]))
        self.sabir("conversations", "import", "t.json", "--id", "c0")
        with contextlib.closing(sqlite3.connect(self.folder / "sabir.db")) as store, store:
            columns = [row[1] for row in store.execute("PRAGMA table_info(conversation)")]
            others = {"id": "'c' || n", "updated_at": "updated_at + n", "search": "'about pears' || char(10) || 'c' || n"}
            numbers = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)"
            values = ", ".join(others.get(column, column) for column in columns)
            store.execute(f"INSERT INTO conversation {numbers} SELECT {values} FROM conversation, numbers")
        address = self.serve()
        for path in ("?limit=100", "?limit=100&query=c77", "?limit=100&after=c5000"):
            self.assert_quick(address, f"/sabir/v1/conversations{path}")
        listing = json.loads(self.sabir("conversations", "list", "--limit", "10001", "--json").stdout)
        self.assertEqual((len(listing["data"]), listing["has_more"]), (10001, False))

    def assert_quick(self, address: str, path: str) -> None:
        """Asks until an answer is there within its time: the machine may have other things to do meanwhile."""
        until, shortest = time.monotonic() + PATIENCE_S, PATIENCE_S
        with contextlib.closing(http.client.HTTPConnection(address, timeout=PATIENCE_S)) as connection:
            while shortest >= PAGE_S:
                began = time.monotonic()
                self.assertLess(began, until, f"{path} takes {shortest} s")
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                self.assertEqual(answer.status, 200)
                shortest = min(shortest, time.monotonic() - began)


if __name__ == "__main__":
    unittest.main(verbosity=2)

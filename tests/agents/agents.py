"""The agent CLIs: how each is asked to do a task without a person, and what its own output says of it."""

import json
import os
from dataclasses import dataclass, field


@dataclass
class Report:
    """What an agent said it did."""

    tools: list[str] = field(default_factory=list)
    """The tools that ran and succeeded, in order."""

    answer: str = ""
    """Its last word to the user."""

    errors: list[str] = field(default_factory=list)


def lines(output):
    """The JSON objects of an output that has one a line."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def dictate(*calls):
    """A prompt that has a simulator make these calls, each in a round of its own."""
    orders = [f"call {tool} with {json.dumps(arguments)}" for tool, arguments in calls]
    return "Work in this folder.\n" + "\nthen ".join(orders)


def dictate_at_once(*calls):
    """The same with all calls in one round."""
    return dictate(*calls).replace("\nthen ", "\n")


class Claude:
    """Claude Code."""

    name = title = "claude"
    uses_socket = False
    protocol = "anthropic-messages"
    sessions = ".claude/projects/*/*.jsonl"
    """Where it keeps its sessions, below the home."""
    holds = ['"tool_use"', '"tool_result"', '"image"', '"signature"']
    """What a conversation has in which it looked at a picture."""
    context = 0
    """Parts that it adds on the way and does not keep."""
    resumes_calls = True
    """Whether it goes on with a session that has calls of tools."""
    tools = ["Bash", "Read"]
    variables = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "CLAUDE_CODE_MAX_RETRIES": "0"}

    def arguments(self, folder):
        prompt = dictate(
            ("Bash", {"command": "cp note.txt copy.txt"}),
            ("Read", {"file_path": os.path.join(folder, "copy.txt")}),
        )
        return self.print(prompt)

    def look(self, folder):
        """The arguments that have it look at a picture and run a command, both at once."""
        picture = os.path.join(folder, "dot.png")
        calls = [("Bash", {"command": "cp note.txt copy.txt"}), ("Read", {"file_path": picture})]
        return self.print(dictate_at_once(*calls))

    def go_on(self, prompt):
        """The arguments that have it say more in its last session."""
        return ["--continue", *self.print(prompt)]

    def say(self, prompt):
        """The arguments that have it answer, in whatever session it is."""
        return self.print(prompt)

    def print(self, prompt):
        options = ["--output-format", "stream-json", "--verbose", "--allowedTools", *self.tools]
        return ["-p", *options, "--", prompt]

    def report(self, output):
        report = Report()
        called = {}
        for line in lines(output):
            content = line.get("message", {}).get("content", [])
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_use":
                    called[block["id"]] = block["name"]
                elif block["type"] == "tool_result" and not block.get("is_error"):
                    report.tools.append(called[block["tool_use_id"]])
                elif block["type"] == "tool_result":
                    report.errors.append(str(block["content"]))
            if line["type"] == "result":
                report.answer = line["result"]
                if line["is_error"]:
                    report.errors.append(line["result"])
        return report


    def used(self, output):
        """The tokens of input and of output that it says its session took."""
        models = next(line for line in reversed(lines(output)) if line["type"] == "result")["modelUsage"].values()
        read = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens")
        return sum(it[name] for it in models for name in read), sum(it["outputTokens"] for it in models)


class Codex:
    """Codex."""

    name = title = "codex"
    uses_socket = False
    protocol = "openai-responses"
    sessions = ".codex/sessions/**/rollout-*.jsonl"
    holds = ['"function_call"', '"function_call_output"', '"input_image"', '"encrypted_content"']
    context = 0
    resumes_calls = True
    tools = ["cp note.txt copy.txt", "cat copy.txt"]
    variables = {}

    def arguments(self, folder):
        prompt = dictate(*(("exec_command", {"cmd": command}) for command in self.tools))
        return self.exec(folder, prompt)

    def look(self, folder):
        prompt = dictate_at_once(*(("exec_command", {"cmd": command}) for command in self.tools))
        return self.exec(folder, prompt, "-i", os.path.join(folder, "dot.png"))

    def go_on(self, prompt):
        return ["exec", "resume", "--last", "--json", "--skip-git-repo-check", prompt]

    def say(self, prompt):
        return ["exec", "--json", "--skip-git-repo-check", prompt]

    def exec(self, folder, prompt, *more):
        options = ["--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", *more]
        return ["exec", *options, "-C", folder, "--", prompt]

    def direct(self, base, arguments):
        """The command that asks a provider itself, who is not Sabir."""
        provider = {"name": "Vendor", "base_url": base, "env_key": "VENDOR_KEY", "wire_api": "responses"}
        options = {f"model_providers.vendor.{key}": value for key, value in provider.items()}
        options |= {"model_provider": "vendor", "model": "long"}
        overrides = [word for key, value in options.items() for word in ("-c", f'{key}="{value}"')]
        return ["codex", *overrides, *arguments]

    def direct_variables(self, base, home):
        return {"VENDOR_KEY": "only-for-tests"}

    def report(self, output):
        report = Report()
        for line in lines(output):
            item = line.get("item", {}) if line["type"] == "item.completed" else {}
            if item.get("type") == "command_execution" and item["exit_code"] == 0:
                # It wraps each command in a shell's.
                report.tools += [it for it in self.tools if it in item["command"]]
            elif item.get("type") == "command_execution":
                report.errors.append(item["aggregated_output"])
            elif item.get("type") == "agent_message":
                # The last one counts: it is what `--output-last-message` writes.
                report.answer = item["text"]
            elif line["type"] in ("error", "turn.failed"):
                report.errors.append(json.dumps(line))
        return report


    def used(self, output):
        usage = next(line for line in reversed(lines(output)) if line["type"] == "turn.completed")["usage"]
        return usage["input_tokens"], usage["output_tokens"]


class CodexSocket(Codex):
    """Codex over a WebSocket: it prepares the socket with a call that wants no answer, then sends what is new."""

    title = "codex-socket"
    uses_socket = True

    def arguments(self, folder):
        command, *rest = super().arguments(folder)
        return [command, "-c", "model_providers.sabir.supports_websockets=true", *rest]


class Gemini:
    """Gemini CLI."""

    name = title = "gemini"
    uses_socket = False
    protocol = "gemini"
    sessions = ".gemini/tmp/*/chats/session-*.jsonl"
    holds = ['"functionCall"', '"functionResponse"', '"inlineData"', '"thought"']
    context = 0
    # Resumed, it sends each result twice, which its own API refuses.
    resumes_calls = False
    tools = ["run_shell_command", "read_file"]
    variables = {"GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def arguments(self, folder):
        prompt = dictate(
            ("run_shell_command", {"command": "cp note.txt copy.txt"}),
            ("read_file", {"file_path": os.path.join(folder, "copy.txt")}),
        )
        return self.print(prompt)

    def look(self, folder):
        picture = os.path.join(folder, "dot.png")
        calls = [("run_shell_command", {"command": "cp note.txt copy.txt"}), ("read_file", {"file_path": picture})]
        return self.print(dictate_at_once(*calls))

    def go_on(self, prompt):
        return ["--resume=latest", *self.print(prompt)]

    def say(self, prompt):
        return self.print(prompt)

    def print(self, prompt):
        return ["--output-format", "stream-json", "--yolo", "-p", prompt]

    def direct(self, base, arguments):
        return ["gemini", "-m", "long", *arguments]

    def direct_variables(self, base, home):
        """The variables that lead it to a provider who is not Sabir; that a key is enough, its settings alone can say."""
        settings = os.path.join(home, ".gemini", "settings.json")
        os.makedirs(os.path.dirname(settings), exist_ok=True)
        with open(settings, "w") as file:
            json.dump({"security": {"auth": {"selectedType": "gemini-api-key"}}}, file)
        return {"GEMINI_API_KEY": "only-for-tests", "GOOGLE_GEMINI_BASE_URL": base}

    def report(self, output):
        report = Report()
        called = {}
        for line in lines(output):
            if line["type"] == "tool_use":
                called[line["tool_id"]] = line["tool_name"]
                report.answer = ""
            elif line["type"] == "tool_result" and line["status"] == "success":
                report.tools.append(called[line["tool_id"]])
            elif line["type"] == "message" and line["role"] == "assistant":
                report.answer += line["content"]
            elif line["type"] == "error" or line.get("status") == "error":
                report.errors.append(json.dumps(line))
        return report


    def used(self, output):
        stats = next(line for line in reversed(lines(output)) if line["type"] == "result")["stats"]
        return stats["input_tokens"], stats["output_tokens"]


AGENTS = [Claude(), Codex(), Gemini()]

SOCKETS = [CodexSocket()]
"""Those who ask over a WebSocket."""

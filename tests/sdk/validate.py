"""Feeds translated bodies to the official SDKs and prints what they complain about.

Usage: validate.py FILE_OR_FOLDER, the JSON lines described in the README. The exit code is 1 if any body failed, or if
there was none.
"""

import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import anthropic_messages
import gemini
import openai_chat
import openai_responses
from allowed import is_allowed
from case import Case, read
from shape import Complaint

SDKS: dict[str, ModuleType] = {
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "anthropic-messages": anthropic_messages,
    "gemini": gemini,
}
KINDS = ("request", "response", "stream", "error")


def judge(case: Case) -> list[Complaint]:
    """What the SDK of the target protocol has to say; an exception from inside the SDK is a complaint too."""
    if case.target not in SDKS or case.kind not in KINDS:
        return [Complaint("/", f"there is no check for {case.target} {case.kind}")]
    found: list[Complaint] = []
    try:
        for complaint in getattr(SDKS[case.target], case.kind)(case):
            found.append(complaint)
    except Exception as raised:
        found.append(Complaint("/", f"{type(raised).__name__}: {raised}"))
    return [complaint for complaint in found if not is_allowed(case, complaint)]


def report(cases: list[Case]) -> int:
    """Prints the complaints and the counts, and returns the number of cases that failed."""
    passed, failed = Counter(), Counter()
    for case in cases:
        found = judge(case)
        (failed if found else passed)[case.target, case.kind] += 1
        for at, why in found:
            print(f"{case.name}: {case.source} -> {case.target} {case.kind}: {at}: {' '.join(why.split())[:300]}")
    for target, kind in sorted(passed.keys() | failed.keys()):
        print(f"{target} {kind}: {passed[target, kind]} passed, {failed[target, kind]} failed")
    print(f"{passed.total()} passed, {failed.total()} failed")
    return failed.total()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    cases = read(Path(arguments[0]))
    return 1 if report(cases) or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

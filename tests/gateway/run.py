"""Runs the official SDKs against a gateway on the simulators: scenarios, faults, and streams left half-way."""

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic_messages
import gemini
import openai_chat
import openai_responses
import scenarios
from servers import PROVIDERS, Gateway, Simulators

CLIENTS = (openai_chat.Client, openai_responses.Client, anthropic_messages.Client, gemini.Client)
THREADS = 6
TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Case:
    title: str
    run: Callable[[], None]


def scenario_cases(clients: list, simulators: Simulators) -> list[Case]:
    cases = []
    for scenario, who in scenarios.TABLE:
        for client in clients:
            if client.protocol not in who:
                continue
            for provider, (upstream, _) in PROVIDERS.items():
                for is_streamed in (False, True):
                    name = f"cell-{len(cases)}"
                    cell = scenarios.Cell(client, provider, upstream, is_streamed, name, simulators)
                    way = "streamed" if is_streamed else "whole"
                    title = f"{scenario.__name__}: {client.protocol} on {upstream}, {way}"
                    cases.append(Case(title, lambda scenario=scenario, cell=cell: scenario(cell)))
    return cases


def attempt(case: Case) -> str:
    try:
        case.run()
    except AssertionError as error:
        return str(error)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    return ""


def run_all(cases: list[Case], suite: str) -> int:
    started = time.monotonic()
    with ThreadPoolExecutor(THREADS) as threads:
        complaints = list(threads.map(attempt, cases))
    failed = [(case, complaint) for case, complaint in zip(cases, complaints) if complaint]
    for case, complaint in failed:
        print(f"FAILED {case.title}\n       {complaint}")
    took = time.monotonic() - started
    print(f"{suite}: {len(cases) - len(failed)} passed, {len(failed)} failed, {took:.1f} s", flush=True)
    return len(failed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path, help="the binary `sabir`")
    parser.add_argument("--only", default="", help="run the cases whose title holds this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        simulators = Simulators(options.binary, Path(folder))
        gateway = Gateway(options.binary, Path(folder), simulators.base)
        clients: list[Any] = [make(gateway.base, TIMEOUT_S) for make in CLIENTS]
        try:
            cases = [it for it in scenario_cases(clients, simulators) if options.only in it.title]
            failed = run_all(cases, "scenarios")
            print(Path(folder, "gateway.log").read_text()[-2000:])
        finally:
            gateway.end()
            simulators.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

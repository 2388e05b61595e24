"""Runs the official SDKs against a gateway on the simulators: scenarios, faults, and streams left half-way."""

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anthropic_messages
import counted
import faults
import gemini
import leaving
import network
import openai_chat
import openai_responses
import rules
import scenarios
import surface
from servers import PROVIDERS, SHORT, USUAL, Gateway, Simulators, config

CLIENTS = (openai_chat.Client, openai_responses.Client, anthropic_messages.Client, gemini.Client)
# Faults are mostly waited for.
SCENARIO_THREADS = 6
FAULT_THREADS = 24
NETWORK_THREADS = 4
TIMEOUT_S = 30.0
SETTLE_S = 15.0


@dataclass(frozen=True)
class Case:
    title: str
    run: Callable[[], None]


class Suites:
    """The simulators, a gateway of the usual patience and an impatient one, and how much was found wrong."""

    def __init__(self, binary: Path, folder: Path, only: str) -> None:
        self.simulators = Simulators(binary, folder)
        base = self.simulators.base
        self.usual = Gateway(binary, folder, "usual", config(base, USUAL, {name: name for name in PROVIDERS}))
        self.outside = surface.Surface(binary, folder)
        self.decided = rules.Rules(binary, folder, self.simulators)
        self.way = network.Network(binary, folder, self.simulators)
        self.impatient = Gateway(binary, folder, "impatient", config(base, SHORT, faults.providers()))
        self.gateway = self.usual
        # What the faults must have been counted as, by the cell.
        self.ended: list[tuple[faults.Cell, counted.Ended]] = []
        self.only = only
        self.failed = 0

    def end(self) -> None:
        for server in (self.outside, self.decided, self.way, self.usual, self.impatient, self.simulators):
            server.end()

    def run(self, suite: str, gateway: Gateway, threads: int, make: Callable[[list], Iterator[Case]]) -> None:
        """Runs a suite's cases with clients of its own, after which nothing may be under way."""
        started = time.monotonic()
        self.gateway = gateway
        clients = [client(self.gateway.base, TIMEOUT_S) for client in CLIENTS]
        cases = [case for case in make(clients) if self.only in case.title]
        with ThreadPoolExecutor(threads) as pool:
            complaints = list(pool.map(attempt, cases))
        for client in clients:
            client.close()
        pairs = [*zip(cases, complaints), *self.aftermath(threads)]
        wrong = [(case, complaint) for case, complaint in pairs if complaint]
        for case, complaint in wrong:
            print(f"FAILED {case.title}\n       {complaint}")
        took = time.monotonic() - started
        print(f"{suite}: {len(pairs) - len(wrong)} passed, {len(wrong)} failed, {took:.1f} s", flush=True)
        self.failed += len(wrong)

    def aftermath(self, threads: int) -> list[tuple[Case, str]]:
        case = Case("aftermath: nothing is under way", lambda: self.is_quiet(threads))
        return [(case, attempt(case))]

    def is_quiet(self, at_once: int) -> None:
        """Nothing is left of the requests but connections that wait for the next one: every thread keeps its own."""
        metrics = self.gateway.settled(SETTLE_S)
        scenarios.equal(metrics["sabir_requests_in_flight"], 0, "requests in flight")
        scenarios.equal(metrics["sabir_connections"] <= 1, True, f"{metrics['sabir_connections']} connections")
        scenarios.equal((self.gateway.is_running(), self.simulators.is_running()), (True, True), "both still run")
        files, threads = self.gateway.open_files() - self.gateway.files, self.gateway.threads()
        # The reading of the counters has a connection of its own, which may not be closed yet.
        scenarios.equal(threads, self.gateway.threads_before, "threads of the gateway")
        scenarios.equal(files <= at_once * threads + 1, True, f"{files} more files than at the start")

    def scenarios(self, clients: list) -> Iterator[Case]:
        for scenario, who in scenarios.TABLE:
            for client, provider, upstream, is_streamed, number in places(clients):
                if client.protocol in who:
                    name = f"{scenario.__name__.replace('_', '-')}-{number}"
                    cell = scenarios.Cell(client, provider, upstream, is_streamed, name, self.simulators)
                    yield case(scenario.__name__, scenario, cell)

    def faults(self, clients: list) -> Iterator[Case]:
        for fault, expect in faults.FAULTS:
            for client, provider, upstream, is_streamed, number in places(clients):
                cell = faults.Cell(client, provider, upstream, is_streamed, fault, f"cell-{number}", self.simulators)
                yield case(f"fault {fault}", lambda cell, expect=expect: self.ended.append((cell, expect(cell))), cell)

    def counters(self, _: list) -> Iterator[Case]:
        """What the gateway counted of the faults, once they are over: each cell has a provider of its own."""
        found = counted.Counted(self.gateway)
        for cell, ended in self.ended:
            place = (cell.counted_as, cell.client.protocol, cell.upstream)
            yield case(f"fault {cell.fault}", lambda _, place=place, ended=ended: found.check(place, ended), cell)

    def network(self, _: list) -> Iterator[Case]:
        for name, test in self.way.tests():
            yield Case(f"network: {name}", test)

    def surface(self, _: list) -> Iterator[Case]:
        for name, test in self.outside.tests():
            yield Case(f"surface: {name}", test)

    def rules(self, _: list) -> Iterator[Case]:
        for name, test in self.decided.tests():
            yield Case(f"rules: {name}", test)

    def silence(self, _: list) -> Iterator[Case]:
        yield Case("rules: silence", self.decided.silence)

    def leaving(self, clients: list) -> Iterator[Case]:
        yield Case("leaving by SDK", lambda: leaving.by_sdk(clients))

    def leaving_at_once(self, _: list) -> Iterator[Case]:
        yield Case("leaving at once", lambda: leaving.by_sockets(self.gateway, self.simulators))


def places(clients: list) -> Iterator[tuple]:
    """Every client on every upstream, whole and streamed."""
    number = 0
    for client in clients:
        for provider, (upstream, _) in PROVIDERS.items():
            for is_streamed in (False, True):
                number += 1
                yield client, provider, upstream, is_streamed, number


def case(name: str, run: Callable[[Any], None], cell: Any) -> Case:
    way = "streamed" if cell.is_streamed else "whole"
    return Case(f"{name}: {cell.client.protocol} on {cell.upstream}, {way}", lambda: run(cell))


def attempt(case: Case) -> str:
    try:
        case.run()
    except AssertionError as error:
        return str(error)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("binary", type=Path, help="the binary `sabir`")
    parser.add_argument("--only", default="", help="run the cases whose title holds this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        suites = Suites(options.binary, Path(folder), options.only)
        try:
            suites.run("scenarios", suites.usual, SCENARIO_THREADS, suites.scenarios)
            suites.run("faults", suites.impatient, FAULT_THREADS, suites.faults)
            suites.run("counters", suites.impatient, 1, suites.counters)
            suites.run("surface", suites.usual, NETWORK_THREADS, suites.surface)
            suites.run("rules", suites.usual, NETWORK_THREADS, suites.rules)
            suites.run("silence", suites.usual, 1, suites.silence)
            suites.run("network", suites.usual, NETWORK_THREADS, suites.network)
            suites.run("leaving", suites.usual, 1, suites.leaving)
            suites.run("leaving at once", suites.usual, 1, suites.leaving_at_once)
        finally:
            suites.end()
    return 1 if suites.failed else 0


if __name__ == "__main__":
    sys.exit(main())

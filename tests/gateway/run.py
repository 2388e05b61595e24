"""Runs the official SDKs against a gateway on the simulators, and whoever else may call it or stand behind it."""

import argparse
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Optional

import anthropic_messages
import compaction
import counted
import faults
import gemini
import governed
import leaving
import manual
import memory
import network
import open_responses
import openai_chat
import openai_responses
import presets
import rules
import scenarios
import surface
from servers import PROVIDERS, SHORT, USUAL, Gateway, Simulators, config

CLIENTS = (openai_chat.Client, openai_responses.Client, anthropic_messages.Client, gemini.Client)
SCENARIO_THREADS = 6
# Faults are mostly waited for.
FAULT_THREADS = 24
SLOW_THREADS = 64
OTHER_THREADS = 4
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
        self.usual = Gateway(binary, folder, "usual", config(base, USUAL, {name: name for name in PROVIDERS}) + compaction.models() + governed.models())
        self.impatient = Gateway(binary, folder, "impatient", config(base, SHORT, faults.providers()))
        # What the faults must have been counted as, by the cell.
        self.ended: list[tuple[faults.Cell, counted.Ended]] = []
        # Simulators remember only so many requests: those who run beside others have their own.
        self.aside = Simulators(binary, folder)
        self.surface = surface.Surface(binary, folder)
        self.rules = rules.Rules(binary, folder, self.aside)
        self.network = network.Network(binary, folder, self.aside)
        self.presets = presets.Presets(binary, folder)
        self.only = only
        self.failed = 0

    def end(self) -> None:
        gateways = (self.usual, self.impatient, self.surface, self.rules)
        for server in (*gateways, self.network, self.presets, self.simulators, self.aside):
            server.end()

    def everything(self) -> None:
        self.run("scenarios", SCENARIO_THREADS, self.scenarios, self.usual)
        self.run("memory", SCENARIO_THREADS, self.memory, self.usual)
        self.run("governed", SCENARIO_THREADS, self.governed, self.usual)
        others = threading.Thread(target=self.others)
        others.start()
        self.run("faults", FAULT_THREADS, lambda clients: self.fault_cells(clients, faults.QUICK), self.impatient)
        self.run("slow faults", SLOW_THREADS, lambda clients: self.fault_cells(clients, faults.SLOW), self.impatient)
        others.join()
        self.run("counters", 1, self.counters)
        self.run("leaving", 1, self.leaving, self.usual)
        self.run("leaving at once", 1, self.leaving_at_once, self.usual)

    def others(self) -> None:
        """What needs no SDK. Faults are mostly waited for, so that there is time for it meanwhile."""
        for suite, tests in (
            ("surface", self.surface.tests()),
            ("manual", manual.tests(self.surface.base)),
            ("open responses", open_responses.tests(self.usual.base)),
            ("rules", self.rules.tests()),
            ("network", [*self.network.tests(), ("presets", self.presets.test)]),
        ):
            cases = [Case(f"{suite}: {name}", test) for name, test in tests]
            self.run(suite, OTHER_THREADS, lambda _, cases=cases: iter(cases))
        self.run("log", 1, lambda _: iter([Case("log: silence", self.rules.silence)]))

    def run(
        self, suite: str, threads: int, make: Callable[[list], Iterator[Case]], gateway: Optional[Gateway] = None
    ) -> None:
        """Runs a suite's cases; with clients of its own on a gateway, where nothing may be under way afterwards."""
        started = time.monotonic()
        clients = [client(gateway.base, TIMEOUT_S) for client in CLIENTS if gateway]
        cases = [case for case in make(clients) if self.only in case.title]
        with ThreadPoolExecutor(threads) as pool:
            complaints = list(pool.map(attempt, cases))
        for client in clients:
            client.close()
        pairs = list(zip(cases, complaints))
        if gateway:
            aftermath = Case("aftermath: nothing is under way", lambda: self.is_quiet(gateway, threads))
            pairs.append((aftermath, attempt(aftermath)))
        wrong = [(case, complaint) for case, complaint in pairs if complaint]
        for case, complaint in wrong:
            print(f"FAILED {case.title}\n       {complaint}")
        took = time.monotonic() - started
        print(f"{suite}: {len(pairs) - len(wrong)} passed, {len(wrong)} failed, {took:.1f} s", flush=True)
        self.failed += len(wrong)

    def is_quiet(self, gateway: Gateway, at_once: int) -> None:
        """Nothing is left of the requests but connections that wait for the next one."""
        metrics = gateway.settled(SETTLE_S)
        scenarios.equal(metrics["sabir_requests_in_flight"], 0, "requests in flight")
        scenarios.equal(metrics["sabir_connections"] <= 1, True, f"{metrics['sabir_connections']} connections")
        scenarios.equal((gateway.is_running(), self.simulators.is_running()), (True, True), "both still run")
        files, threads = gateway.open_files() - gateway.files, gateway.threads()
        scenarios.equal(threads, gateway.threads_before, "threads of the gateway")
        # Every thread keeps connections of its own, as many as it ever needed at once.
        kept = max(at_once, SCENARIO_THREADS) * threads
        scenarios.equal(files <= kept, True, f"{files} more files than at the start")

    def scenarios(self, clients: list) -> Iterator[Case]:
        for scenario, who in scenarios.TABLE:
            for client, provider, upstream, is_streamed, number in places(clients):
                if client.protocol in who:
                    name = f"{scenario.__name__.replace('_', '-')}-{number}"
                    cell = scenarios.Cell(client, provider, upstream, is_streamed, name, self.simulators)
                    yield case(scenario.__name__, scenario, cell)

    def governed(self, clients: list) -> Iterator[Case]:
        for client, provider, upstream, is_streamed, _ in places(clients):
            run = partial(governed.loop, client, provider, is_streamed, self.simulators)
            yield Case(f"governed: {client.protocol} on {upstream}, {'streamed' if is_streamed else 'whole'}", run)

    def memory(self, _: list) -> Iterator[Case]:
        for name, test in memory.tests(self.usual.base, self.simulators):
            yield Case(f"memory: {name}", test)

    def fault_cells(self, clients: list, table: tuple) -> Iterator[Case]:
        for fault, expect in table:
            for client, provider, upstream, is_streamed, number in places(clients):
                cell = faults.Cell(client, provider, upstream, is_streamed, fault, f"cell-{number}", self.simulators)
                yield case(f"fault {fault}", lambda cell, expect=expect: self.fault(cell, expect), cell)

    def fault(self, cell: faults.Cell, expect: Callable[[faults.Cell], counted.Ended]) -> None:
        ended = replace(expect(cell), failed_tries=cell.arrivals() - 1)
        self.ended.append((cell, ended))

    def counters(self, _: list) -> Iterator[Case]:
        """What the gateway counted of the faults, once they are over: each cell has a provider of its own."""
        found = counted.Counted(self.impatient)
        yield Case("fault counters agree", found.agree)
        for cell, ended in self.ended:
            place = (cell.counted_as, cell.client.protocol, cell.upstream)
            yield case(f"fault {cell.fault}", lambda _, place=place, ended=ended: found.check(place, ended), cell)

    def leaving(self, clients: list) -> Iterator[Case]:
        yield Case("leaving by SDK", lambda: leaving.by_sdk(clients))

    def leaving_at_once(self, _: list) -> Iterator[Case]:
        yield Case("leaving at once", lambda: leaving.by_sockets(self.usual, self.simulators))


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
            suites.everything()
        finally:
            suites.end()
    return 1 if suites.failed else 0


if __name__ == "__main__":
    sys.exit(main())

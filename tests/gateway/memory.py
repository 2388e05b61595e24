"""What the gateway keeps, by software that relies on it."""

from collections.abc import Callable, Iterator

import chains
import compaction
import frameworks
import sockets
import switching
from servers import PROVIDERS, Simulators
from switching import Place


def tests(base: str, simulators: Simulators) -> Iterator[tuple[str, Callable[[], None]]]:
    """Each with models of its own, so that its requests can be found again."""
    numbers = iter(range(10_000))

    def place() -> Place:
        return Place(base, simulators, f"memory-{next(numbers):04}")

    for first, provider in enumerate(PROVIDERS):
        for is_streamed in (False, True):
            run = switching.round_of_tools
            yield f"switching from {provider}, {way(is_streamed)}", bound(run, place(), first, is_streamed)
    yield "a history sent again", bound(switching.everything_again, place())
    yield "named by the gateway", bound(switching.named_by_the_gateway, place())
    for provider in PROVIDERS:
        for test in sockets.TABLE:
            yield f"socket, {test.__name__} on {provider}", bound(test, place(), provider)
        for test in compaction.TABLE:
            yield f"compaction, {test.__name__} on {provider}", bound(test, place(), provider)
        for is_streamed in (False, True):
            for test in chains.TABLE:
                run = bound(in_chain, test, place(), provider, is_streamed)
                yield f"{test.__name__} on {provider}, {way(is_streamed)}", run
            for framework in frameworks.TABLE:
                run = bound(framework, place(), provider, is_streamed)
                yield f"{framework.__name__} on {provider}, {way(is_streamed)}", run


def in_chain(test: Callable[[chains.Chain], None], place: Place, provider: str, is_streamed: bool) -> None:
    chain = chains.Chain(place, provider, is_streamed)
    try:
        test(chain)
    finally:
        chain.sdk.close()


def bound(run: Callable, *arguments: object) -> Callable[[], None]:
    return lambda: run(*arguments)


def way(is_streamed: bool) -> str:
    return "streamed" if is_streamed else "whole"

"""What the gateway's counters must say of a request, and what they do say."""

import json
import re
from collections import Counter
from dataclasses import dataclass, field

from scenarios import equal
from servers import Gateway

# Whose fault each failing outcome is, as the manual has it.
FAULTS = {"client_error": "client", "upstream_error": "upstream", "gateway_error": "gateway", "refused": "policy"}
# The losses that can change an answer.
GRAVE = {"dropped", "approximated", "withheld", "repaired"}


@dataclass(frozen=True)
class Ended:
    """How one request must have ended, with the tokens that its upstream told of."""

    outcome: str
    input: int = 0
    output: int = 0
    # How often the upstream was asked in vain before the last time.
    failed_tries: int = 0
    # Whether anything of an answer was translated; a failure before it has the request's losses alone.
    has_begun: bool = False

    def series(self) -> dict[tuple[str, str], int]:
        """Every counter of a request that had its series for itself, but those of losses."""
        expected = {
            ("sabir_provider_requests_in_flight", ""): 0,
            ("sabir_requests_total", self.outcome): 1,
            ("sabir_tokens_total", "input"): self.input,
            ("sabir_tokens_total", "output"): self.output,
            ("sabir_request_duration_seconds_count", ""): 1,
            ("sabir_first_byte_seconds_count", ""): 1,
        }
        if self.failed_tries:
            expected["sabir_failed_tries_total", ""] = self.failed_tries
        if self.outcome in FAULTS:
            expected["sabir_errors_total", FAULTS[self.outcome]] = 1
        return expected


@dataclass
class Series:
    """The counters of one provider and pair of protocols, each by its name and its last label."""

    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    losses: Counter = field(default_factory=Counter)


Place = tuple[str, str, str]


class Counted:
    """All counters of a gateway at one moment, and the loss reports that it remembers."""

    def __init__(self, gateway: Gateway) -> None:
        self.series: dict[Place, Series] = {}
        # In the order of their bounds, which is the order in which they are written.
        self.buckets: dict[tuple[str, Place], list[int]] = {}
        for name, value in gateway.metrics().items():
            self._note(name, value)
        self.reported: dict[Place, Counter] = {}
        for seen in json.loads(gateway.get("/sabir/v1/exchanges"))["exchanges"]:
            place = (seen.get("provider", ""), seen["client_protocol"], seen.get("upstream_protocol", ""))
            self.reported.setdefault(place, Counter()).update(loss["kind"] for loss in seen["losses"])

    def _note(self, name: str, value: float) -> None:
        metric, _, text = name.partition("{")
        labels = dict(re.findall(r'(\w+)="([^"]*)"', text))
        if not labels or metric.endswith("_sum"):
            return
        place = (labels.pop("provider"), labels.pop("client"), labels.pop("upstream"))
        if metric.endswith("_bucket"):
            self.buckets.setdefault((metric.removesuffix("_bucket"), place), []).append(int(value))
            return
        series = self.series.setdefault(place, Series())
        label = next(iter(labels.values()), "")
        if metric == "sabir_losses_total":
            series.losses[label] += int(value)
        else:
            series.counts[metric, label] = int(value)

    def agree(self) -> None:
        """The counters of every series add up, and its histograms only rise."""
        for place, series in self.series.items():
            ends = {label: count for (name, label), count in series.counts.items() if name == "sabir_requests_total"}
            faults = {label: count for (name, label), count in series.counts.items() if name == "sabir_errors_total"}
            equal(faults, {FAULTS[it]: count for it, count in ends.items() if it in FAULTS}, f"errors of {place}")
            for name in ("sabir_request_duration_seconds", "sabir_first_byte_seconds"):
                buckets = self.buckets.get((name, place), [])
                equal(buckets, sorted(buckets), f"buckets of {name} of {place}")
                equal(buckets[-1:], [series.counts[f"{name}_count", ""]], f"the last bucket of {name} of {place}")
            equal(sum(ends.values()), series.counts["sabir_request_duration_seconds_count", ""], f"requests of {place}")

    def check(self, place: Place, ended: Ended) -> None:
        series = self.series.get(place, Series())
        equal(series.counts, ended.series(), "counters")
        equal(series.losses, self.reported.get(place, Counter()), "losses by kind, as the exchange reports them")
        _, client, upstream = place
        if client == upstream:
            equal(series.losses, Counter(), "losses of what is not translated")
        if not ended.has_begun:
            equal(GRAVE & set(series.losses), set(), "grave losses of a plain text that was never answered")

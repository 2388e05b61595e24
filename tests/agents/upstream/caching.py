"""Prompt caches as the vendors have them: what of a request is read from one, and what is billed in full."""

from upstream.reading import tokens

LOOK_BACK = 20
"""How many blocks before a marker Anthropic looks for something that it kept."""

LEAST_TOKENS = 1024
"""Shorter prompts are cached by nobody."""


class Automatic:
    """OpenAI and Google: the longest prefix that any earlier request of the session had."""

    def __init__(self):
        self.seen = []

    def read(self, received):
        texts = [piece.text for piece in received.pieces]
        cached = max((common(texts, earlier) for earlier in self.seen), default=0)
        self.seen.append(texts)
        total = sum(tokens(piece) for piece in received.pieces[:cached])
        return total if total >= LEAST_TOKENS else 0


class Marked:
    """Anthropic: prefixes up to a marker are kept, and found again up to some blocks before a later one."""

    def __init__(self):
        self.kept = set()

    def read(self, received):
        pieces = received.pieces
        marks = [index + 1 for index, piece in enumerate(pieces) if piece.marked]
        if received.marks_all:
            marks.append(len(pieces))
        prefixes = {0: 0}
        for index, piece in enumerate(pieces):
            prefixes[index + 1] = hash((prefixes[index], piece.kind, piece.text))
        found = 0
        for mark in marks:
            reach = range(mark, max(mark - LOOK_BACK, 0), -1)
            found = max(found, next((it for it in reach if prefixes[it] in self.kept), 0))
        self.kept |= {prefixes[mark] for mark in marks}
        total = sum(tokens(piece) for piece in pieces[:found])
        return total if total >= LEAST_TOKENS else 0


def common(texts, earlier):
    """How many texts two lists begin with alike."""
    pairs = zip(texts, earlier)
    return next((index for index, (one, other) in enumerate(pairs) if one != other), min(len(texts), len(earlier)))

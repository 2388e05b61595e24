"""A model that is scripted: it has an agent call tools, one after the other, behind any of the four provider APIs, and holds
the agent to a context window."""

from upstream.model import FACT, Model
from upstream.reading import READERS
from upstream.server import Server

__all__ = ["FACT", "READERS", "Model", "Server"]

"""Exceptions of the `openai` SDK, which both OpenAI clients raise."""

import openai

from conversation import Failure


def read(error: Exception) -> Failure:
    if isinstance(error, openai.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {}
        retry_after = error.response.headers.get("retry-after")
        return Failure(type(error).__name__, error.status_code, error.message, retry_after, body)
    if isinstance(error, openai.APIError):
        body = error.body if isinstance(error.body, dict) else {}
        return Failure(type(error).__name__, None, error.message, None, body)
    return Failure(type(error).__name__, None, str(error))

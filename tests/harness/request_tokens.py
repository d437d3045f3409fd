"""The size of a request to a model, as tests and benchmarks limit it."""

import json

from recollect.ports import ModelRequest
from recollect.text.token_estimate import estimated_tokens


def tokens_of(request: ModelRequest) -> int:
    """Return the estimated tokens of a request, its tools included."""
    texts = [request.system, *(turn.text for turn in request.turns)]
    texts += [
        json.dumps([t.name, t.description, t.parameters], default=list, ensure_ascii=False)
        for t in request.tools
    ]
    return sum(estimated_tokens(text) for text in texts)

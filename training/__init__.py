"""Research: a reranker and an encoder trained on talk; not in the wheel (see README.md)."""

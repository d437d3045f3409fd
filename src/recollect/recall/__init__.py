"""Finding memories: text to terms, terms and vectors to scores, scores to a packed answer; pure."""

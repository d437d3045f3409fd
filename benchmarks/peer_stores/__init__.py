"""Other memory stores beside ours, each in its own process, with the same texts and vectors."""

"""Services of models and embedders: their addresses, keys and failures."""

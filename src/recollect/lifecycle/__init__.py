"""Move and rebuild a store's data: backups, copies, imports, and a change of the embedder."""

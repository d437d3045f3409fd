"""Records that leave or enter a store: backups, copies, imports, another embedder."""

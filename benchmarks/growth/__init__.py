"""Cost of growth: recall, append, memory, disk, start and formation by entries and by scopes."""

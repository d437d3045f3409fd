"""
`Recollect`, the memory that a program opens, and its parts.

A store is in `recollect.stores` (``memory:`` is its `in_process`), a conversation memory in
`recollect.conversation`, and the record of something remembered is `recollect.records.Memory`.
"""

"""
The JSON of the library's records, written and read in one place.

The service, its client, the command line and the MCP server carry the same records in this form:
an object with the fields of the record under their names. A time is ISO 8601 in UTC, a scope a
list of its segments, bytes are hexadecimal. ``X_to_json`` writes a record, ``X_from_json`` reads it
back and ignores fields that it does not know.

Archives keep a form of their own, see `recollect.stores.plans.archive`: the rows of a store, with
digests and times in microseconds.
"""

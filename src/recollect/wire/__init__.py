"""
The JSON form of the library's records.

The service, its client, the command line and the MCP server exchange records in this form: an
object with the record's fields under their names. A time is ISO 8601 in UTC, a scope a list of its
segments, bytes are hexadecimal. ``X_to_json`` encodes a record; ``X_from_json`` decodes it, and
ignores unknown fields, so that an older client can read a newer service.

Archives have another form, see `recollect.stores.plans.archive`: the rows of a store, with digests
and times in microseconds.
"""

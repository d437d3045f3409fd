"""The façade `Recollect` and its parts."""

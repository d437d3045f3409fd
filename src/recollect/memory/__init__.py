"""The façade: `Recollect` and the parts it is made of."""

"""The contract of a store: every call that the backends share, and the plans it runs."""

"""Recall measured on public data: one runner, its metrics, its controls and its reports."""

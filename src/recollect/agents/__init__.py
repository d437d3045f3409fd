"""Tools, improvable instructions and selected examples for agents."""

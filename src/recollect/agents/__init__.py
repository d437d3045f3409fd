"""Memory tools, versioned instructions, and selected examples for agents."""

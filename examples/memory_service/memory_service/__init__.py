"""A chatbot that remembers, and a memory graph that forms what it remembers."""

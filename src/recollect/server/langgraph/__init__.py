"""Routes for LangGraph's clients: its store, threads, runs and assistants."""

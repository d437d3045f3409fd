"""The synchronous API of a memory, and its bridge to the asynchronous one."""

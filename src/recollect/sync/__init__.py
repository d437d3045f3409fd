"""The synchronous face of a memory, and the bridge to the asynchronous one."""

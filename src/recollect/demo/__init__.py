"""The demonstration: seven weeks of a conversation, stored, formed, recalled and erased."""

"""The demonstration: seven weeks of somebody's talk, kept, formed, recalled and forgotten."""

"""The HTTP service: its application, middleware, limits and answers."""

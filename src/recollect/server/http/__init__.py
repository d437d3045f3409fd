"""The HTTP service: its application, middleware, limits and error responses."""

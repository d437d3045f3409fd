"""Response models: for the OpenAPI document, and for the tests that check responses."""

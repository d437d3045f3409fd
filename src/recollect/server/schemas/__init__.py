"""What answers hold: for the document of the routes, and for the tests that hold them to it."""

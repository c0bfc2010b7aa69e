"""A page in the browser, by viser."""

"""Plugins that break one promise each, for the tests of the conformance kit; what they are made of keeps them all."""

"""Viewers: a page in the browser, videos, the motion of a run in USD, and a window of this machine."""

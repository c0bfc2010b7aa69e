"""Findings about one file: comparisons, checks, profiles, first configurations, gains, images, clips."""

"""What commands find out about one file: comparisons, checks, profiles, first files, gains, images, clips."""

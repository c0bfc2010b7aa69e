"""Actions: numbers that set targets, efforts or inputs."""

"""Tasks of other libraries as files of Pippin."""

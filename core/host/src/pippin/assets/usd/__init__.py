"""USD files: what is asked and changed on a stage before Newton's importer reads it."""

"""What an installation lacks: plugins that cannot be imported, and GPUs that cannot be used."""

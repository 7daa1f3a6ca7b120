"""One file per metric, and the names they answer to."""

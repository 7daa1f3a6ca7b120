"""Read files into columns, and write columns to files."""

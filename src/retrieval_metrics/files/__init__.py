"""Files: read into columns, and written from them."""

"""Files and DataFrames: read into columns, written from them."""

"""Compare several systems on the same queries."""

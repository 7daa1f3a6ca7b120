"""What a table, a figure or a report says of a result."""

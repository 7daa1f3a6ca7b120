"""What an evaluation found, as plain records."""

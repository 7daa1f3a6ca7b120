"""From judged runs to numbers one can read and question."""

"""What a metric is, and its values for a judged run under the rules of a library."""

"""Score the same data under the rules of several libraries."""

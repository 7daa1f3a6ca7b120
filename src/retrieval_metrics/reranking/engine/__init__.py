"""How MMR is computed: exact methods, chosen by size."""

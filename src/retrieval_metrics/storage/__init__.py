"""The format of saved results: write them, read them back, and recognise equal ones."""

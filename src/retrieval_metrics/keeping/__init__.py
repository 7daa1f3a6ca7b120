"""The format of saved results: write them to files, read them back, and recognise equal ones."""

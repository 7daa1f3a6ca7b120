"""Choose among settings, and say what the choice is worth on new questions."""

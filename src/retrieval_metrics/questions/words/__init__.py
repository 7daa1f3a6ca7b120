"""The words of passages and questions, by which linting, generating and labelling compare them."""

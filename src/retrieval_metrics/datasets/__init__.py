"""Make judgments: by people, by models, and from judgments of other chunks."""

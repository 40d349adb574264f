"""How fast mercer is, and how much memory it takes, beside a peer measured in the same run."""

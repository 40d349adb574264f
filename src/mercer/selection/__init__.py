"""Selection: which kernel and which penalty, and how well the choice will do on new data."""

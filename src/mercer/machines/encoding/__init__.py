"""Columns of a table as numbers: what each is, how it is read, and what is made of it."""

"""The database of a store: its tables, what reads and writes them, and what is a database's own."""

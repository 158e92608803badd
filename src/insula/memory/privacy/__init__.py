"""What a person may do with all that is kept of them, and who sees what of whom."""

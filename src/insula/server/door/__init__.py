"""What stands before every route: who is let in, with how much, and what each answer bears."""

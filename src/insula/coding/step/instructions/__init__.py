"""The user's instructions: what a person rules out and demands in a session, in their own words, checked against acts.

`clauses` cuts a message into the clauses that are the person's own, `heads` tells what each of them means, `mentions`
finds what it names, `extraction` makes an `instruction` of it, and `ledger` keeps those that stand. `breach` judges a
call; `demands` compares an end with `acts`, what the session did.
"""

"""The user's word: what a person rules out and demands in a session, in their own words, checked against acts.

`clauses` cuts a message into the clauses that are the person's own, `heads` tells what each of them means, `named`
finds what it names, `ledger` keeps what stands. `breach` judges a call, `done` and `claims` an end, `telling` says it.
"""

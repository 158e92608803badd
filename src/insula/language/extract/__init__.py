"""What the user's own model makes of what they said, after the turn: what is asked, and what of an answer is kept.

Pure: lines and known facts go in, a request comes out; an answer goes in, what the user's own words bear out of it
comes out. Who asks, when, and what becomes of it in memory, stands in `insula.night.understanding`.
"""

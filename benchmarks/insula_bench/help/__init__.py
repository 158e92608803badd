"""`insula bench help`: what the words that Insula puts before a model do to real replies, arm against arm."""

"""The page: what people look at."""

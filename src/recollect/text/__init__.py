"""What recall and formation know of words: terms, numbers, dates, and what a text costs."""

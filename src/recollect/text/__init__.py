"""Text analysis for recall and formation: terms, numbers, dates, and token estimates."""

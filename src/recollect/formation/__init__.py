"""
Formation: types, prompts, answers, patches, evidence and reconciliation; pure.

A model's operation is asked three questions, each by a package of its own:

- `grounding`: was the quote really said, by whom, and how far is that speaker trusted?
- `claims`: do the numbers, names and dates of the value occur in its sources?
- `support`: do the cited words bear the value out, or does it say more than they do?

(Here a claim is a statement that is checked; a worker that claims a scope gets a lease.)
"""

"""Formation: types, prompts, answers, patches, evidence and reconciliation; pure."""

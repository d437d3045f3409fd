"""How talk becomes memories: types, prompts, answers, patches, evidence, reconciling; pure."""

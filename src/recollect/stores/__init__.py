"""Stores: the contract, the plans that all backends run, and one package per backend."""

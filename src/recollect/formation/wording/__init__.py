"""How something was said: quoted, doubted, pasted, or meant as an instruction."""

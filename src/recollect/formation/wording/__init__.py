"""How something was said: quoted, doubted, pasted from elsewhere, or meant as an instruction."""

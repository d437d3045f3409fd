"""
Backups, copies, imports, and a change of the embedder.

An archive is the form: the records of a scope, as `stores.contract.archive` reads and restores
them. All ways of moving data write or read it:

- an *export* writes a scope's records to a file (`recollect.exporters`);
- an *import* adds the records of an export, checked (`record_import`), or the file of another
  program (`recollect.importers`), to a memory in use;
- a *copy* fills another store from a store in use (`store_copy`);
- a *backup* is a file of a whole store (`backups`), from which an empty one is *restored*
  (`backup_restore`).
"""

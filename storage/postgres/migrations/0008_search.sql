-- A search also reads what the index has not taken in yet, from one end to the other, and the server's default is up to 4 MB
-- of that until the table is vacuumed.
ALTER INDEX entity_words SET (gin_pending_list_limit = 256);

-- The words that entities are found by, each once, for searches that forgive typing errors: without the marked ones, as
-- IsListed of package entity says. Words that no entity has any more stay until the cell is vacuumed.
CREATE TABLE word (word text COLLATE "C" PRIMARY KEY);
INSERT INTO word SELECT DISTINCT w.word COLLATE "C" FROM entity AS e, unnest(tsvector_to_array(e.words)) AS w (word)
WHERE char_length(w.word) BETWEEN 2 AND 64 AND w.word !~ '[0-9]' AND left(w.word, 1) NOT IN (U&'\0080', U&'\0081', U&'\0082');

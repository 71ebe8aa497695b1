-- +goose Up

-- Sums of rollups have 128 bits. What a cell holds of rollups is counted again from its records: the catalogue
-- stays, and a generation that it names and the cell lacks is built.
DELETE FROM rollup_row;
DELETE FROM rollup_generation;

// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"bytes"
	"regexp"
	"strings"
)

// foreign lists the beginnings of files that contain no rows, with the type of the file and a suggestion.
var foreign = []struct{ begins, is, hint string }{
	{"BZh91AY&SY", "is compressed with bzip2", "bunzip2 -c FILE | locus ingest --source NAME -"},
	{"\xfd7zXZ\x00", "is compressed with xz", "xz -dc FILE | locus ingest --source NAME -"},
	{"7z\xbc\xaf\x27\x1c", "is a 7z archive", "unpack it and name the files in it"},
	{"SQLite format 3\x00", "is an SQLite database", "locus ingest sqlite:FILE --table NAME"},
	{"BEGIN:VCARD", "is an address book (vCard)", "export the contacts as CSV"},
	{"%PDF-", "is a PDF", "ask for the table as CSV or XLSX"},
	{"Obj\x01", "is an Avro file", "convert it to Parquet or JSON lines"},
	{"ORC", "is an ORC file", "convert it to Parquet or JSON lines"},
	{"\xff\xfe\x00\x00", "is text in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE | locus ingest --source NAME -"},
	{"\x00\x00\xfe\xff", "is text in UTF-32", "iconv -f UTF-32 -t UTF-8 FILE | locus ingest --source NAME -"},
	{"ARROW1\x00\x00", "is an Arrow file (Feather)", "convert it to Parquet"},
	{"PGDMP", "is a dump of a PostgreSQL database", "restore it with pg_restore, then: locus ingest postgres://HOST/DATABASE --table NAME"},
}

// tarMark is in the header of the first file of a tar, at tarMarkAt.
const (
	tarMark   = "ustar"
	tarMarkAt = 257
)

// foreignBegin is how many bytes of a file are examined, after decompression.
const foreignBegin = tarMarkAt + len(tarMark)

// refuseForeign refuses a file by its first bytes.
func refuseForeign(name string, head []byte) error {
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.begins)) && (f.begins != "ORC" || bytes.IndexByte(head, 0) >= 0) {
			return &FileError{Name: name, Reason: f.is, Hint: strings.ReplaceAll(f.hint, "FILE", name)}
		}
	}
	if len(head) >= foreignBegin && string(head[tarMarkAt:foreignBegin]) == tarMark {
		return &FileError{Name: name, Reason: "is a tar archive", Hint: "unpack it and name the files in it"}
	}
	return nil
}

// refuseMarkup refuses a web page or another markup document, which some programs save reports as under the name of a
// table.
func refuseMarkup(name string, text []byte) error {
	text = bytes.ToLower(bytes.TrimSpace(text[:min(len(text), 1024)]))
	for _, tag := range []string{"<?xml", "<!doctype", "<html", "<table", "<head"} {
		if bytes.HasPrefix(text, []byte(tag)) {
			return &FileError{Name: name, Reason: "is a web page or XML, not a table", Hint: "open it in a spreadsheet program and save it as CSV or .xlsx"}
		}
	}
	return nil
}

// statement begins a line of a dump of a database.
var statement = regexp.MustCompile("(?im)^(?:create table|insert into|copy) [^;]*(?:\\(|$)")

// refuseStatements refuses a dump of a database: comments and statements, the first of which makes or fills a table.
func refuseStatements(name string, text []byte) error {
	first, _ := cutLine(bytes.TrimSpace(text))
	comment := bytes.HasPrefix(first, []byte("--")) || bytes.HasPrefix(first, []byte("/*"))
	pragma := bytes.HasPrefix(bytes.ToUpper(first), []byte("PRAGMA ")) || bytes.HasPrefix(bytes.ToUpper(first), []byte("BEGIN "))
	if comment || pragma || statement.Match(first) {
		if statement.Match(text) {
			return &FileError{
				Name: name, Reason: "has statements of SQL, not rows",
				Hint: "load it into a database, then: locus ingest sqlite:FILE, postgres://HOST/DATABASE or mysql://HOST/DATABASE, with --table NAME",
			}
		}
	}
	return nil
}

// refuseDrawn refuses a table that is drawn for reading, with lines of dashes between rows in frames, as the clients of
// databases print it and SAP saves a list: values are cut off at the width of their columns, and the page has titles.
func refuseDrawn(name string, text []byte) error {
	rules, rows := 0, 0
	for len(text) > 0 && rules+rows < 8 {
		var line []byte
		line, text = cutLine(text)
		switch line = bytes.TrimSpace(line); {
		case len(line) < 2:
		case len(bytes.Trim(line, "-+=|")) == 0 && bytes.Contains(line, []byte("--")):
			rules++
		case line[0] == '|' && line[len(line)-1] == '|':
			rows++
		}
	}
	if rules < 2 || rows < 2 {
		return nil
	}
	return &FileError{
		Name: name, Reason: "is a table drawn for reading, with lines of dashes, and values may be cut off in it",
		Hint: "export it again as CSV, text with tabs or a spreadsheet; locus ingest sqlite:FILE, " +
			"postgres://HOST/DATABASE and mysql://HOST/DATABASE read a database",
	}
}

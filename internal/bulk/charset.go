// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// charmaps are the encodings of one byte a character. Only Windows-1252 is recognised without other evidence: a byte
// does not show which of the others was used.
var charmaps = map[Encoding]*charmap.Charmap{
	Windows1252: charmap.Windows1252, "windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251,
	"windows-1253": charmap.Windows1253, "windows-1254": charmap.Windows1254, "windows-1257": charmap.Windows1257,
	"iso-8859-2": charmap.ISO8859_2, "iso-8859-5": charmap.ISO8859_5, "iso-8859-7": charmap.ISO8859_7, "iso-8859-9": charmap.ISO8859_9,
	"iso-8859-15": charmap.ISO8859_15, "cp437": charmap.CodePage437, "cp850": charmap.CodePage850, "cp852": charmap.CodePage852,
	"cp866": charmap.CodePage866, "koi8-r": charmap.KOI8R, "macintosh": charmap.Macintosh,
}

// multibyte are the encodings whose characters may contain an ASCII byte, so that a text must be decoded before it is
// split into lines.
var multibyte = map[Encoding]encoding.Encoding{
	UTF16LE: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), UTF16BE: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"shift_jis": japanese.ShiftJIS, "euc-jp": japanese.EUCJP, "euc-kr": korean.EUCKR, "gb18030": simplifiedchinese.GB18030, "big5": traditionalchinese.Big5,
}

// otherNames are further names of encodings, in plain form.
var otherNames = map[string]Encoding{
	"ascii": UTF8, "usascii": UTF8, "utf8": UTF8, "utf16": UTF16LE, "latin1": Windows1252, "iso88591": Windows1252, "latin2": "iso-8859-2", "latin9": "iso-8859-15",
	"mac": "macintosh", "macroman": "macintosh", "sjis": "shift_jis", "gbk": "gb18030", "gb2312": "gb18030", "ksc5601": "euc-kr", "oem": "cp850",
}

// plainEncoding returns a name in lower case, without hyphens and the prefixes of code pages.
func plainEncoding(name string) string {
	name = strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	if number, cut := strings.CutPrefix(name, "cp125"); cut {
		return "windows125" + number
	}
	if number, cut := strings.CutPrefix(name, "ibm"); cut {
		return "cp" + number
	}
	return name
}

// ParseEncoding returns the encoding of that name, in any case and with or without hyphens. Latin-1 is read as
// Windows-1252, which contains it.
func ParseEncoding(name string) (Encoding, error) {
	plain := plainEncoding(name)
	if plain == "" || plain == "auto" {
		return AutoEncoding, nil
	}
	if of, known := otherNames[plain]; known {
		return of, nil
	}
	all := slices.Sorted(maps.Keys(charmaps))
	all = slices.Concat([]Encoding{UTF8}, all, slices.Sorted(maps.Keys(multibyte)))
	for _, of := range all {
		if plainEncoding(string(of)) == plain {
			return of, nil
		}
	}
	return "", fmt.Errorf("the encoding %.40q is not known: there are %s", name, strings.Trim(fmt.Sprint(all), "[]"))
}

// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/locus-db/locus/internal/bulk"
	"github.com/locus-db/locus/match"
)

// UTF-16 without a byte order mark has few zero bytes if its text is not Latin, and some of them belong to letters: 一
// is 4E 00.
func TestRecognise_UTF16WithoutAMark(t *testing.T) {
	t.Parallel()
	for language, text := range map[string]string{
		"Chinese":  "客户编号,姓名,城市,电话\n1,王一一,上海,021 5555 0101\n2,李上,北京,010 5555 0102\n",
		"Japanese": "顧客番号\t氏名\t都道府県\t住所\n1\t山田　太郎\t東京都\t新宿区一丁目\n2\t佐藤花子\t大阪府\t北区\n",
		"Korean":   "고객번호;이름;도시\n1;김철수;서울\n2;이영희;부산\n",
		"Russian":  "код клиента;имя;город\n1;Иван Петров;Москва\n2;Анна Смирнова;Казань\n",
		"Hindi":    "क्रमांक,नाम,शहर\n1,राम कुमार,दिल्ली\n2,सीता देवी,मुंबई\n",
		"Latin":    "id,name,city\n1,Jürgen,Köln\n2,Zoé,Genève\n",
		"emoji":    "id,name,city\n1,😀 Café 咖啡,上海\n2,李上,北京\n",
	} {
		for name, order := range map[bulk.Encoding]unicode.Endianness{bulk.UTF16LE: unicode.LittleEndian, bulk.UTF16BE: unicode.BigEndian} {
			encoded, err := unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().String(text + strings.Repeat(text[strings.Index(text, "\n")+1:], 80))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "in.csv")
			if err := os.WriteFile(file, []byte(encoded), 0o600); err != nil {
				t.Fatal(err)
			}
			p, err := bulk.Recognise(file, nil, match.Kinds(), &bulk.Options{Unstored: true})
			if err != nil || p.Encoding != name || len(p.Columns) < 3 {
				t.Errorf("%s, %s: %v, %+v", language, name, err, p)
			}
		}
	}
}

// Zero bytes alone do not make a file UTF-16.
func TestRecognise_ZeroBytesInOtherText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"id,name,city\n1,Blue\x00\x00,Bonn\n2,Red,Ulm\n", "id,name,city\n1,\x00,Köln\n2,Red,Ulm\n\x00\x00", "\x00id,name\n1,x\n2,y\n",
		"id,name,city\n" + strings.Repeat("1,Müller\x00,\x00Bonn\n", 50),
	} {
		p, err := bulk.Recognise("-", strings.NewReader(text), match.Kinds(), &bulk.Options{Unstored: true})
		if err == nil && (p.Encoding == bulk.UTF16LE || p.Encoding == bulk.UTF16BE) {
			t.Errorf("%q: %s", text, p.Encoding)
		}
		if p != nil {
			_ = p.Close()
		}
	}
}

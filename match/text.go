// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns the normal form of text: compatibility forms decomposed, accents dropped, lower case,
// apostrophes removed, "&" and "+" spelled "and", the dots of an acronym removed, everything else between
// letters and digits one space. Letters of other scripts are kept.
func fold(s string) string {
	var buf [128]byte
	return string(appendFold(buf[:0], s))
}

func appendFold(dst []byte, s string) []byte {
	start := len(dst)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case plain[c] != 0:
			dst = append(dst, plain[c])
		case c >= utf8.RuneSelf && strings.IndexByte(s, '.') >= 0: // acronymDot needs decomposed neighbours
			return appendFoldUnicode(dst[:start], s)
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == '‘' || r == '’':
			case r < rune(len(european)) && european[r] != " ":
				dst = append(dst, european[r]...)
			case r < rune(len(european)) || '‐' <= r && r <= '‟':
				dst = appendSpace(dst, start)
			default:
				return appendFoldUnicode(dst[:start], s)
			}
			i += size - 1
		default:
			dst = appendFoldSign(dst, start, s, i)
		}
	}
	return trimSpaceFrom(dst, start)
}

// plain folds the ASCII letters and digits; everything else is 0.
var plain = func() (t [256]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-'a'+'A'] = c, c
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	return t
}()

// appendFoldSign appends the folded form of the ASCII byte s[i], which is neither letter nor digit.
func appendFoldSign(dst []byte, start int, s string, i int) []byte {
	switch c := s[i]; {
	case c == '\'' || c == '`':
		return dst
	case c == '.' && acronymDot(s, i):
		return dst
	case c == '&' || c == '+':
		return append(appendSpace(dst, start), "and "...)
	default:
		return appendSpace(dst, start)
	}
}

// european folds the letters and signs of Latin-1 and Latin Extended, which make up most text beyond ASCII;
// " " separates words, "" is dropped.
var european = func() (t [0x250]string) {
	for r := rune(utf8.RuneSelf); int(r) < len(t); r++ {
		alone := string(appendFoldUnicode(nil, "x"+string(r)+"x"))
		t[r] = alone[1 : len(alone)-1]
	}
	return t
}()

// appendFoldUnicode folds text of any script.
func appendFoldUnicode(dst []byte, s string) []byte {
	start := len(dst)
	s = strings.ReplaceAll(s, "´", "'") // decomposes into a blank and an accent
	s = strings.ToLower(norm.NFKD.String(s))
	hangul := false
	for i, r := range s {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			dst = append(dst, byte(r))
		case r < utf8.RuneSelf:
			dst = appendFoldSign(dst, start, s, i)
		case r == '’' || r == '‘' || r == 'ʼ' || r == 'ʻ' || r == '′' || isAccent(r):
		case spelled[r] != "":
			dst = append(dst, spelled[r]...)
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.M, r):
			hangul = hangul || r >= 0x1100
			dst = utf8.AppendRune(dst, r)
		default:
			dst = appendSpace(dst, start)
		}
	}
	dst = trimSpaceFrom(dst, start)
	if hangul { // decomposition also splits syllables and voiced kana
		dst = append(dst[:start], norm.NFC.String(string(dst[start:]))...) // Bytes would move the buffer of each caller to the heap
	}
	return dst
}

// isAccent reports whether r is an optional mark: the accents of European scripts, the vowel points of Arabic and
// Hebrew, the line that lengthens an Arabic word. The vowel signs of other scripts act as letters.
func isAccent(r rune) bool {
	return 0x300 <= r && r <= 0x36f || 0x64b <= r && r <= 0x65f || 0x591 <= r && r <= 0x5c7 || r == 'ـ'
}

// spelled spells the letters that decomposition does not split, the digits of Arabic and Indian scripts, and the
// characters that a name has in several forms.
var spelled = func() map[rune]string {
	m := map[rune]string{
		'ß': "ss", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'þ': "th", 'æ': "ae", 'œ': "oe", 'ı': "i", 'ħ': "h", 'ŋ': "n",
		'ة': "ه", 'ى': "ي", 'ی': "ي", 'ک': "ك", 'ٱ': "ا",
	}
	for _, zero := range [...]rune{'٠', '۰', '०', '০'} {
		for n := range 10 {
			m[zero+rune(n)] = strconv.Itoa(n)
		}
	}
	for pair := range strings.FieldsSeq(characterForms) {
		other, size := utf8.DecodeRuneInString(pair)
		m[other] = pair[size:]
	}
	return m
}()

// characterForms are pairs of characters that are one in names: the traditional and the simplified form in Chinese, the
// old and the new one in Japanese.
const characterForms = `
張张 陳陈 劉刘 黃黄 趙赵 吳吴 楊杨 孫孙 馬马 許许 鄭郑 謝谢 韓韩 馮冯 鄧邓 蕭萧 肖萧 蔣蒋 葉叶
蘇苏 盧卢 鍾钟 鐘钟 譚谭 陸陆 賈贾 韋韦 鄒邹 閻阎 閆闫 龍龙 竜龙 賀贺 顧顾 龔龚 萬万 錢钱 嚴严
莊庄 齊齐 歐欧 諸诸 蘭兰 麗丽 強强 軍军 艷艳 豔艳 傑杰 濤涛 貴贵 紅红 華华 國国 圀国 誌志 偉伟
寶宝 寳宝 鳳凤 瓊琼 鈺钰 穎颖 潔洁 靜静 瑩莹 曉晓 暁晓 東东 慶庆 榮荣 栄荣 興兴 學学 廣广 広广
長长 遠远 達达 雲云 憲宪 義义 禮礼 禎祯 祿禄 賢贤 聖圣 愛爱 憶忆 藝艺 芸艺 貿贸 業业 實实 実实
團团 団团 電电 軟软 諮咨 傢家 紡纺 織织 機机 設设 備备 資资 飲饮 藥药 薬药 醫医 銀银 險险 険险
遊游 傳传 車车 農农 運运 輸输 務务 術术 網网 絡络 製制 裝装 飾饰 屬属 產产 産产 責责 訊讯 際际
區区 県县 縣县 臺台 灣湾 濱滨 浜滨 漢汉 瀋沈 齋斋 斎斋 斉斋 髙高 﨑崎 嵜崎 邊边 邉边 辺边 澤泽
沢泽 櫻樱 桜樱 嶋岛 島岛 嶌岛 眞真 恵惠 龜龟 亀龟 關关 関关 黒黑 從从 彌弥 瀨濑 瀬濑 壽寿 徳德
總总 総总 舊旧 戶户 戸户 豐丰 豊丰 條条 仏佛 會会 當当 聲声 寫写 氣气 気气 鐵铁 鉄铁 驗验 験验`

// latinDigits returns a text with the digits of other scripts as ASCII digits.
func latinDigits(s string) string {
	if ascii(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch d := spelled[r]; {
		case len(d) == 1 && isDigit(d[0]):
			return rune(d[0])
		case '０' <= r && r <= '９':
			return r - '０' + '0'
		}
		return r
	}, s)
}

// acronymDot reports whether the dot at s[i] is between two single letters, as in P.F. Chang.
func acronymDot(s string, i int) bool {
	return i >= 1 && i+1 < len(s) && isLetter(s[i-1]) && isLetter(s[i+1]) &&
		(i < 2 || !isAlnum(s[i-2])) && (i+2 >= len(s) || !isAlnum(s[i+2]))
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isAlnum(c byte) bool { return isLetter(c) || isDigit(c) || c >= utf8.RuneSelf }

func appendSpace(dst []byte, start int) []byte {
	if len(dst) > start && dst[len(dst)-1] != ' ' {
		dst = append(dst, ' ')
	}
	return dst
}

func trimSpaceFrom(dst []byte, start int) []byte {
	for len(dst) > start && dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

func hasDigit(s string) bool {
	for i := range len(s) {
		if isDigit(s[i]) {
			return true
		}
	}
	return false
}

func digits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// isNothing reports whether folded text is a null value.
func isNothing[T string | []byte](folded T) bool {
	if len(folded) > len("not applicable") {
		return false
	}
	switch string(folded) {
	case "", "null", "na", "n a", "none", "nil", "nan", "unknown", "unkown", "tbd", "tba", "not available", "not applicable",
		"undefined", "missing", "no value", "not known", "empty":
		return true
	}
	return false
}

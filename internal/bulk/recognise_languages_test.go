// SPDX-License-Identifier: Apache-2.0

package bulk_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/locus-db/locus/internal/bulk"
)

// Exports in other languages, in the encodings that spreadsheet programs of these countries write. The encoding is
// shown, in the layout and in the command, because it is a guess; a flag overrides it.
func TestRecognise_Languages(t *testing.T) {
	t.Parallel()
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	for _, c := range []struct {
		name  string
		code  encoding.Encoding
		shown string // the guessed encoding, "" if it is certain
		text  string
		want  string
	}{
		{"Polish", charmap.Windows1250, "windows-1250", "Nr klienta;Imię;Nazwisko;Ulica;Nr domu;Kod pocztowy;Miejscowość;Telefon komórkowy;Data urodzenia\r\n1;Łukasz;Żółć;Piękna;5;00-477;Łódź;601 234 567;03.04.1980\r\n2;Zofia;Wiśniewska;Długa;12;31-146;Kraków;602 345 678;05.06.1985\r\n", "person key=Nr klienta - given_name family_name address address postcode city phones birth_date"},
		{"Polish companies", charmap.Windows1250, "windows-1250", "Nazwa firmy;Ulica i numer;Kod pocztowy;Miasto;Telefon;Strona WWW;Adres e-mail\r\nPiekarnia Świt;Główna 5;00-477;Łódź;22 123 45 67;swit.example;a@example.org\r\nKsięgarnia Żak;Wąska 1;31-146;Kraków;12 345 67 89;zak.example;b@example.org\r\n", "- key=- name address postcode city phones websites emails"},
		{"Czech", charmap.Windows1250, "windows-1250", "Číslo zákazníka;Jméno;Příjmení;Ulice;Obec;PSČ;Telefon;E-mail\r\n1;Jiří;Dvořák;Dlouhá 5;Třebíč;674 01;601 234 567;a@example.org\r\n2;Zdeňka;Růžičková;Široká 12;Plzeň;301 00;602 345 678;b@example.org\r\n", "person key=Číslo zákazníka - given_name family_name address city postcode phones emails"},
		{"Hungarian", charmap.Windows1250, "windows-1250", "Vezetéknév;Keresztnév;Irányítószám;Város;Utca;Telefonszám;E-mail cím\r\nSzűcs;Győző;1011;Budapest;Fő utca 5;1 234 5678;a@example.org\r\nKőműves;Ildikó;9021;Győr;Hűvös u. 3;96 123 456;b@example.org\r\n", "person key=- family_name given_name postcode city address phones emails"},
		{"Romanian", charmap.Windows1250, "windows-1250", "Nume de familie;Prenume;Strada;Localitate;Judeţ;Cod poştal;Ţara;Telefon mobil\r\nIonescu;Ştefan;Lungă 5;Braşov;Braşov;500035;România;0722 123 456\r\nŢepeş;Ana;Îngustă 1;Timişoara;Timiş;300001;România;0722 123 457\r\n", "person key=- family_name given_name address city region postcode country phones"},
		{"Russian", charmap.Windows1251, "windows-1251", "Код клиента;Фамилия;Имя;Отчество;Дата рождения;Улица;Дом;Город;Почтовый индекс;Телефон;Электронная почта\r\n1;Иванов;Пётр;Ильич;03.04.1980;Тверская;5;Москва;125009;495 123-45-67;a@example.org\r\n2;Щукина;Анна;Юрьевна;05.06.1985;Невский пр.;12;Санкт-Петербург;191186;812 345-67-89;b@example.org\r\n", "person key=Код клиента - family_name given_name given_name birth_date address address city postcode phones emails"},
		{"Russian, of a console", charmap.CodePage866, "cp866", "Название;Адрес;Город;Телефон;Сайт\r\nБулочная;Тверская 5;Москва;495 123-45-67;a.example\r\nКнижный мир;Невский 12;Казань;812 345-67-89;b.example\r\n", "- key=- name address city phones websites"},
		{"Russian, of a mail server", charmap.KOI8R, "koi8-r", "Название;Адрес;Город;Телефон;Сайт\r\nБулочная;Тверская 5;Москва;495 123-45-67;a.example\r\nКнижный мир;Невский 12;Казань;812 345-67-89;b.example\r\n", "- key=- name address city phones websites"},
		{"Russian in Latin letters", nil, "", "familiya,imya,gorod,ulitsa,telefon\nIvanov,Petr,Moskva,Tverskaya 5,495 123-45-67\nShchukina,Anna,Kazan,Bauman 12,843 345-67-89\n", "person key=- family_name given_name city address phones"},
		{"Ukrainian", charmap.Windows1251, "windows-1251", "Прізвище;Ім'я;Місто;Вулиця;Поштовий індекс;Телефон\r\nШевченко;Юлія;Київ;Хрещатик 5;01001;44 123 45 67\r\nЇжак;Євген;Львів;Зелена 12;79005;32 345 67 89\r\n", "person key=- family_name given_name city address postcode phones"},
		{"Turkish", charmap.Windows1254, "windows-1254", "Müşteri No;Adı;Soyadı;Cep Telefonu;E-posta;Adres;Şehir;Posta Kodu;Ülke\r\n1;Ayşe;Yılmaz;532 123 45 67;a@example.org;Çınar Sokağı 5;İstanbul;34000;Türkiye\r\n2;Çağrı;Güneş;533 234 56 78;b@example.org;Işık Cad. 12;Eskişehir;26000;Türkiye\r\n", "person key=Müşteri No - given_name family_name phones emails address city postcode country"},
		{"Greek", charmap.Windows1253, "windows-1253", "Επώνυμο;Όνομα;Διεύθυνση;Πόλη;ΤΚ;Τηλέφωνο;Χώρα\r\nΠαπαδόπουλος;Γιώργος;Ερμού 5;Αθήνα;10563;210 123 4567;Ελλάδα\r\nΝικολάου;Ελένη;Τσιμισκή 12;Θεσσαλονίκη;54624;2310 345 678;Ελλάδα\r\n", "person key=- family_name given_name address city postcode phones country"},
		{"Swedish", charmap.Windows1252, "", "Kundnr;Förnamn;Efternamn;Gatuadress;Postnr;Postort;Telefon;E-post;Födelsedatum\r\n1;Åsa;Sjöberg;Långgatan 5;111 22;Örebro;08-123 456 78;a@example.org;1980-04-03\r\n2;Björn;Ågren;Ängsvägen 12;411 05;Göteborg;031-234 567;b@example.org;1985-06-05\r\n", "person key=Kundnr - given_name family_name address postcode city phones emails birth_date"},
		{"Danish", charmap.Windows1252, "", "Fornavn;Efternavn;Vejnavn;Husnr;Postnr;By;Tlf.;Fødselsdato\r\nSøren;Kjær;Østergade;5;1100;København;33 12 34 56;03.04.1980\r\nÅse;Møller;Ærøvej;12;8000;Aarhus;86 12 34 56;05.06.1985\r\n", "person key=- given_name family_name address address postcode city phones birth_date"},
		{"Norwegian", nil, "", "Firmanavn,Gateadresse,Postnummer,Poststed,Hjemmeside,Telefon\nSjøboden,Storgata 5,0155,Oslo,a.example,22 12 34 56\nBrødhuset,Ålgata 12,5003,Bergen,b.example,55 12 34 56\n", "- key=- name address postcode city websites phones"},
		{"Finnish", charmap.Windows1252, "", "Sukunimi;Etunimi;Katuosoite;Postinumero;Postitoimipaikka;Puhelin;Sähköposti\r\nMäkinen;Päivi;Hämeenkatu 5;33100;Tampere;040 123 4567;a@example.org\r\nJärvinen;Väinö;Yliopistonkatu 12;20100;Turku;040 234 5678;b@example.org\r\n", "person key=- family_name given_name address postcode city phones emails"},
		{"Japanese", japanese.ShiftJIS, "shift_jis", "顧客番号,氏名,郵便番号,都道府県,市区町村,電話番号,メールアドレス,生年月日\r\n1,山田太郎,100-0001,東京都,千代田区,03-1234-5678,a@example.org,1980-04-03\r\n2,鈴木はな,530-0001,大阪府,大阪市北区,06-1234-5678,b@example.org,1985-06-05\r\n", "person key=顧客番号 - name postcode region city phones emails birth_date"},
		{"Japanese products", japanese.EUCJP, "euc-jp", "商品コード,商品名,ブランド,価格\r\n1,赤いマグカップ,マグ社,750\r\n2,青いティーカップ,マグ社,850\r\n", "product key=商品コード - title brand price"},
		{"Chinese", simplifiedchinese.GB18030, "gb18030", "客户编号,公司名称,地址,城市,邮编,联系电话,网址\r\n1,北京光明书店有限公司,中山路5号,北京,100000,010-12345678,a.example\r\n2,上海红星面包店,人民路12号,上海,200000,021-12345678,b.example\r\n", "- key=客户编号 - name address city postcode phones websites"},
		{"Chinese, traditional", traditionalchinese.Big5, "big5", "姓名,電話,地址,國家\r\n王小明,02-1234-5678,台北市中山路5號,台灣\r\n陳美玲,07-123-4567,高雄市大同路12號,台灣\r\n", "person key=- name phones address country"},
		{"Korean", korean.EUCKR, "euc-kr", "고객번호,이름,휴대폰,이메일,우편번호,주소,생년월일\r\n1,김민수,010-1234-5678,a@example.org,04524,서울특별시 중구 세종대로 5,1980-04-03\r\n2,이영희,010-2345-6789,b@example.org,48058,부산광역시 해운대구 센텀로 12,1985-06-05\r\n", "person key=고객번호 - name phones emails postcode address birth_date"},
		{"Arabic", utf16, "", "الاسم الأول\tاسم العائلة\tالمدينة\tرقم الهاتف\r\nأحمد\tحسن\tالقاهرة\t02 1234 5678\r\nليلى\tسالم\tعمان\t06 123 4567\r\n", "person key=- given_name family_name city phones"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := c.text
			if c.code != nil {
				text = encoded(t, c.code, text)
			}
			p := recognised(t, "x.csv", text, nil)
			if diff := cmp.Diff(c.want, brief(p)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if shown := p.FormatGuessed; shown != (c.shown != "") || shown && string(p.Encoding) != c.shown {
				t.Errorf("%s, guessed %t, want %q", p.Encoding, shown, c.shown)
			}
		})
	}
}

// A flag overrides a guess.
func TestRecognise_EncodingOfAFlag(t *testing.T) {
	t.Parallel()
	text := encoded(t, charmap.Windows1251, "Название;Город\r\nБулочная;Москва\r\nКнижный мир;Казань\r\n")
	p := recognised(t, "x.csv", text, &bulk.Options{Encoding: "koi8-r", IgnoreUnknown: true})
	if p.Encoding != "koi8-r" || p.FormatGuessed {
		t.Errorf("%s, guessed %t", p.Encoding, p.FormatGuessed)
	}
}

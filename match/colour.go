// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// colours is a set of colours, one bit each.
type colours uint32

// colourOf returns the colour that a folded word names, 0 if it names none.
func colourOf(w string) colours { return colourWords[w] }

// colourWords has a line for each colour, in several languages. Words that more often mean something else are left out:
// rose, rosa, viola, tan, or.
var colourWords = bitsOf(`black schwarz noir noire negro negra nero nera preto preta zwart chernyy cherny
white weiss weis blanc blanche blanco blanca bianco bianca branco branca wit belyy bely
grey gray grau gris grigio cinza grijs seryy
silver silber argent plata argento prata zilver
red rouge rojo roja rosso rossa vermelho vermelha rood krasnyy krasny
blue navy blau bleu bleue azul blu blauw siniy
green grun gruen vert verte verde groen zelenyy
yellow gelb jaune amarillo amarilla giallo gialla amarelo geel zheltyy
orange naranja arancione laranja oranje
brown braun marron marrone castanho bruin
pink
purple violet lila morado lilla roxo paars
beige
gold golden dorado dorata dourado goud
turquoise turkis turquesa turchese
`)

// bitsOf returns a bit for each line of words.
func bitsOf(lines string) map[string]colours {
	m := map[string]colours{}
	bit := colours(1)
	for line := range strings.Lines(lines) {
		for w := range strings.FieldsSeq(line) {
			m[w] |= bit
		}
		bit <<= 1
	}
	return m
}

// audienceWords has a line each for the things for men, women, boys and girls, in several languages.
var audienceWords = bitsOf(`men mens gents herren homme hommes hombre hombres uomo uomini homem heren
women womens ladies damen femme femmes mujer mujeres donna donne mulher dames
boys boy jungen garcon garcons kids kid children childrens junior kinder enfant enfants ninos bambini jongens
girls girl madchen fille filles kids kid children childrens junior kinder enfant enfants ninos bambini meisjes
`)

// audienceOf returns for whom a thing is by the words of its title.
func audienceOf(words []string) (all colours) {
	for _, w := range words {
		all |= audienceWords[w]
	}
	return all
}

// coloursOf returns the colours among words.
func coloursOf(words []string) (all colours) {
	for _, w := range words {
		all |= colourOf(w)
	}
	return all
}

// compareColours compares the colours of two titles.
func compareColours(a, b colours) level {
	switch {
	case a == 0 || b == 0:
		return levelNone
	case a&b == 0:
		return colourDifferent
	}
	return colourEqual
}

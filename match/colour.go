// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// colours is a set of colours, one bit each.
type colours uint32

// colourOf returns the colour that a folded word names, 0 if it names none.
func colourOf(w string) colours { return colourWords[w] }

// colourWords has a line for each colour, in several languages. Words that more often mean something else are left out:
// rose, rosa, viola, tan, or.
var colourWords = func() map[string]colours {
	m := map[string]colours{}
	bit := colours(1)
	for line := range strings.Lines(`black schwarz noir noire negro negra nero nera preto preta zwart chernyy cherny
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
`) {
		for w := range strings.FieldsSeq(line) {
			m[w] = bit
		}
		bit <<= 1
	}
	return m
}()

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

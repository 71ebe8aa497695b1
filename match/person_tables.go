// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"
)

// Words in the names of persons, folded.

var titles = wordSet(`mr mrs ms miss mister dr prof professor sir dame lady lord rev reverend herr frau madame monsieur mme mlle sr sra senor senora md phd`)

var particles = wordSet(`van von der den de del della di da dos das du la le el al bin ibn ben st san ter ten zu zur mac mc o`)

var generations = map[string]string{"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr", "ii": "ii", "iii": "iii", "iv": "iv"}

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// nickname reports whether two given names are forms of the same name.
func nickname(a, b string) bool {
	for _, x := range nicknames[a] {
		if slices.Contains(nicknames[b], x) {
			return true
		}
	}
	return false
}

// nicknames maps a name to the lines of shortForms that contain it.
var nicknames = func() map[string][]int {
	m := map[string][]int{}
	n := 0
	for line := range strings.Lines(shortForms) {
		n++
		for name := range strings.FieldsSeq(line) {
			m[name] = append(m[name], n)
		}
	}
	return m
}()

const shortForms = `
abigail abby gail
albert al bert bertie
alexander alex al sandy xander sasha alec
alexandra alex sandra sandy lexi sasha
alfred al fred alf alfie
amanda mandy
andrew andy drew
angela angie
anne ann anna annie nan nancy hanna hannah
anthony tony
antonio tony toni
arthur art artie
barbara barb babs barbie
benjamin ben benny benji
bernard bernie
beverley bev
bradley brad
brian bryan
calvin cal
cameron cam
caroline carol carrie
carolyn carol carrie lyn
catherine katherine kathryn cathy kathy kate katie katy kay kitty kit karen
charles charlie chuck chas
charlotte lottie charlie
chloe khloe
christina chris chrissy tina christine kristina kristine
christopher chris kit topher
clifford cliff
cynthia cindy
daniel dan danny
danielle dani
david dave davy
deborah debra deb debbie
dennis denny
dominic dom nick
donald don donnie
dorothy dot dottie dolly
douglas doug
edward ed eddie ted teddy ned
eleanor ellie nell nora elinor
elizabeth liz lizzie beth betty bess eliza elisa lisa elsie libby betsy
emily em emmy
emma em emmy
eric rick erik
ethan eth
eugene gene
evelyn eve evie
florence flo
frances fran francie frankie
francis frank frankie
francisco paco pancho frank
frederick fred freddie fritz
friedrich fritz fred
gabriel gabe
gabrielle gabby
gerald gerry jerry
gregory greg
hannelore hanne lore
harold harry hal
harriet hattie harry
harrison harry
helen nell nellie lena
henry harry hank hal
herbert herb bert
isabella bella izzy isabel isabelle
jackson jack
jacob jake
jacqueline jackie
james jim jimmy jamie jem
jane janie jenny
janet jan
jeffrey jeff geoff geoffrey
jennifer jen jenny
jeremy jerry jez
jessica jess jessie
joanne jo joanna
john jack johnny jon
johannes hans johann jo
jonathan jon jonny nathan
jose pepe
joseph joe joey jo josef sepp
joshua josh
judith judy
julia julie jules
kenneth ken kenny
kimberly kim kimberley
lachlan lachie
laurence lawrence larry laurie
leonard len leo lenny
leslie les
lillian lily lil
lucy lucille lu
louis lou louie lewis
lucas luke luc
madeleine maddie maddy madeline
margaret maggie meg peggy marge margie rita greta daisy
maria mary marie mia
martha marty mattie
martin marty
mary molly polly may mamie
matilda tilly mattie
matthew matt matty
maximilian max
megan meg
melissa mel missy
michael mike mick mickey micky mitch
michelle shelly
mitchell mitch
nancy nan
nathaniel nathan nat nate
natalie nat natasha
nicholas nick nicky nicolas klaus
nicole nikki nicky
oliver ollie
olivia liv livvy
pamela pam
patricia pat patty tricia trish
patrick pat paddy
paul pauly
peter pete
philip phil phillip pip
rachel rach rae
raymond ray
rebecca becky becca bec
richard rick ricky rich dick
robert bob bobby rob robbie bert
roberta bobbie
roger rodge hodge
ronald ron ronnie
rosemary rose rosie
roy leroy
russell russ
samantha sam sammy
samuel sam sammy
sandra sandy
sarah sara sally sadie
sebastian seb bastian
sophie sophia sofia
stanley stan
stephanie steph
stephen steven steve stevie
susan sue susie suzy susanna suzanne
sylvester sly
terence terry
teresa theresa terry tess tessa
theodore ted teddy theo
thomas tom tommy
timothy tim timmy
tobias toby
valerie val
vanessa nessa
veronica ronnie vera
victor vic
victoria vicky tori
vincent vince vinny
virginia ginny ginger
walter walt wally
wilhelm willi willy
william bill billy will willie liam
zachary zach zac zack zachariah
`

// SPDX-License-Identifier: Apache-2.0

package match

// field is one line of a comparison. It is not an attribute, because some fields use several.
type field uint8

const (
	fieldName field = iota
	fieldResidual
	fieldPhone
	fieldAddress
	fieldDistance
	fieldPostcode
	fieldCity
	fieldRegion
	fieldCategory
	fieldWeb
	fieldEmail
	fieldID
	fieldSource
	fieldRelation
	fieldDate
	fieldNumber
	fieldText
	fieldPeople
	fieldSize
	fieldColour
	fieldBox
	fieldVariant
	fieldCount
)

// level is the comparison level of two records in a field. Level 0 means no evidence: one of the records has no value.
// Where the best of several values counts, a higher level weighs more.
type level uint8

const levelNone level = 0

// The levels of every field, in ascending order of their bits unless noted.
const (
	nameNone level = 1 + iota
	nameHardly
	nameLittle
	nameHalf
	nameMost
	nameAll
	nameExactRare
	nameChain      // a chain's name, with other evidence of the spot
	nameChainAlone // a chain's name, without evidence of the spot
	nameSkipped    // ruled out by the other fields: counts as the worst name and residual
)

const (
	residualNumbers level = 1 + iota
	residualRare
	residualPart
	residualSomething
	residualNothing
	residualForm   // GmbH, and AG: two companies, perhaps
	residualAlone  // only one name has a word, and nothing besides the names and the city agrees
	residualSister // only one name has a word, and the identifiers differ
)

const (
	phoneDifferent level = 1 + iota
	phoneNear            // differs in the last two digits
	phoneOneOff
	phoneSeven
	phoneEqual
	phoneSeveral // equal, shared by several names
	phoneMany    // equal, shared by many names
)

const (
	addressDifferent level = 1 + iota
	addressOtherNumber
	addressPartly
	addressStreet
	addressNumber
	addressBoth
)

const (
	distanceFar level = 1 + iota
	distance2500
	distance700
	distance250
	distance100
	distance30
	distanceRough     // under 10 km, in a list of rough coordinates
	distanceRoughNear // under 2.5 km, in such a list
)

const (
	postcodeDifferent level = 1 + iota
	postcodeNear
	postcodeEqual
	postcodeOneOff // for persons
)

const (
	cityDifferent level = 1 + iota
	cityContained
	cityEqual
	cityAlike     // for persons
	cityElsewhere // different, and nothing besides the name
)

const regionDifferent level = 1

const (
	categoryDifferent level = 1 + iota
	categoryOverlap
	categoryFirst
)

const (
	webDifferent level = 1 + iota
	webElsewhere       // one brand's site, at different addresses
	webDomain
	webPage
)

const (
	emailEqual     level = 1 + iota
	emailAlike           // for persons
	emailDifferent       // for persons
)

const (
	idDifferent level = 1 + iota
	idEqual
	idMistyped       // global ids, one digit or letter off
	idWorldDifferent // global ids
	idContained      // of titles: model numbers
	idCommon         // of titles: equal, and many records have it
	idSeries         // of titles: different model numbers of one series
	idElsewhere      // of businesses: equal, at different addresses
)

const sourceDeduplicated level = 1

const (
	dateDifferent level = 1 + iota
	dateOtherDay
	dateTwoOff
	dateYear
	dateOneOff
	dateMonth
	dateSwapped
	dateEqual
	dateUsual    // equal, and many records have it: 1 January
	dateNextYear // years without days, one after the other
	dateSeries   // different, in an attribute that distinguishes things of one title
	dateFewYears // years of birth without days, at most three apart
)

const (
	boxShared     level = 1
	variantSeries level = 1 // different, in an attribute that distinguishes things of one name
)

const (
	quantityFar level = 1 + iota
	quantityApart
	quantityNear
	quantityClose
	quantityEqual
	quantitySeries // different, in an attribute that distinguishes things of one title
)

const (
	textNothing level = 1 + iota
	textLittle
	textSome
	textHalf
	textMuch
	textMost
	textMostRare
)

const (
	peopleDifferent level = 1 + iota
	peopleFew             // less than half of the shorter list
	peopleMost
	peopleOneOf // the other list contains the only person of one list
	peopleOne   // the only person of both lists
	peopleAll   // all of the shorter list, at least two
)

const (
	sizeDifferent level = 1 + iota
	sizeEqual
)

const (
	colourDifferent level = 1 + iota
	colourEqual
)

// Relations between two different things. These levels have no bits: they decide regardless of the weight.
const (
	relationFirstPart level = 1 + iota
	relationSecondPart
	relationCoLocated
)

// grade is the text and the bits of a level.
type grade struct {
	word string
	bits Weight
}

// table is the fixed scoring table for all data; nothing is trained. The first grade of a field is level 0.
var table = [fieldCount][]grade{
	fieldName: {
		{},
		{"different", -700},
		{"hardly alike", -350},
		{"a little alike", -100},
		{"half alike", 100},
		{"mostly alike", 450},
		{"alike", 650},
		{"equal and rare", 900},
		{"a chain's name", 450},
		{"a chain's name, the spot unknown", -500},
		{"not compared, taken as different", -1300},
	},
	fieldResidual: {
		{},
		{"numbers differ", -600},
		{"both keep words of their own", -500},
		{"one keeps a part's word", -500},
		{"one keeps a word", -30},
		{"nothing is left over", 30},
		{"legal forms differ", -150},
		{"one keeps a word, and nothing besides the name", -200},
		{"one keeps a word, and the identifiers differ", -500},
	},
	fieldPhone: {{}, {"different", -350}, {"one of the last two digits off", 0}, {"one digit off", 200}, {"last seven digits equal", 250}, {"equal", 900}, {"equal, of several names", 600}, {"equal, of many names", 300}},
	fieldAddress: {
		{},
		{"different", -450},
		{"same street, other number", -300},
		{"partly alike", -100},
		{"same street", 200},
		{"same number", 400},
		{"street and number equal", 650},
	},
	fieldDistance: {
		{},
		{"over 2.5 km", -900},
		{"under 2.5 km", -600},
		{"under 700 m", -200},
		{"under 250 m", 50},
		{"under 100 m", 250},
		{"under 30 m", 400},
		{"under 10 km, and coordinates are rough", 0},
		{"under 2.5 km, and coordinates are rough", 100},
	},
	fieldPostcode: {{}, {"different", -200}, {"first three equal", 0}, {"equal", 150}, {"one digit off", 50}},
	fieldCity:     {{}, {"different", -150}, {"one contains the other", 50}, {"equal", 100}, {"alike", 50}, {"different, and nothing besides the name", -350}},
	fieldRegion:   {{}, {"different", -400}},
	fieldCategory: {{}, {"different", -70}, {"overlapping", 30}, {"first equal", 150}},
	fieldWeb:      {{}, {"different", -150}, {"same site, another address", 0}, {"same domain", 100}, {"same page", 500}},
	fieldEmail:    {{}, {"equal", 400}, {"alike", 300}, {"different", -50}},
	fieldID:       {{}, {"different", -10000}, {"equal", 900}, {"one sign off", 300}, {"other", -600}, {"one contains the other", 500}, {"equal, of many records", 300}, {"another of one series", -1200}, {"equal, at another address", 300}},
	fieldSource:   {{}, {"one source that lists nothing twice", -10000}},
	fieldRelation: {{}, {"the first is a part", 0}, {"the second is a part", 0}, {"two things at one spot", 0}},
	fieldDate: {
		{},
		{"different", -600},
		{"same year, other day", -200},
		{"two digits off", -100},
		{"same year", 400},
		{"one digit off", 500},
		{"same month", 650},
		{"day and month swapped", 700},
		{"equal", 900},
		{"equal, a day of many records", 400},
		{"the year before or after", -400},
		{"another of one series", -3000},
		{"within three years", 0},
	},
	fieldNumber: {{}, {"far apart", -300}, {"apart", -100}, {"near", 50}, {"close", 150}, {"equal", 250}, {"another of one series", -3000}},
	fieldText: {
		{},
		{"nothing in common", -300},
		{"little in common", -200},
		{"something in common", -50},
		{"half in common", 50},
		{"much in common", 150},
		{"most in common", 300},
		{"most in common, and rare words", 400},
	},
	fieldPeople: {
		{},
		{"none in common", -700},
		{"few in common", -100},
		{"at least half in common", 250},
		{"the only one is on the other list", 150},
		{"the same one", 350},
		{"all of the shorter list", 500},
	},
	fieldSize:    {{}, {"different", -900}, {"equal", 50}},
	fieldColour:  {{}, {"different", -500}, {"equal", 50}},
	fieldBox:     {{}, {"of a firm, or of many names", -300}},
	fieldVariant: {{}, {"another of one series", -3000}},
}

// fieldNames are the names of the lines of an explanation.
var fieldNames = [fieldCount]string{
	"name", "name residual", "phone", "address", "distance", "postcode", "city", "region",
	"category", "web", "email", "id", "source", "relation", "date", "number", "text", "people", "size", "colour",
	"shared mailbox", "variant",
}

// SPDX-License-Identifier: Apache-2.0

package demo

import "strings"

// The word lists are the project's own.
var (
	surnames = strings.Fields(`Abernathy Alvarez Amari Anders Aoki Ashby Bakker Baptiste Barlow Bellamy Bergström Bianchi
		Blackwood Bonnet Brandt Brightwell Calloway Castellano Chaudhry Chen Cobb Corrigan Dalton Delacroix Desai Donnelly
		Drummond Duarte Eckhart Ellison Esposito Fairchild Farouk Ferrante Finch Fontaine Gallagher García Goldberg Grady
		Greco Gupta Hadley Halvorsen Hargrove Hashimoto Hendricks Herrera Holloway Hoang Huber Ibarra Ingram Ivanov Jansen
		Jarvis Kaminski Kapoor Kessler Kowalski Kramer Lachance Langley Larkin Lombardi Lopes Maddox Mancini Marchetti
		Mbeki McAllister Mendoza Merritt Montoya Müller Nakamura Navarro Novak Nguyen O'Brien O'Connor Okafor Olsen Ortiz
		Osborne Pacheco Papadakis Park Pellegrini Petrov Pike Quigley Ramírez Rasmussen Reyes Rinaldi Romano Rosenthal
		Rutherford Sabatini Saito Santos Sauer Schneider Serrano Shapiro Silva Sinclair Sokolov Stavros Stein Suzuki Szabo
		Tanaka Tedesco Thornton Torres Tran Underwood Vance Vargas Vasquez Vitale Voss Wagner Walsh Watanabe Weaver Whitaker
		Winslow Wójcik Yamamoto Yilmaz Zamora Zhang Ziegler`)

	nameStarts = strings.Fields(`Al An Ar Bal Bar Ber Bor Bran Cal Car Cas Cor Dal Dar Del Dor Dun El Er Fal Fen Fil Gal Gar Gil
		Gor Had Hal Har Hol Il Jar Jol Kal Kar Kel Kor Lan Lar Lin Lor Mal Mar Mel Mor Nal Nor Ol Or Pal Par Pel Quin Ral Ros
		Sal Sel Sol Tal Tor Ul Val Var Vol Wal Wil Yar Zel`)
	nameMiddles = strings.Fields(`a ada ali ama ana ara avi ba be bi da de di do e eli emi eno eri go i ido iva ka ki la le li lo
		ma me mi mo na ne ni no o oli ona ra re ri ro sa`)
	nameEnds = strings.Fields(`ban bert bock dan dell din don dor feld fort gan gard hard kin la land lin lo lund man mann mar
		mond nak nell ner ni no ra rell ri ric rin ro sen ski son stad stein sto ta tel ti ton tti vak vel vin wick zzi`)

	givenNames = strings.Fields(`Ada Amy Anna Beth Bob Carla Cleo Dan Dora Ed Ella Emma Frank Gina Gus Hana Hugo Ida Ike Ivy
		Jack Jim Joe Kate Ken Leo Lou Luca Mae Maria Max Mike Mia Nina Nora Olga Oscar Otto Pablo Paul Pete Rosa Roy Ruby
		Sal Sam Sofia Stella Ted Tess Tina Tom Vera Vic Wes Zoe`)

	adjectives = strings.Fields(`Amber Ancient Blue Brave Bright Bronze Busy Calm Cedar Clever Copper Coral Cosy Crimson Crooked
		Crystal Dancing Desert Eager Eastern Electric Emerald Empty Fair Famous Fancy Fiery Flying Fresh Gentle Gilded Golden
		Grand Granite Green Happy Hidden Hollow Honest Humble Hungry Indigo Iron Ivory Jade Jolly Lazy Little Lively Lone
		Lost Lucky Lunar Magic Marble Mellow Merry Misty Noble Northern Old Olive Orange Painted Patient Pearl Plucky Polar
		Proud Purple Quiet Rapid Red Rolling Royal Ruby Rustic Sandy Scarlet Secret Silent Silver Simple Sleepy Smoky Snowy
		Solar Southern Spicy Spotted Steady Stone Stormy Sunny Sweet Swift Tall Tiny Twin Velvet Violet Wandering Western
		White Wild Windy Winter Wise Wooden Yellow Young`)

	nouns = strings.Fields(`Acorn Anchor Apple Arrow Badger Barn Basil Bear Bee Bell Birch Bison Boat Bridge Brook Buffalo
		Butterfly Candle Canyon Castle Cat Cherry Clover Coyote Crane Creek Crow Daisy Deer Dolphin Dove Dragon Eagle Elm
		Falcon Feather Fern Fig Finch Fire Forest Fox Garden Gate Ginger Goat Goose Grove Harbor Hare Harvest Hawk Hazel
		Hearth Heron Hill Horse Island Ivy Jaguar Kettle Key King Kite Ladder Lake Lantern Lark Lemon Lighthouse Lily Lion
		Lotus Lynx Maple Meadow Mill Mint Moon Moose Mountain Mule Needle Nest Oak Orchard Otter Owl Panda Parrot Peach
		Pelican Pepper Pheasant Pine Planet Plum Pony Poppy Quail Quill Rabbit Raven Ridge River Robin Rooster Rose Sage
		Salmon Sparrow Spruce Squirrel Star Stork Sun Swallow Swan Thistle Thorn Tiger Tower Trout Tulip Turtle Valley
		Walnut Well Whale Wheel Willow Wolf Wren`)

	streetNames = strings.Fields(`Adams Alder Arch Ash Aspen Baker Bay Beacon Beech Birch Bluff Broad Bush Canal Carroll Cedar
		Center Chapel Cherry Chestnut Church Clay Clinton Court College Cypress Dale Depot Division Dock Dover Eddy Elm
		Federal Ferry Fillmore Forest Franklin Front Fulton Garfield Geary Grand Grant Green Grove Hancock Harbor Harrison
		Hayes Hickory High Hill Howard Jackson Jefferson Jones Juniper Kearny King Lafayette Lake Larkin Laurel Liberty
		Lincoln Linden Locust Madison Main Maple Market Meadow Mill Mission Monroe Montgomery Mulberry Myrtle Oak Ocean
		Olive Orchard Park Pearl Pecan Pine Plum Polk Poplar Post Prospect Quarry Railroad Ridge River Rose School Spring
		Spruce State Sumner Sunset Sutter Sycamore Taylor Union Valley Vine Walnut Warren Washington Water Webster Willow
		Winter York 1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th 11th 12th 14th 16th 18th 21st 23rd 42nd`)

	cityStarts = strings.Fields(`Alder Amber Ash Bay Bell Birch Black Bright Brook Cedar Clay Clear Cold Copper Crow Deer Eagle
		East Elk Elm Fair Falcon Fern Fox Glen Gold Green Hazel Hill Iron Kings Lake Long Maple Mill New North Oak Pine
		Rich River Rock Rose Salt Silver South Spring Stone Summer West White Wild Winter Wolf`)
	cityEnds = strings.Fields(`field ford port ville wood dale burg mont side ton haven ridge water brook bury crest gate land
		mouth stead view worth`)

	// regions are abbreviations with the centre of the region.
	regions = []struct {
		name     string
		lat, lon float64
	}{
		{"CA", 37.2, -120.3},
		{"OR", 44.0, -120.5},
		{"WA", 47.4, -120.4},
		{"NV", 39.3, -116.6},
		{"AZ", 34.3, -111.7},
		{"CO", 39.0, -105.5},
		{"TX", 31.5, -99.3},
		{"MN", 46.3, -94.3},
		{"IL", 40.0, -89.2},
		{"OH", 40.3, -82.8},
		{"GA", 32.6, -83.4},
		{"NC", 35.5, -79.4},
		{"PA", 40.9, -77.8},
		{"NY", 42.9, -75.5},
		{"MA", 42.3, -71.8},
		{"ME", 45.4, -69.2},
	}
)

// streetTypes are suffixes of street names: in full, abbreviated, in capitals.
var streetTypes = []struct{ full, short, capital string }{
	{"Street", "St.", "ST"},
	{"Street", "St.", "ST"},
	{"Street", "St.", "ST"},
	{"Avenue", "Ave.", "AVE"},
	{"Avenue", "Ave.", "AVE"},
	{"Road", "Rd.", "RD"},
	{"Boulevard", "Blvd.", "BLVD"},
	{"Lane", "Ln.", "LN"},
	{"Drive", "Dr.", "DR"},
	{"Court", "Ct.", "CT"},
}

// trade is a line of business: its category, and the words that names end in.
type trade struct {
	category string
	words    []string
}

var trades = []trade{
	{"food > pizza", []string{"Pizza", "Pizzeria", "Pizza & Pasta"}},
	{"food > coffee", []string{"Coffee", "Coffee House", "Cafe", "Espresso Bar"}},
	{"food > bakery", []string{"Bakery", "Bread Company", "Patisserie"}},
	{"food > mexican", []string{"Taqueria", "Cantina", "Burritos"}},
	{"food > chinese", []string{"Noodle House", "Dumplings", "Garden Restaurant"}},
	{"food > grill", []string{"Grill", "Steakhouse", "Barbecue", "Diner"}},
	{"food > bar", []string{"Tavern", "Pub", "Taproom", "Wine Bar"}},
	{"shop > books", []string{"Books", "Bookstore"}},
	{"shop > flowers", []string{"Florist", "Flowers"}},
	{"shop > hardware", []string{"Hardware", "Tools & Supply", "Lumber"}},
	{"shop > clothing", []string{"Boutique", "Outfitters", "Tailors"}},
	{"shop > grocery", []string{"Market", "Grocery", "Organic Foods"}},
	{"shop > music", []string{"Records", "Music", "Guitars"}},
	{"service > hair", []string{"Barber Shop", "Hair Studio", "Salon"}},
	{"service > auto", []string{"Auto Repair", "Garage", "Tire Center"}},
	{"service > laundry", []string{"Laundry", "Dry Cleaners"}},
	{"service > law", []string{"Law Offices", "Legal Group"}},
	{"service > plumbing", []string{"Plumbing", "Heating & Air"}},
	{"health > dentist", []string{"Dental Care", "Dentistry", "Family Dental"}},
	{"health > fitness", []string{"Fitness", "Yoga Studio", "Gym"}},
	{"health > pharmacy", []string{"Pharmacy", "Drugs"}},
	{"lodging > hotel", []string{"Hotel", "Inn", "Motel", "Lodge"}},
	{"culture > gallery", []string{"Gallery", "Art Space"}},
	{"education > school", []string{"Music School", "Academy", "Learning Center"}},
}

// nothings are filler values.
var nothings = []string{"N/A", "n/a", "-", "none", "NULL", "unknown", "."}

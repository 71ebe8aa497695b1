// SPDX-License-Identifier: Apache-2.0

package bulk

// shapes counts the forms that keys have in a file: "C-1023" and "C-7" have one form, "J. Smith" another. They
// distinguish rows from pieces of a broken row.
type shapes struct {
	counts map[string]int
	total  int
	most   int // count of the most frequent form
}

const (
	maxShapes       = 1024 // forms counted
	maxShape        = 32   // bytes of a form
	commonShare     = 50   // a form is common from one key in this many,
	commonRate      = 10   // and from this part of the count of the most frequent form,
	fewKeys         = 50   // or this one while fewer keys are known
	commonRateOfFew = 3
	ordinaryRows    = 80 // percent of the keys that must have common forms for a form to mean anything
)

// keyForm writes the form of a key into buf: a run of digits is 9, a run of letters a, any other byte itself.
func keyForm(buf []byte, key []byte) []byte {
	buf = buf[:0]
	for _, b := range key {
		switch {
		case '0' <= b && b <= '9':
			b = '9'
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', b >= 0x80:
			b = 'a'
		}
		if (b == '9' || b == 'a') && len(buf) > 0 && buf[len(buf)-1] == b {
			continue
		}
		if len(buf) == maxShape {
			break
		}
		buf = append(buf, b)
	}
	return buf
}

// learn counts the form of a key.
func (s *shapes) learn(key []byte) {
	var buf [maxShape]byte
	shape := keyForm(buf[:], key)
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.total++
	if n, known := s.counts[string(shape)]; known || len(s.counts) < maxShapes {
		s.counts[string(shape)] = n + 1
		s.most = max(s.most, n+1)
	}
}

func (s *shapes) isCommon(n int) bool {
	return n > 0 && n*commonShare >= s.total && n*commonRate >= s.most
}

// common reports whether the form of a key is common in the file. If forms mean nothing in this file, every form is.
func (s *shapes) common(key []byte) bool {
	var buf [maxShape]byte
	return s.isCommon(s.counts[string(keyForm(buf[:], key))]) || !s.telling()
}

// telling reports whether nearly all keys have common forms, so that another form is a sign of damage.
func (s *shapes) telling() bool {
	ordinary := 0
	for _, n := range s.counts {
		if s.isCommon(n) {
			ordinary += n
		}
	}
	return s.total > 0 && ordinary*100 >= s.total*ordinaryRows
}

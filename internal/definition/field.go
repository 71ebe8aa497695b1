// SPDX-License-Identifier: Apache-2.0

package definition

// Field is a field that a definition may have, and where its value goes.
type Field struct {
	name string
	read func(Value)
}

// Text is a field with one value, taken as written.
func Text[T ~string](name string, to *T) Field {
	return Field{name, func(v Value) { *to = T(v.Text()) }}
}

// List is a field with one value, or several.
func List(name string, to *[]string) Field {
	return Field{name, func(v Value) { *to = v.List() }}
}

// Whole is a field with a whole number.
func Whole(name string, to *int) Field {
	return Field{name, func(v Value) { *to = v.Whole() }}
}

// Truth is a field with true or false.
func Truth(name string, to *bool) Field {
	return Field{name, func(v Value) { *to = v.Truth() }}
}

// Custom is a field that a function reads.
func Custom(name string, read func(Value)) Field { return Field{name, read} }

// SPDX-License-Identifier: Apache-2.0

package locality

// AppendBinary appends the 16 bytes of the ID to b; its error is always nil.
func (id ID) AppendBinary(b []byte) ([]byte, error) { return append(b, id[:]...), nil }

// MarshalBinary returns the 16 bytes of the ID; its error is always nil.
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary reads exactly 16 bytes. After an error id is unchanged.
func (id *ID) UnmarshalBinary(b []byte) error {
	parsed, err := FromBytes(b)
	if err == nil {
		*id = parsed
	}
	return err
}

// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locus-db/locus/internal/definition"
	"github.com/locus-db/locus/internal/problem"
)

// maxConfig limits the size of the configuration file.
const maxConfig = 1 << 20

// place are the flags that locate the installation. They are one choice: if one of them or its variable is given, those
// of the file are not used.
var place = []string{"url", "data", "map"}

const byDefault = "default"

// origin says where the value of a flag comes from.
func origin(f *pflag.Flag) string {
	switch {
	case f.Changed:
		return "flag --" + f.Name
	case len(f.Annotations[setBy]) > 0:
		return f.Annotations[setBy][0]
	}
	return byDefault
}

// fromFile sets the flags that neither the command line nor the environment has set from the configuration file, if the
// command has --config. Other commands than locus serve use only the settings that locate the installation.
func (a *app) fromFile(c *cobra.Command) error {
	if c.Flags().Lookup("config") == nil || a.config == "" {
		return nil
	}
	values, err := readConfig(a.config)
	if err != nil {
		return err
	}
	return values.set(c.Flags())
}

// config is the content of a configuration file.
type config struct {
	path   string
	text   string
	reader *definition.Reader
	values []configValue
}

type configValue struct {
	setting
	texts []string // as the flag takes them
	value definition.Value
}

// readConfig reads a configuration file. Its error lists every mistake except wrong values, which set finds.
func readConfig(path string) (*config, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("locus config example > locus.yaml; or leave --config out", "read the configuration: %v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, usage("name a file", "read the configuration: %v", err)
	}
	c := &config{path: path, text: string(text)}
	if !slices.ContainsFunc(strings.Split(c.text, "\n"), func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && line[0] != '#'
	}) {
		return c, nil
	}
	r, all := definition.Read("data", maxConfig, text)
	c.reader = r
	all.Fields(c.fields("")...)
	return c, c.err()
}

// fields returns the settings of a section as fields. Those of the top level, "", are the settings without a section,
// and the sections.
func (c *config) fields(section string) (fields []definition.Field) {
	for _, name := range sections(section) {
		s, ok := settingAt(section, name)
		fields = append(fields, definition.Custom(name, func(v definition.Value) {
			switch {
			case ok:
				c.add(s, v)
			case !v.Empty():
				v.Fields(c.fields(name)...)
			}
		}))
	}
	return fields
}

// add adds the value of a setting. A setting without a value has its default.
func (c *config) add(s setting, v definition.Value) {
	if v.Empty() {
		return
	}
	one := configValue{setting: s, value: v}
	switch s.form {
	case single:
		one.texts = []string{v.Text()}
	case file, secretFile:
		name := v.Text()
		if name != "" && !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(c.path), name)
		}
		one.texts = []string{name}
	case list:
		one.texts = v.List()
	case grants:
		v.Each(func(name string, v definition.Value) {
			one.texts = append(one.texts, name+"="+strings.Join(v.List(), ","))
		})
	}
	c.values = append(c.values, one)
}

// set sets flags that are not set yet and that have a variable: others have the name of a setting by chance.
func (c *config) set(flags *pflag.FlagSet) error {
	placed := slices.ContainsFunc(place, func(name string) bool {
		f := flags.Lookup(name)
		return f != nil && origin(f) != byDefault
	})
	var used []configValue
	for _, v := range c.values {
		f := flags.Lookup(v.flag)
		if f == nil || variable(f) == "" || origin(f) != byDefault || placed && slices.Contains(place, v.flag) {
			continue
		}
		used = append(used, v)
		for _, text := range v.texts {
			if err := f.Value.Set(text); err != nil {
				v.value.Fail("%s", wanted(f, err))
			}
		}
	}
	if err := c.err(); err != nil {
		return err
	}
	for _, v := range used { // after the loop, since mistakes are told together
		_ = flags.SetAnnotation(v.flag, setBy, []string{fmt.Sprintf("%s:%d", c.path, v.value.Line())})
	}
	if m, d := flags.Lookup("map"), flags.Lookup("data"); m != nil && d != nil && strings.HasPrefix(origin(m), c.path) && strings.HasPrefix(origin(d), c.path) {
		return usage("leave one of them out",
			"%s has data and map: data is for a directory, map for a shared installation", c.path)
	}
	return nil
}

// wanted explains a value that a flag refuses.
func wanted(f *pflag.Flag, err error) string {
	switch f.Value.Type() {
	case "bool":
		return "want true or false"
	case "int":
		return "want a whole number"
	case "duration":
		return "want a duration such as 90s, 10m or 24h"
	}
	return err.Error()
}

// password matches the user of a URL with the password, which a message must not contain.
var password = regexp.MustCompile(`://[^/\s]*@`)

// err returns the mistakes of the file, and shows the line of each with a caret.
func (c *config) err() error {
	if c.reader == nil || len(c.reader.Problems) == 0 {
		return nil
	}
	lines := strings.Split(c.text, "\n")
	var shown []string
	for _, p := range c.reader.Problems {
		if p.Line < 1 || p.Line > len(lines) {
			continue
		}
		line := strings.ReplaceAll(strings.TrimRight(lines[p.Line-1], "\r"), "\t", " ")
		shown = append(shown, fmt.Sprintf("%6d | %s", p.Line, problem.Clip(password.ReplaceAllString(line, "://…@"))))
		if column := c.reader.Column(p); column > 0 {
			shown = append(shown, fmt.Sprintf("       | %*s", column, "^"))
		}
	}
	return &failure{
		Code: "invalid", Message: c.path + ": " + problem.Join(c.reader.Problems), Shown: shown,
		Hint: "locus config example shows every setting", Exit: exitInvalid,
	}
}

package compose

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// FuzzEnvFile reads files of variables: errors name an existing line, and never a value.
func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\nexport B='x y'\n# c\nC=${A:-d}\nD=\"e\\n$B\"\n")
	f.Add("SECRET=\"no end\nB=${")
	f.Add("A=${B:?needed}\n=\n")
	f.Fuzz(func(t *testing.T, in string) {
		values, err := parseEnv("f", []byte(in), nil)
		if err == nil {
			for name := range values {
				if name == "" {
					t.Errorf("a variable without a name in %q", in)
				}
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) || e.Msg == "" || e.Line < 0 || e.Line > bytes.Count([]byte(in), []byte("\n"))+1 {
			t.Errorf("%q: %+v", in, err)
		}
		if _, value, ok := strings.Cut(in, "SECRET="); ok && len(value) > 8 && strings.Contains(err.Error(), value) {
			t.Errorf("the error holds the value: %v", err)
		}
	})
}

// TestBareNames reads names without a value: they take it from the environment, also on a last line without a line
// break.
func TestBareNames(t *testing.T) {
	lookup := func(name string) (string, bool) { return "outside", name == "A" }
	for _, in := range []string{"A", "A\n", "B=1\nA", "A\n=x\n", "# c\nA"} {
		values, err := parseEnv("f", []byte(in), lookup)
		if err != nil || values["A"] != "outside" {
			t.Errorf("%q: %q, %v", in, values, err)
		}
		if _, ok := values[""]; ok {
			t.Errorf("%q: a variable without a name", in)
		}
	}
}

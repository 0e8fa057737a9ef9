package model

import (
	"strings"
	"testing"
)

func TestParseOwner(t *testing.T) {
	for in, want := range map[string]string{
		"1000:1000": "1000:1000", "1000": "1000:1000", "0": "0:0", "0:5": "0:5", "4294967294": "4294967294:4294967294",
		"app": "want numbers", "1000:app": `"id -u app"`, "": `want "uid"`, ":": `want "uid"`, "1000:": `want "uid"`, "-1": "want numbers",
		"4294967295": "too high", "99999999999999999999": "too high", "1:2:3": "want numbers", "1.5": "want numbers", " 1": "want numbers", //nolint:gocritic // the space is the case
	} {
		o, err := ParseOwner(in)
		got := o.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || err != nil && o.Set || err == nil && got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

package deploy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/cluster/ledger"
	"github.com/hone-dev/hone/pkg/model"
)

// TestDifferences compares two revisions.
func TestDifferences(t *testing.T) {
	declared := func(kind, name, text string) ledger.Declared {
		d := ledger.Declared{Record: ledger.Record{ObjectID: model.ObjectID{Kind: kind, Namespace: "shop", Name: name}}}
		if text != "" {
			d.Object = json.RawMessage(`{"apiVersion":"v1","kind":"` + kind + `","metadata":{"name":"` + name + `","labels":{"hone.dev/project":"` + fmt.Sprint(len(text)) + `"}},` + text + `}`)
		}
		return d
	}
	was := ledger.Objects{
		"web": {declared("ConfigMap", "a", `"data":{"one":"1","two":"2"}`), declared("ConfigMap", "same", `"data":{"one":"1"}`), declared("ConfigMap", "unknown", "")},
		"db":  {declared("ConfigMap", "gone", `"data":{"one":"1"}`), declared("Secret", "token", `"data":{"password":"`+digestMark+`abc","user":"x"}`)},
	}
	is := ledger.Objects{
		"web": {declared("ConfigMap", "a", `"data":{"one":"3","three":"3"}`), declared("ConfigMap", "same", `"data":{"one":"1"}`), declared("ConfigMap", "unknown", "")},
		"db":  {declared("ConfigMap", "new", `"data":{"one":"1"}`), declared("Secret", "token", `"data":{"password":"`+digestMark+`def","user":"x"}`)},
	}
	var got []string
	for _, s := range Differences(was, is) {
		line := fmt.Sprintf("%s %s of %s:", s.Action, s.Object.Name, s.Resource)
		for _, f := range s.Fields {
			line += fmt.Sprintf(" %s %s %v→%v %v", f.Class, f.Path, f.From, f.To, f.Masked)
		}
		got = append(got, line)
	}
	want := []string{
		"update a of web: change data.one 1→3 false change data.three <nil>→3 false removal data.two 2→<nil> false",
		"delete gone of db:", "create new of db:", "update token of db: change data.password <nil>→<nil> true",
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

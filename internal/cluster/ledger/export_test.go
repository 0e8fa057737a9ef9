package ledger

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage/memory"
)

func (m *moving) export(t testing.TB) []byte {
	t.Helper()
	doc, err := m.from.open(t).Export(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestExport exports ledgers from each kind of place, and imports them into each kind, with a key of the user and without one.
func TestExport(t *testing.T) {
	for fromKind, openFrom := range places {
		for toKind, openTo := range places {
			for _, key := range []string{"", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), keySize))} {
				t.Run(fmt.Sprintf("%s to %s, key %t", fromKind, toKind, key != ""), func(t *testing.T) {
					m := &moving{from: newMachine(t, openFrom(t))}
					m.from.env[KeyVariable] = key
					m = newMovingFrom(t, m.from, newMachine(t, openTo(t)))
					m.to.env[KeyVariable] = key
					if key != "" {
						m.to.dir = t.TempDir() + "/elsewhere" // another machine that has the key
					}
					doc := m.export(t)
					if encrypted := bytes.HasPrefix(doc, []byte(mark)); encrypted != (key != "") || bytes.Contains(doc, []byte("TOKEN=secret")) {
						t.Errorf("encrypted %t:\n%s", encrypted, doc)
					}
					for range 2 { // the second time, it is there already
						if err := m.to.open(t).Import(t.Context(), doc, false); err != nil {
							t.Fatal(err)
						}
					}
					if !m.in(t, m.to).equal(m.all) || !m.in(t, m.from).equal(m.all) {
						t.Error("the import lacks something")
					}
				})
			}
		}
	}
}

// TestInterruptedImport is cut off after every operation: there is no ledger, or all of it, and it can be repeated.
func TestInterruptedImport(t *testing.T) {
	for n, done := 0, false; !done; n++ {
		synctest.Test(t, func(t *testing.T) {
			m := newMoving(t, memory.New(), memory.New())
			doc := m.export(t)
			b := &budget{left: n, late: n%2 == 0}
			l := &Ledger{storage: limited(m.to.storage, b), key: Key{Cluster: "c", Project: "p"}, vault: m.from.open(t).vault}
			l.notes = newNotes(l)
			ctx, cancel := patience()
			defer cancel()
			err := l.Import(ctx, doc, false)
			done = err == nil && b.left >= 0
			if is := m.in(t, m.to); is.version != "" && !is.equal(m.all) {
				t.Errorf("after %d operations, there is a part of it", n)
			}
			if err := m.to.open(t).Import(context.WithoutCancel(ctx), doc, false); err != nil || !m.in(t, m.to).equal(m.all) {
				t.Errorf("after %d operations, repeated: %v", n, err)
			}
		})
	}
}

// minimalExport has one of everything that an export may have.
const minimalExport = `{"kind":"hone.dev/ledger-export","version":1,"ledger":{"format":4,"cluster":"c","project":"p","revisions":[{"number":2,"phase":"succeeded","objects":1},` +
	`{"number":3,"phase":"succeeded","objects":1}],"resources":{"web":[{"kind":"ConfigMap","name":"a"}]}},"declared":{"2":{}},` +
	`"notes":[{"kind":"applied","object":{"Kind":"ConfigMap","Name":"a"},"at":"2020-01-01T00:00:00Z","text":""}]}`

// TestImportRefusals: each is a problem, and nothing is written.
func TestImportRefusals(t *testing.T) {
	for _, tc := range []struct{ name, old, new, want string }{
		{"not JSON", minimalExport, "PK\x03\x04", "not an exported ledger"},
		{"something else", "hone.dev/ledger-export", "List", `its kind is "List"`},
		{"a newer version", `"version":1`, `"version":2`, "has version 2"},
		{"another cluster", `"cluster":"c"`, `"cluster":"d"`, "about another cluster"},
		{"another project", `"project":"p"`, `"project":"q"`, "about another project: q, and this one is p"},
		{"a name that leads elsewhere", `"project":"p"`, `"project":"../p"`, "is damaged"},
		{"an unknown field", `"declared"`, `"more":1,"declared"`, "is damaged"},
		{"more behind it", `"text":""}]}`, `"text":""}]} {}`, "or it is damaged"},
		{"another format", `"format":4`, `"format":3`, "is damaged"},
		{"a number twice", `"number":3`, `"number":2`, "is damaged"},
		{"objects of an unknown revision", `"declared":{"2"`, `"declared":{"7"`, "is damaged"},
		{"objects of another form", `"2":{}`, `"2":[]`, "is damaged"},
		{"an object without a name", `"name":"a"`, `"name":""`, "is damaged"},
		{"a note about another object", `"Name":"a"`, `"Name":"b"`, "is damaged"},
		{"an unknown note", `"applied"`, `"other"`, "is damaged"},
		{"a command in clear text", `"resources"`, `"commands":{"x":{"argv":["rm"]}},"resources"`, "is damaged"},
	} {
		m := newMachine(t, memory.New())
		doc := strings.Replace(minimalExport, tc.old, tc.new, 1)
		err := m.open(t).Import(t.Context(), []byte(doc), false)
		if p, ok := problem.Of(err); !ok || !strings.Contains(p.Summary, tc.want) || p.Mend == "" {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
		if names, err := m.storage.List(t.Context(), ""); err != nil || len(names) > 0 {
			t.Errorf("%s: %q was written, %v", tc.name, names, err)
		}
	}
	m := newMachine(t, memory.New())
	if err := m.open(t).Import(t.Context(), []byte(minimalExport), false); err != nil {
		t.Errorf("as it is: %v", err)
	}
	deploy(t, m.open(t), "more", "b")
	if p, ok := problem.Of(m.open(t).Import(t.Context(), []byte(minimalExport), false)); !ok || !strings.Contains(p.Summary, "has a ledger in") {
		t.Errorf("where there is a ledger: %v", p)
	}
}

// TestImportElsewhere: without a key of the user, another machine loses the values in commands, and only if it is asked to.
func TestImportElsewhere(t *testing.T) {
	m := newMoving(t, memory.New(), memory.New())
	doc := m.export(t)
	m.to.dir = t.TempDir() + "/elsewhere"
	if p, ok := problem.Of(m.to.open(t).Import(t.Context(), doc, false)); !ok || !strings.Contains(p.Summary, "they would be lost") || !strings.Contains(p.Mend, "--without-secrets") {
		t.Errorf("%v", p)
	}
	if err := m.to.open(t).Import(t.Context(), doc, true); err != nil {
		t.Fatal(err)
	}
	commands, err := m.to.open(t).Commands()
	if err != nil || strings.Join(commands["chart"].Env, " ") != "TOKEN" {
		t.Errorf("%+v, %v", commands, err)
	}
}

// FuzzExport reads damaged and foreign exports. Each that is accepted is imported whole.
func FuzzExport(f *testing.F) {
	f.Add([]byte(minimalExport))
	f.Add([]byte(`{"kind":"hone.dev/ledger-export","version":1,"ledger":{"format":4,"cluster":"c","project":"p","resources":{}}}`))
	f.Add([]byte(mark + "\x01"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		to := newMachine(t, memory.New())
		l := to.open(t)
		file, err := l.openExport(doc)
		if err != nil {
			return
		}
		l.key = Key{Cluster: file.Ledger.Cluster, Project: file.Ledger.Project}
		l.notes = newNotes(l)
		if err := l.Import(t.Context(), doc, true); err != nil {
			t.Fatalf("accepted, and not imported: %v", err)
		}
	})
}

package ledger

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/filelock"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
	"github.com/hone-dev/hone/pkg/model"
)

func openLedger(t testing.TB, dir string) *Ledger {
	t.Helper()
	l, err := openKey(t, dir, Key{Cluster: "11111111-2222", Project: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func openKey(t testing.TB, dir string, key Key) (*Ledger, error) {
	return Open(openFolder(t, dir), key, Options{Dir: dir})
}

func openFolder(t testing.TB, dir string) storage.Storage {
	t.Helper()
	return folder.New(dir)
}

func ownKey(dir string) string { return filepath.Join(filepath.Dir(dir), "keys", "ledger.key") }

func keyText(n byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{n}, keySize))
}

func record(name, uid string) Record {
	return Record{ObjectID: model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "dev", Name: name}, APIVersion: "apps/v1", UID: uid}
}

func appliedOf(r Record) model.AppliedObject {
	return model.AppliedObject{ObjectID: r.ObjectID, APIVersion: r.APIVersion, UID: r.UID}
}

func contents(t testing.TB, l *Ledger) map[model.ManifestName][]Record {
	t.Helper()
	m, err := l.Resources()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLedgerLife(t *testing.T) {
	type state = map[model.ManifestName][]Record
	dir := filepath.Join(t.TempDir(), "state", "ledger")
	l := openLedger(t, dir)
	fresh, again := record("a", "1"), record("a", "2")
	fresh.Fresh, again.Fresh = true, true
	steps := []struct {
		name string
		do   func() error
		want state
	}{
		{"empty", func() error { return nil }, state{}},
		{"record", func() error { return l.Record("web", []Record{record("b", ""), record("a", "")}) },
			state{"web": {record("a", ""), record("b", "")}}},
		{"set", func() error { return l.Set("web", []model.AppliedObject{appliedOf(record("a", "1"))}) }, state{"web": {fresh}}},
		{"record keeps the UID", func() error { return l.Record("web", []Record{record("a", ""), record("c", "")}) },
			state{"web": {fresh, record("c", "")}}},
		{"hand over", func() error { return l.Set("api", []model.AppliedObject{appliedOf(record("a", "1"))}) },
			state{"web": {record("c", "")}, "api": {fresh}}},
		{"the newest recorder has it", func() error { return l.Record("web", []Record{record("a", "")}) },
			state{"web": {fresh, record("c", "")}}},
		{"hand over again", func() error {
			return l.HandOver("web", map[model.ObjectID]model.ManifestName{record("a", "").ObjectID: "api", record("z", "").ObjectID: "web"})
		}, state{"web": {record("c", "")}, "api": {fresh}}},
		{"remove an object", func() error { return l.Remove("web", record("c", "").ObjectID) }, state{"api": {fresh}}},
		{"seen ready", func() error { return l.SeenReady("api", []model.ObjectID{record("a", "").ObjectID}) }, state{"api": {record("a", "1")}}},
		{"deployed once more", func() error { return l.Set("api", []model.AppliedObject{appliedOf(record("a", "1"))}) }, state{"api": {record("a", "1")}}},
		{"made again", func() error { return l.Set("api", []model.AppliedObject{appliedOf(record("a", "2"))}) }, state{"api": {again}}},
		{"remove a resource", func() error { return l.Remove("api") }, state{}},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if diff := cmp.Diff(s.want, contents(t, openLedger(t, dir)), anyRevision); diff != "" {
			t.Errorf("%s: %s", s.name, diff)
		}
	}
}

// A resource that a command deploys is recorded before its objects, and keeps its delete command.
func TestLedgerCommands(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir)
	del := model.Cmd{Argv: []string{"helm", "uninstall", "x"}, Dir: "/src", Env: []string{"A=1"}, EchoOff: true}
	foreign := appliedOf(record("a", "1"))
	foreign.Foreign = true
	has := func(what string, objects int, command bool) {
		t.Helper()
		again := openLedger(t, dir)
		commands, err := again.Commands()
		if err != nil {
			t.Fatal(err)
		}
		all := contents(t, again)
		got, known := all["chart"]
		if len(got) != objects || known != (objects > 0 || command) || command != commands["chart"].Equal(del) {
			t.Errorf("%s: objects %v, commands %v", what, all, commands)
		}
	}
	for _, s := range []struct {
		name    string
		do      func() error
		objects int
		command bool
	}{
		{"before the first deploy", func() error { return l.RecordCommand("chart", del) }, 0, true},
		{"deployed", func() error { return l.Replace("chart", Of([]model.AppliedObject{foreign}), del) }, 1, true},
		{"another resource takes the object", func() error { return l.Set("web", []model.AppliedObject{appliedOf(record("a", "2"))}) }, 0, true},
		{"deployed again", func() error {
			return l.Replace("chart", Of([]model.AppliedObject{foreign, appliedOf(record("b", "1"))}), del)
		}, 2, true},
		{"deleted: what is hone's own stays", func() error { return l.ForgetCommand("chart") }, 1, false},
		{"once more", func() error { return l.RecordCommand("chart", del) }, 1, true},
		{"all forgotten", func() error { return l.Remove("chart") }, 0, false},
	} {
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		has(s.name, s.objects, s.command)
	}
}

func TestLedgerWritesOnlyChanges(t *testing.T) {
	l := openLedger(t, t.TempDir())
	if err := l.Set("web", []model.AppliedObject{appliedOf(record("a", "1"))}); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(l.Place())
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []func() error{
		func() error { return l.Record("web", []Record{record("a", "")}) },
		func() error { return l.Set("web", []model.AppliedObject{appliedOf(record("a", "1"))}) },
		func() error { return l.Remove("none") },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
	}
	if after, _ := os.Stat(l.Place()); !os.SameFile(before, after) {
		t.Error("the file was written without need")
	}
}

func TestLedgerWritersDoNotLoseEachOther(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 20 {
		l := openLedger(t, dir) // like separate processes
		wg.Go(func() {
			if err := l.Record(model.ManifestName(fmt.Sprint(i)), []Record{record(fmt.Sprint(i), "")}); err != nil {
				t.Error(err)
			}
		})
	}
	shared := openLedger(t, dir) // like the goroutines of one process
	for i := range 20 {
		name := fmt.Sprint("shared-", i)
		wg.Go(func() {
			if err := shared.Record(model.ManifestName(name), []Record{record(name, "")}); err != nil {
				t.Error(err)
			}
			if got := contents(t, shared)[model.ManifestName(name)]; len(got) != 1 {
				t.Errorf("%s: %v right after it was recorded", name, got)
			}
		})
	}
	wg.Wait()
	for _, l := range []*Ledger{shared, openLedger(t, dir)} {
		if n := len(contents(t, l)); n != 40 {
			t.Errorf("%d of 40 resources", n)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.json.*")); len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("files left: %v", left)
	}
}

// TestLedgerWaitsForItsLock holds the lock like another process in the middle of a write.
func TestLedgerWaitsForItsLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLedger(t, t.TempDir())
		unlock, free, err := filelock.Try(l.Place() + ".lock")
		if err != nil || !free {
			t.Fatal(free, err)
		}
		err = l.Record("web", []Record{record("web", "")})
		if want := "another process has held it, for 30s"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("under a lock that stays: %v, want %q", err, want)
		}
		time.AfterFunc(time.Second, unlock)
		start := time.Now()
		if err := l.Record("web", []Record{record("web", "")}); err != nil {
			t.Error(err)
		}
		if waited := time.Since(start); waited < time.Second {
			t.Errorf("wrote after %v, while the lock was held", waited)
		}
		if got := contents(t, l)["web"]; len(got) != 1 {
			t.Errorf("%v is recorded after the wait", got)
		}
	})
}

// TestLedgerSeesOthersWrites uses two ledgers of one file like two processes.
func TestLedgerSeesOthersWrites(t *testing.T) {
	dir := t.TempDir()
	mine, theirs := openLedger(t, dir), openLedger(t, dir)
	for i, l := range []*Ledger{mine, theirs, mine, mine, theirs} {
		name := fmt.Sprint(i)
		if err := l.Record(model.ManifestName(name), []Record{record(name, "")}); err != nil {
			t.Fatal(err)
		}
		for _, reader := range []*Ledger{mine, theirs} {
			if got := len(contents(t, reader)); got != i+1 {
				t.Errorf("after write %d a reader saw %d resources", i+1, got)
			}
		}
	}
	contents(t, mine)["0"][0].Name = "changed by the caller"
	if contents(t, mine)["0"][0].Name != "0" {
		t.Error("a caller's change reached the ledger")
	}
}

func TestLedgerDamageIsAProblemAndStays(t *testing.T) {
	for _, content := range []string{"{", `{"format": 99}`, ""} {
		dir := t.TempDir()
		l := openLedger(t, dir)
		if err := os.WriteFile(l.Place(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openKey(t, dir, Key{Cluster: "11111111-2222", Project: "abc"}); !isProblem(err) {
			t.Errorf("%q: got %v", content, err)
		}
		if err := l.Set("web", nil); err == nil {
			t.Errorf("%q was overwritten", content)
		}
		if raw, _ := os.ReadFile(l.Place()); string(raw) != content {
			t.Errorf("%q became %q", content, raw)
		}
	}
	if _, err := openKey(t, t.TempDir(), Key{Cluster: "../x", Project: "y"}); err == nil {
		t.Error("a key with a slash was accepted")
	}
}

func TestLeftovers(t *testing.T) {
	widget := Record{ObjectID: model.ObjectID{Group: "shop.dev", Kind: "Widget", Namespace: "default", Name: "w"}}
	rooted := widget.ObjectID
	rooted.Namespace = ""
	got := leftovers("web", []model.AppliedObject{appliedOf(record("a", "1")), {ObjectID: rooted}},
		map[model.ManifestName][]Record{"web": {record("a", "1"), record("b", "2"), record("c", "3"), widget}, "api": {record("c", "3")}})
	if diff := cmp.Diff([]Record{record("b", "2")}, got, anyRevision); diff != "" {
		t.Error(diff)
	}
}

func isProblem(err error) bool {
	_, ok := problem.Of(err)
	return ok
}

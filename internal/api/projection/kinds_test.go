package projection

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/hone-dev/hone/internal/loop/state"
	"github.com/hone-dev/hone/internal/loop/state/statetest"
	"github.com/hone-dev/hone/internal/loop/store"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// text returns an object as YAML.
func text(t testing.TB, o Object) string {
	t.Helper()
	out, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// table returns the printed table of objects.
func table(v store.View, k Kind, objects []Object) string {
	var b strings.Builder
	b.WriteString("NAME")
	for _, c := range k.ColumnsIn(v) {
		b.WriteString(" | " + strings.ToUpper(c.Name))
	}
	for _, o := range objects {
		b.WriteString("\n" + o.GetName())
		for _, c := range k.ColumnsIn(v) {
			fmt.Fprintf(&b, " | %v", c.Value(o))
		}
	}
	return b.String() + "\n"
}

// TestObjects compares every object of the shop, and its row in a table, with a golden file per kind.
func TestObjects(t *testing.T) {
	v := shop().View()
	for _, k := range All() {
		t.Run(k.Name, func(t *testing.T) {
			var objects []Object
			var docs []string
			for i := range k.Items(v) {
				o := i.Make()
				if o.GetName() != i.Name {
					t.Errorf("%q makes %q", i.Name, o.GetName())
				}
				objects, docs = append(objects, o), append(docs, text(t, o))
			}
			got := table(v, k, objects) + "---\n" + strings.Join(docs, "---\n")
			path := filepath.Join("testdata", k.Plural+".yaml")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if len(objects) == 0 {
				t.Error("the shop has no object of this kind")
			}
			for _, secret := range []string{password, "another-secret", "1234", "b64", "YW5vdGhlci1zZWNyZXQ"} {
				if strings.Contains(got, secret) {
					t.Errorf("%q is shown", secret)
				}
			}
		})
	}
}

// TestTheShopStaysAsItIs creates all objects and checks that this does not change the state that they are created from.
func TestTheShopStaysAsItIs(t *testing.T) {
	v := shop().View()
	for _, k := range All() {
		for i := range k.Items(v) {
			i.Make()
		}
	}
	if env := state.Resources.In(v).Value("docs").Manifest.Local.Serve.Env[0]; !strings.Contains(env, password) {
		t.Errorf("the command would run with %q", env)
	}
	if data := state.ConfigMaps.In(v).Value("switches").Data["password"]; data != password {
		t.Errorf("the config map holds %q", data)
	}
}

// TestKinds checks the rules for all kinds.
func TestKinds(t *testing.T) {
	var names, plurals, short []string
	empty := statetest.New(statetest.Session).View()
	for _, k := range All() {
		names, plurals, short = append(names, k.Name), append(plurals, k.Plural), append(short, k.ShortNames...)
		if !strings.HasPrefix(k.Doc, k.Name+" ") || !strings.HasSuffix(k.Doc, ".") {
			t.Errorf("%s: doc %q", k.Name, k.Doc)
		}
		for _, c := range k.Columns {
			if c.Name == "" || c.Doc == "" {
				t.Errorf("%s: column %+v", k.Name, c)
			}
			c.Value(k.New())
		}
		if k.Write == nil {
			t.Errorf("%s does not explain why it cannot be written", k.Name)
		}
		o := k.New()
		c := o.DeepCopyObject().(Object)
		c.SetName("other")
		if o.GetName() != "" {
			t.Errorf("%s: DeepCopyObject does not copy", k.Name)
		}
		for i := range k.Items(empty) {
			i.Make()
		}
	}
	for _, list := range [][]string{names, plurals, short} {
		slices.Sort(list)
		if len(slices.Compact(slices.Clone(list))) != len(list) {
			t.Errorf("not unique: %v", list)
		}
	}
	want := "clusters cmdimages cmds configmaps dockercomposeservices dockerimages extensionrepos extensions filewatches imagemaps kubernetesapplies " +
		"kubernetesdiscoveries liveupdates podlogstreams portforwards sessions tiltfiles togglebuttons uibuttons uiresources uisessions"
	if got := strings.Join(plurals, " "); got != want {
		t.Errorf("plurals: %s", got)
	}
}

// TestTables creates every object with a reader that may read only the tables that the object's kind names.
func TestTables(t *testing.T) {
	for _, k := range All() {
		st := store.New(state.Schema)
		rt := store.NewRuntime(st, reader(k.Tables))
		for i := range k.Items(rt.View()) {
			i.Make()
		}
		fill(st)
		for i := range k.Items(rt.View()) {
			i.Make()
		}
	}
}

// fill puts a store into the state of the shop.
func fill(st *store.Store) {
	st.Dispatch(append(append([]store.Action{sessionStarted()}, statetest.Connected()...), shopTiltfile(), webPod())...)
	st.Step()
}

// reader is a subscriber that reads some tables.
type reader []string

// Contract implements store.Subscriber.
func (r reader) Contract() store.Contract {
	c := store.Contract{Name: "Reader"}
	for _, name := range r {
		c.Inputs = append(c.Inputs, store.Input{Table: name})
	}
	return c
}

// Run implements store.Subscriber; it is never called.
func (reader) Run(context.Context, *store.Runtime) error { return nil }

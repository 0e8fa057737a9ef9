package deploy

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/pkg/model"
)

func remembered(kind, name string, fields map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion("v1")
	u.SetKind(kind)
	u.SetNamespace("shop")
	u.SetName(name)
	return u
}

// remember stores an object, with its record.
func remember(t *testing.T, l *Ledger, u *unstructured.Unstructured, written bool) {
	t.Helper()
	if err := l.Record("web", []ObjectRecord{{ObjectID: IDOf(u), UID: "1"}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Remember(u, written); err != nil {
		t.Fatal(err)
	}
}

func filesBelow(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if ignoreMissing(err) != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestRemember stores applied objects and reads them in a later session.
func TestRemember(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "ledger")
	first := remembered("ConfigMap", "conf", map[string]any{"data": map[string]any{"a": secret}, "spec": map[string]any{"n": int64(3), "f": 0.5}})
	l := openLedger(t, dir)
	if got := l.Remembered(IDOf(first)); got != nil {
		t.Errorf("before it was applied: %v", got)
	}
	remember(t, l, first, false)
	if diff := cmp.Diff(first.Object, openLedger(t, dir).Remembered(IDOf(first)).Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if found := leaks(t, state); len(found) > 0 {
		t.Errorf("its content is readable in %v", found)
	}

	second := remembered("ConfigMap", "conf", map[string]any{"data": map[string]any{"a": "two"}})
	remember(t, l, second, false)
	if got := l.Remembered(IDOf(first)); !cmp.Equal(got.Object, first.Object) {
		t.Errorf("an object that was not written replaced what is known: %v", got)
	}
	remember(t, l, second, true)
	if got := l.Remembered(IDOf(first)); !cmp.Equal(got.Object, second.Object) {
		t.Errorf("it is still %v", got)
	}

	other := remembered("ConfigMap", "other", map[string]any{})
	remember(t, l, other, true)
	if err := os.Rename(l.appliedFile(IDOf(other)), l.appliedFile(IDOf(first))); err != nil {
		t.Fatal(err)
	}
	if got := l.Remembered(IDOf(first)); got != nil {
		t.Errorf("the file of another object is read as %v", got)
	}
	if err := os.WriteFile(l.appliedFile(IDOf(first)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := l.Remembered(IDOf(first)); got != nil {
		t.Errorf("an empty file is read as %v", got)
	}
}

// TestRememberSecret stores no value of a Secret, not even encrypted.
func TestRememberSecret(t *testing.T) {
	state := t.TempDir()
	l := openLedger(t, filepath.Join(state, "ledger"))
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	applied := remembered("Secret", "token", map[string]any{"data": map[string]any{"password": encoded(secret), "user": encoded("me")}})
	applied.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"stringData":{"password":"` + secret + `"}}`, "note": "one"})
	before := applied.DeepCopy()
	remember(t, l, applied, true)
	if diff := cmp.Diff(before.Object, applied.Object); diff != "" {
		t.Errorf("the object was changed:\n%s", diff)
	}
	key, err := vaultOf(filepath.Dir(l.path)).read()
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := os.ReadFile(l.appliedFile(IDOf(applied)))
	if err != nil {
		t.Fatal(err)
	}
	raw, ok := openWith(key, sealed, placeOf(IDOf(applied)))
	if !ok {
		t.Fatal("it cannot be opened")
	}
	if err := os.WriteFile(filepath.Join(state, "opened"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if found := leaks(t, state); len(found) > 0 {
		t.Errorf("the value is in %v", found)
	}
	if got := l.Remembered(IDOf(applied), nil, before); !cmp.Equal(got.Object, before.Object) {
		t.Errorf("with the same values at hand, it is %v", got)
	}
	live := remembered("Secret", "token", map[string]any{"data": map[string]any{"password": encoded("another"), "user": encoded("me")}})
	data, _, _ := unstructured.NestedStringMap(l.Remembered(IDOf(applied), live).Object, "data")
	if data["user"] != encoded("me") || data["password"] == encoded("another") || data["password"] == encoded(secret) {
		t.Errorf("with other values at hand, it is %v", data)
	}
	if _, err := base64.StdEncoding.DecodeString(data["password"]); err != nil {
		t.Errorf("the API server would refuse it: %v", err)
	}
}

// TestForget removes the stored object with its record, and keeps it when the record passes on.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	l := openLedger(t, dir)
	a, b := remembered("ConfigMap", "a", map[string]any{}), remembered("ConfigMap", "b", map[string]any{})
	remember(t, l, a, true)
	remember(t, l, b, true)
	if err := l.HandOver("web", map[model.ObjectID]model.ManifestName{IDOf(a): "api"}); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove("web"); err != nil {
		t.Fatal(err)
	}
	if l.Remembered(IDOf(a)) == nil || l.Remembered(IDOf(b)) != nil || filesBelow(t, appliedDir(l.path)) != 1 {
		t.Errorf("a: %v, b: %v", l.Remembered(IDOf(a)), l.Remembered(IDOf(b)))
	}

	later, err := Open(dir, LedgerKey{Cluster: l.key.Cluster, Project: "moved"})
	if err != nil {
		t.Fatal(err)
	}
	if err := later.TakeIn([]string{l.key.Project}); err != nil {
		t.Fatal(err)
	}
	if later.Remembered(IDOf(a)) == nil || filesBelow(t, appliedDir(l.path)) != 0 {
		t.Error("it did not move with the project")
	}
	if err := later.Remove("api"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(appliedDir(later.path)); err == nil {
		t.Error("an empty folder stays")
	}
}

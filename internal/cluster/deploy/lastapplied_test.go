package deploy

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/hone-dev/hone/internal/cluster/ledger"
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
func remember(t *testing.T, l *Memory, u *unstructured.Unstructured, written bool) {
	t.Helper()
	if err := l.Record("web", []ledger.Record{{ObjectID: IDOf(u), UID: "1"}}); err != nil {
		t.Fatal(err)
	}
	if err := l.Remember(u, written); err != nil {
		t.Fatal(err)
	}
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
	raw := l.Note(ledger.Applied, IDOf(applied))
	if raw == nil {
		t.Fatal("it is not stored")
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

const secret = "hunter2-swordfish"

// leaks returns the files below a folder that contain the secret.
func leaks(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

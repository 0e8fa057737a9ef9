package tailfile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestBounds writes more than fits, and reads it after a writer that was killed in the middle of a line.
func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "records")
	const limit = 100
	for i := range 100 {
		f, err := Open(path, limit) // each time another process
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Append(fmt.Appendf(nil, "%d\n", 1000+i)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{path, path + ".1"} {
		if info, err := os.Stat(p); err != nil || info.Size() > limit {
			t.Errorf("%s: %v", p, err)
		}
	}
	out, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = out.WriteString(`{"half`)
	}
	if err != nil || out.Close() != nil {
		t.Fatal(err)
	}
	got := Read[int](path, 100)
	if len(got) < 20 {
		t.Fatalf("only %d records are left", len(got))
	}
	var want []int
	for i := range got {
		want = append(want, 1100-len(got)+i)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if newest := Read[int](path, 3); !cmp.Equal(newest, []int{1098, 1099}) { // and half a line
		t.Errorf("the newest are %v", newest)
	}
	if none := Read[int](path+"none", 1); none != nil {
		t.Errorf("%v", none)
	}
}

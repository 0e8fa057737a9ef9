package hud

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/hud/screen"
)

func TestLayoutIsRemembered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "screens", "shop.json")
	s := openLayout(path)
	want := screen.Layout{LogRows: 12, Order: 1, Folded: []string{"backend"}, Cut: true}
	s.keep(screen.Layout{LogRows: 1})
	s.keep(want)
	s.close()
	again := openLayout(path)
	defer again.close()
	if diff := cmp.Diff(want, again.first); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte("{broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := openLayout(path)
	defer broken.close()
	if diff := cmp.Diff(screen.Layout{}, broken.first); diff != "" {
		t.Error(diff)
	}
	none := openLayout("")
	none.keep(want)
	none.close()
}

package liveupdatetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hone-dev/hone/internal/base/logstore"
	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/update/liveupdate"
)

// deletes deletes a folder in which the container has more files than the local tree had: only the files of the local
// tree are removed, and nothing that is reached through a symbolic link.
func deletes(t *testing.T, p Place) {
	const tree = `cd /app/del && find . | sort; ls /elsewhere`
	p.Ask(t, `mkdir -p /app/del/full/sub /app/del/empty/sub /app/del/real /elsewhere
cd /app/del
touch full/ours full/sub/ours full/sub/theirs empty/ours empty/sub/ours real/precious "with space" '*' /elsewhere/precious
ln -s /elsewhere out; ln -s real in; ln -s /elsewhere link`)
	plan := liveupdate.Plan{Deletes: []string{
		"/app/del/with space", "/app/del/out/precious", "/app/del/out/never", "/app/del/link", "/app/del/in/precious",
		"/app/del/full/sub/ours", "/app/del/full/sub", "/app/del/full/ours", "/app/del/full",
		"/app/del/empty/sub/ours", "/app/del/empty/sub", "/app/del/empty/ours", "/app/del/empty", "/app/del/*",
		"/app/del/real/precious/never",
	}}
	if _, err := p.Updater.Update(t.Context(), p.Container, plan, logstore.Discard); err != nil {
		t.Fatal(problem.Text(err))
	}
	want := `.
./full
./full/sub
./full/sub/theirs
./in
./out
./real
./real/precious
precious
`
	if diff := cmp.Diff(want, p.Ask(t, tree)); diff != "" {
		t.Errorf("after deleting (-want +got):\n%s", diff)
	}
}

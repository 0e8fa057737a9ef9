package folder

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// TestKilledWriter kills processes that save without a pause. Each leaves the document whole, with a version that it has announced or
// the next one, and no lock.
func TestKilledWriter(t *testing.T) {
	if dir := os.Getenv("HONE_FOLDER_TEST"); dir != "" {
		writeForever(New(dir))
	}
	dir := t.TempDir()
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWriter$")
		cmd.Env = append(os.Environ(), "HONE_FOLDER_TEST="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		announced := ""
		for i := 0; i < 20+round && lines.Scan(); i++ {
			announced = lines.Text()
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			announced = lines.Text()
		}
		_ = cmd.Wait()
		s := New(dir)
		doc, err := s.Load(t.Context(), "doc")
		if err != nil {
			t.Fatal(err)
		}
		var last, saved int
		if _, err := fmt.Sscan(announced, &last); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Sscan(string(doc.Data), &saved); err != nil || saved < last || saved > last+1 || !bytes.Equal(doc.Data, content(saved)) {
			t.Fatalf("the document has revision %d after %d was announced: %v", saved, last, err)
		}
	}
}

// content is the data of a revision, which several writes of the system would tear.
func content(revision int) []byte {
	return fmt.Appendf(nil, "%d %s", revision, bytes.Repeat([]byte{byte('a' + revision%26)}, 1<<18))
}

func writeForever(s *Storage) {
	ctx := context.Background()
	for {
		doc, err := s.Load(ctx, "doc")
		if err != nil && !errors.Is(err, storage.ErrMissing) {
			panic(err)
		}
		revision := 0
		_, _ = fmt.Sscan(string(doc.Data), &revision) // none yet
		if _, err := s.Save(ctx, "doc", content(revision+1), doc.Version); err != nil {
			panic(err)
		}
		fmt.Println(revision + 1)
	}
}

package sql

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

func newFile(t *testing.T) (url, path string) {
	path = filepath.Join(t.TempDir(), "a new folder", "50%?#.db")
	return sqliteURL(path), path
}

func TestSQLiteConformance(t *testing.T) {
	url, path := newFile(t)
	storagetest.Conformance(t, func(t *testing.T) storage.Storage { return open(t, url) })
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
}

func TestSQLiteForeignFile(t *testing.T) {
	url, path := newFile(t)
	const text = "This is no database, and it must not become one."
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, url).Save(t.Context(), "a", nil, storage.None)
	wantProblem(t, err, "is no SQLite database")
	if data, err := os.ReadFile(path); string(data) != text {
		t.Errorf("the file has %q, %v", data, err)
	}
}

func TestSQLiteCancelled(t *testing.T) {
	url, _ := newFile(t)
	a, b := open(t, url), open(t, url)
	was, err := a.Save(t.Context(), "a", []byte("one"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	lock := func(statement string) {
		if _, _, err := b.run(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	lock("BEGIN EXCLUSIVE")
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := a.Save(ctx, "a", []byte("two"), was)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Save: %v", err)
	}
	go func() {
		_, err := a.Save(t.Context(), "a", []byte("three"), was)
		failed <- err
	}()
	lock("ROLLBACK")
	if err := <-failed; err != nil {
		t.Errorf("Save after the lock: %v", err)
	}
}

// TestSQLiteKilled kills processes that save.
func TestSQLiteKilled(t *testing.T) {
	const variable, lines, kills = "HONE_TEST_SQLITE_WRITER", 100, 4
	if url := os.Getenv(variable); url != "" { // this process is a writer
		s := open(t, url)
		for i := range lines {
			if err := storagetest.Append(t.Context(), s, "killed", fmt.Sprintf("1 %d\n", i)); err != nil {
				t.Fatal(err)
			}
			fmt.Println("saved", i)
		}
		return
	}
	url, _ := newFile(t)
	s := open(t, url)
	ended := make(chan error, 1)
	go func() {
		for i := range lines {
			if err := storagetest.Append(t.Context(), s, "killed", fmt.Sprintf("0 %d\n", i)); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for i := range kills + 1 {
		writer := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSQLiteKilled$")
		writer.Env = append(os.Environ(), variable+"="+url)
		out, err := writer.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		for n := 0; said.Scan(); n++ {
			if i < kills && n == lines*(i+1)/(kills+1) {
				_ = writer.Process.Kill()
			}
		}
		if err := writer.Wait(); i == kills && err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	doc, err := s.Load(t.Context(), "killed")
	if err != nil {
		t.Fatal(err)
	}
	storagetest.Complete(t, doc.Data, 2, lines)
}

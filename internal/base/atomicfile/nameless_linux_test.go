package atomicfile

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestAKilledProcessLeavesNothing kills a process that is writing a file.
func TestAKilledProcessLeavesNothing(t *testing.T) {
	if path := os.Getenv("ATOMICFILE_TEST_PATH"); path != "" {
		_ = Replace(path, 0o600, func(w io.Writer) error {
			_, _ = io.WriteString(w, "half")
			fmt.Println("writing")
			select {}
		})
		return
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if f := nameless(dir); f == nil {
		t.Skip("every file has a name here")
	} else {
		f.Close()
	}
	if err := Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAKilledProcessLeavesNothing$")
	cmd.Env = append(os.Environ(), "ATOMICFILE_TEST_PATH="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadFull(out, make([]byte, len("writing")))
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("files left: %q", got)
	}
}

// TestCopied gives complete content a name where it can get none.
func TestCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	u, err := begin(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(u, "content"); err != nil {
		t.Fatal(err)
	}
	if err := u.Chmod(0o640); err != nil {
		t.Fatal(err)
	}
	if err := u.copyTo(path); err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	info, err := os.Stat(u.name)
	if text, rerr := os.ReadFile(u.name); err != nil || rerr != nil || string(text) != "content" || info.Mode().Perm() != 0o640 {
		t.Errorf("%q, %v, %v, %v", text, info, err, rerr)
	}
}

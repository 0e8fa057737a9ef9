package filelock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

// holder makes this binary hold the lock of the file that it names, until its input ends.
const holder = "FILELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holder); path != "" {
		if _, err := Lock(context.Background(), path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0) // without giving the lock up
	}
	goleak.VerifyTestMain(m)
}

// hold starts a process that holds the lock of path; the returned function kills it.
func hold(t *testing.T, path string) (kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holder+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	kill = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Kill()
			_, _ = in.Close(), cmd.Wait()
		}
	}
	t.Cleanup(kill)
	if said, err := bufio.NewReader(out).ReadString('\n'); said != "held\n" {
		t.Fatalf("the other process says %q (%v)", said, err)
	}
	return kill
}

func TestAnotherProcessIsRefusedAndWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	kill := hold(t, path)
	if _, free, err := Try(path); free || err != nil {
		t.Errorf("Try says free %v, %v while another process holds the lock", free, err)
	}
	if held, err := Held(path); !held || err != nil {
		t.Errorf("Held says %v, %v while another process holds the lock", held, err)
	}
	gone := errors.New("the user has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := make(chan error, 1)
	go func() {
		_, err := Lock(ctx, path)
		stopped <- err
	}()
	cancel(gone)
	if err := <-stopped; !errors.Is(err, gone) {
		t.Errorf("Lock stopped with %v, want %v", err, gone)
	}

	got := make(chan error, 1)
	go func() {
		unlock, err := Lock(t.Context(), path)
		if err == nil {
			unlock()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("Lock returned (%v) while another process held the lock", err)
	default:
	}
	kill()
	if err := <-got; err != nil {
		t.Errorf("the lock of a killed process: %v", err)
	}
	if held, err := Held(path); held || err != nil {
		t.Errorf("Held says %v, %v after the processes have gone", held, err)
	}
}

func TestHandlesOfOneProcessWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "lock")
		unlock, err := Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second Lock ended with %v, want %v", err, context.DeadlineExceeded)
		}
		time.AfterFunc(time.Second, unlock)
		start := time.Now()
		second, err := Lock(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(start); waited < time.Second {
			t.Errorf("the second has the lock after %v, while the first held it", waited)
		}
		second()
		second() // a second time does nothing
		if held, err := Held(path); held || err != nil {
			t.Errorf("Held says %v, %v", held, err)
		}
	})
}

func TestLockFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lock")
	if held, err := Held(path); held || err != nil {
		t.Errorf("Held says %v, %v of a file that does not exist", held, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Held has made the file: %v", err)
	}
	unlock, free, err := Try(path)
	if err != nil || !free {
		t.Fatal(free, err)
	}
	defer unlock()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the lock file has mode %04o", mode)
	}
	missing := filepath.Join(dir, "missing", "lock")
	_, err = Lock(t.Context(), missing)
	if want := "lock " + missing + ": "; !errors.Is(err, fs.ErrNotExist) || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Errorf("in a folder that does not exist: %v", err)
	}
}

package crash

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hone-dev/hone/internal/test/hostile"
	"github.com/hone-dev/hone/pkg/model"
)

const (
	// crashVariable and fileVariable are set in a process that TestCrash starts to crash it: the way, and the crash file.
	crashVariable = "HONE_TEST_CRASH"
	fileVariable  = "HONE_TEST_CRASH_FILE"

	password = "swordfish-9000"
	key      = "first line of the key\nsecond line of the key"
	// none is the way of a process that ends without a crash.
	none = "none"
)

// crashes are panics on a goroutine that nothing guards, and other ends, with secrets and escape sequences in their texts.
var crashes = map[string]func(){
	"a panic":  func() { panic("it is " + password + " and " + key) },
	"an error": func() { panic(errors.New("it is " + password + " and " + key)) },
	"in base64": func() {
		panic(base64.StdEncoding.EncodeToString([]byte(password)) + base64.StdEncoding.EncodeToString([]byte(key)))
	},
	"sequences":  func() { panic(hostile.All() + password) },
	"in another": func() { defer func() { panic(password) }(); panic(hostile.All() + key) },
	"after a lost monitor": func() {
		theWatch.mu.Lock()
		m := theWatch.monitor
		theWatch.mu.Unlock()
		_ = m.process.Kill()
		<-m.gone
		Hide([]model.Secret{{Name: "late", Key: "key", Value: "barracuda-1000"}})
		panic(password + " barracuda-1000")
	},
}

func TestMain(m *testing.M) {
	if Main(os.Args[1:]) {
		return
	}
	if way := os.Getenv(crashVariable); way != "" {
		err := Stderr()
		end := Watch()
		if way == none {
			m := theWatch.monitor
			end()
			_, _ = fmt.Fprintln(err, m.process.Signal(syscall.Signal(0)))
			return
		}
		if e := Record(os.Getenv(fileVariable)); e != nil {
			_, _ = err.WriteString(e.Error())
		}
		Hide([]model.Secret{{Name: "db", Key: "password", Value: password}})
		Hide([]model.Secret{{Name: "tls", Key: "key", Value: key}})
		_, _ = err.WriteString("before\n")
		go crashes[way]()
		select {}
	}
	os.Exit(m.Run())
}

// TestCrash crashes a process in each way. Neither its crash file nor standard error has a secret or an escape sequence, and both have the
// stack.
func TestCrash(t *testing.T) {
	for name := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "crash")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd := exec.Command(os.Args[0])
			cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), crashVariable+"="+name, fileVariable+"="+path), &out, &out
			if err := cmd.Run(); err == nil {
				t.Error("the process did not crash")
			}
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if before, shown, _ := strings.Cut(out.String(), "\n"); before != "before" || shown != string(file) {
				t.Errorf("standard error and the file differ:\n%s\n%s", &out, file)
			}
			for _, bad := range []string{password, "line of the key", "barracuda", base64.StdEncoding.EncodeToString([]byte(password))[:16], base64.StdEncoding.EncodeToString([]byte(key))[:16]} {
				if bytes.Contains(file, []byte(bad)) {
					t.Errorf("it has %q:\n%s", bad, file)
				}
			}
			if found := hostile.Found(string(file)); found != "" {
				t.Errorf("it has %q:\n%s", found, file)
			}
			for _, want := range []string{"panic: ", "[redacted secret ", "goroutine ", "crash.init"} {
				if !bytes.Contains(file, []byte(want)) {
					t.Errorf("it lacks %q:\n%s", want, file)
				}
			}
		})
	}
}

// TestEnd ends the monitor with its process, so that no zombie stays.
func TestEnd(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashVariable+"="+none)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != os.ErrProcessDone.Error()+"\n" {
		t.Errorf("the monitor after the end: %s, %v", out, err)
	}
}

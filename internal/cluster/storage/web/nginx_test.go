package web

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/base/retry"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// TestNginx refuses WebDAV of nginx, which has strong ETags and ignores the conditions of writes.
func TestNginx(t *testing.T) {
	alone(t)
	program := filepath.Join(os.Getenv("HONE_TEST_S3"), "nginx")
	if _, err := os.Stat(program); err != nil {
		t.Skip("nginx is not there: scripts/s3/build gets it, and HONE_TEST_S3 names its folder")
	}
	dir := t.TempDir()
	err := storage.Check(t.Context(), open(t, startNginx(t, program, dir)))
	if p, ok := problem.Of(err); !ok || !strings.Contains(err.Error(), "it ignores If-None-Match") || p.Mend == "" {
		t.Errorf("Check: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "files", "check-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("Check left %q, %v", left, err)
	}
}

// startNginx runs nginx with files in a folder, and returns its URL.
func startNginx(t *testing.T, program, dir string) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/log;
events {}
http {
	access_log off; client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	server { listen %[2]s; root %[1]s/files; dav_methods PUT DELETE; create_full_put_path on; }
}
`, dir, address)
	path := filepath.Join(dir, "conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "files"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-p", dir, "-c", path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return "http://" + address
		}
		if !retry.Sleep(ctx, 10*time.Millisecond) {
			log, _ := os.ReadFile(filepath.Join(dir, "log"))
			t.Fatalf("nginx does not listen: %s", log)
		}
	}
}

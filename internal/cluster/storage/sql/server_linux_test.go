package sql

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hone-dev/hone/internal/cluster/storage/sql/sqltest"
	"github.com/hone-dev/hone/internal/test/freeport"
)

// newServer starts a PostgreSQL server, and keeps the variables and files of its user out of the test.
func newServer(t *testing.T, dir string) *sqltest.Server {
	t.Helper()
	for _, v := range os.Environ() {
		if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "PG") {
			t.Setenv(name, value) // restored at the end
			os.Unsetenv(name)
		}
	}
	t.Setenv("HOME", t.TempDir())
	port, err := freeport.Next()
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqltest.New(t.Context(), dir, port)
	if errors.Is(err, sqltest.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// shortDir returns a folder whose path leaves room for the name of a Unix socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hone-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func overTCP(s *sqltest.Server, role string) string {
	return fmt.Sprintf("postgres://%s@localhost:%d/postgres", role, s.Port)
}

func overSocket(s *sqltest.Server, role string) string {
	return fmt.Sprintf("postgres://%s@/postgres?host=%s&port=%d", role, s.Dir, s.Port)
}

// admin runs statements as the server's administrator.
func admin(t *testing.T, s *sqltest.Server, statements string) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), overSocket(s, sqltest.Role))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// cutter passes connections on to a server's Unix socket.
type cutter struct {
	url  string
	cut  atomic.Bool // the next answer does not arrive: its connection breaks instead
	hold atomic.Bool // the next answer does not arrive, and its connection stays
}

func newCutter(t *testing.T, s *sqltest.Server) *cutter {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{url: fmt.Sprintf("postgres://%s@%s/postgres?sslmode=disable", sqltest.Role, l.Addr())}
	var conns sync.WaitGroup
	ended := make(chan struct{})
	lost := func() bool {
		if c.hold.Swap(false) {
			<-ended
		}
		return c.cut.Swap(false)
	}
	conns.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(s.Dir, fmt.Sprintf(".s.PGSQL.%d", s.Port)))
			if err != nil {
				client.Close()
				continue
			}
			conns.Go(func() { pass(server, client, func() bool { return false }) })
			conns.Go(func() { pass(client, server, lost) })
		}
	})
	t.Cleanup(func() {
		close(ended)
		l.Close()
		conns.Wait()
	})
	return c
}

// pass copies from a connection to another one until one of them ends, or cuts says so.
func pass(to, from net.Conn, cuts func() bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil || cuts() {
			return
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

package sql

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/sql/sqltest"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
)

func TestPostgres(t *testing.T) {
	s := newServer(t, shortDir(t))
	t.Run("conformance", func(t *testing.T) {
		storagetest.Conformance(t, func(t *testing.T) storage.Storage { return open(t, overSocket(s, sqltest.Role)) })
	})
	for name, test := range map[string]func(*testing.T, *sqltest.Server){
		"credentials": credentials, "permissions": permissions, "other clocks": otherClocks, "a cancelled write": cancelledWrite,
		"a lost answer": lostAnswer, "a dead connection": deadConnection, "restarted": restarted, "killed": killed,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// credentials come from the places from which psql takes them.
func credentials(t *testing.T, s *sqltest.Server) {
	url := overTCP(s, sqltest.Role)
	works := func(url string) {
		t.Helper()
		if _, err := open(t, url).List(t.Context(), ""); err != nil {
			t.Error(err)
		}
	}
	_, err := open(t, url).List(t.Context(), "")
	wantProblem(t, err, "refuses the password", ".pgpass", "PGPASSWORD")

	home := t.TempDir()
	pgpass, services := filepath.Join(home, "pgpass"), filepath.Join(home, "services")
	line := fmt.Sprintf("localhost:%d:postgres:%s:%s\n", s.Port, sqltest.Role, sqltest.Password)
	service := fmt.Sprintf("[ledgers]\nhost=localhost\nport=%d\nuser=%s\ndbname=postgres\n", s.Port, sqltest.Role)
	if err := errors.Join(os.WriteFile(pgpass, []byte(line), 0o600), os.WriteFile(services, []byte(service), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGPASSFILE", pgpass)
	works(url)
	t.Setenv("PGSERVICEFILE", services)
	works("postgres://?service=ledgers")
	t.Setenv("PGSERVICE", "ledgers")
	works("postgres://")

	t.Setenv("PGPASSFILE", os.DevNull)
	t.Setenv("PGPASSWORD", sqltest.Password)
	works(url)
	t.Setenv("PGPASSWORD", "hush")
	_, err = open(t, url).List(t.Context(), "")
	wantProblem(t, err, "refuses the password")
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the error has the password: %v", err)
	}
	_, err = open(t, strings.Replace(url, "/postgres", "/none", 2)).List(t.Context(), "")
	wantProblem(t, err)
}

// permissions of a role that must not create the table.
func permissions(t *testing.T, s *sqltest.Server) {
	admin(t, s, `CREATE ROLE worker LOGIN`)
	admin(t, s, `CREATE DATABASE apart`)
	url := strings.Replace(overSocket(s, "worker"), "/postgres?", "/apart?", 1)
	worker := open(t, url)
	_, err := worker.Load(t.Context(), "a")
	wantProblem(t, err, "lacks a permission", "GRANT SELECT, INSERT, UPDATE, DELETE ON hone.documents_v1")

	owner := open(t, strings.Replace(overSocket(s, sqltest.Role), "/postgres?", "/apart?", 1))
	if _, err := owner.Save(t.Context(), "a", []byte("one"), storage.None); err != nil {
		t.Fatal(err)
	}
	_, err = worker.Load(t.Context(), "a")
	wantProblem(t, err, "lacks a permission")

	conn, err := pgconn.Connect(t.Context(), strings.Replace(overSocket(s, sqltest.Role), "/postgres?", "/apart?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	grants := `GRANT USAGE ON SCHEMA hone TO worker; GRANT SELECT, INSERT, UPDATE, DELETE ON hone.documents_v1 TO worker`
	if _, err := conn.Exec(t.Context(), grants).ReadAll(); err != nil {
		t.Fatal(err)
	}
	doc, err := worker.Load(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	is, err := worker.Save(t.Context(), "a", []byte("two"), doc.Version)
	if err != nil {
		t.Fatal(err)
	}
	if err := worker.Delete(t.Context(), "a", is); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, url+"&default_transaction_read_only=on").Save(t.Context(), "a", nil, storage.None)
	wantProblem(t, err, "read-only", "target_session_attrs=read-write")
}

// otherClocks shows that no time decides anything: documents come from clocks that are wrong by ten minutes and more.
func otherClocks(t *testing.T, s *sqltest.Server) {
	a, b := open(t, overSocket(s, sqltest.Role)), open(t, overSocket(s, sqltest.Role))
	was, err := a.Save(t.Context(), "clock", []byte("one"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []string{"10 minutes", "-10 minutes", "1 year"} {
		admin(t, s, `UPDATE hone.documents_v1 SET written = now() + interval '`+off+`'`)
		if was, err = b.Save(t.Context(), "clock", []byte(off), was); err != nil {
			t.Fatal(err)
		}
		if doc, err := a.Load(t.Context(), "clock"); err != nil || string(doc.Data) != off {
			t.Fatalf("%q, %v", doc.Data, err)
		}
	}
}

// cancelledWrite waits for a lock of another transaction, and does not outlive its context.
func cancelledWrite(t *testing.T, s *sqltest.Server) {
	a := open(t, overSocket(s, sqltest.Role))
	was, err := a.Save(t.Context(), "cancelled", []byte("one"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgconn.Connect(t.Context(), overSocket(s, sqltest.Role))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT * FROM hone.documents_v1 FOR UPDATE`).ReadAll(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := a.Save(ctx, "cancelled", []byte("two"), was)
		failed <- err
	}()
	for waits := `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`; ; {
		if r := conn.ExecParams(t.Context(), waits, nil, nil, nil, nil).Read(); r.Err != nil || len(r.Rows) > 0 {
			break
		}
	}
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Save: %v", err)
	}
}

// lostAnswer breaks connections after a statement was executed.
func lostAnswer(t *testing.T, s *sqltest.Server) {
	proxy := newCutter(t, s)
	a := open(t, proxy.url)
	was, err := a.Save(t.Context(), "lost", []byte("one"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func() error{
		"update": func() (err error) { was, err = a.Save(t.Context(), "lost", []byte("two"), was); return },
		"create": func() error { _, err := a.Save(t.Context(), "lost-too", []byte("two"), storage.None); return err },
	} {
		proxy.cut.Store(true)
		if err := write(); err != nil || proxy.cut.Load() {
			t.Errorf("%s: %v (cut: %v)", name, err, !proxy.cut.Load())
		}
	}
	doc, err := a.Load(t.Context(), "lost")
	if err != nil || string(doc.Data) != "two" || doc.Version != was {
		t.Fatalf("Load returns %q of version %q, %v; Save returned version %q", doc.Data, doc.Version, err, was)
	}
	proxy.cut.Store(true)
	if err := a.Delete(t.Context(), "lost", was); err != nil {
		t.Errorf("Delete: %v", err)
	}
	const lines = 30
	for i := range lines {
		proxy.cut.Store(i%3 > 0)
		if err := storagetest.Append(t.Context(), a, "lines", fmt.Sprintf("0 %d\n", i)); err != nil {
			t.Fatal(err)
		}
	}
	if doc, err = a.Load(t.Context(), "lines"); err != nil {
		t.Fatal(err)
	}
	storagetest.Complete(t, doc.Data, 1, lines)
}

// deadConnection does not answer, and does not break either.
func deadConnection(t *testing.T, s *sqltest.Server) {
	before := tryFor
	t.Cleanup(func() { tryFor = before })
	tryFor = storage.Patience / 100
	proxy := newCutter(t, s)
	a := open(t, proxy.url)
	was, err := a.Save(t.Context(), "dead", []byte("one"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	proxy.hold.Store(true)
	if was, err = a.Save(t.Context(), "dead", []byte("two"), was); err != nil {
		t.Fatal(err)
	}
	proxy.hold.Store(true)
	if doc, err := a.Load(t.Context(), "dead"); err != nil || doc.Version != was || proxy.hold.Load() {
		t.Errorf("version %q, %v; want %q", doc.Version, err, was)
	}
}

// restarted shows that a connection that the server closed meanwhile is not noticed.
func restarted(t *testing.T, s *sqltest.Server) {
	a := open(t, overSocket(s, sqltest.Role))
	was, err := a.Save(t.Context(), "restarted", []byte("one"), storage.None)
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	_, err = open(t, overSocket(s, sqltest.Role)).Load(t.Context(), "restarted")
	wantProblem(t, err, "cannot connect")
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if was, err = a.Save(t.Context(), "restarted", []byte("two"), was); err != nil {
		t.Fatal(err)
	}
	if doc, err := a.Load(t.Context(), "restarted"); err != nil || doc.Version != was {
		t.Fatal(doc.Version, err)
	}
}

// killed kills the server three times while two writers save.
func killed(t *testing.T, s *sqltest.Server) {
	const lines, kills = 100, 3
	saves := make(chan struct{}, 10_000)
	writers := []storage.Storage{counted{open(t, overSocket(s, sqltest.Role)), saves}, counted{open(t, overSocket(s, sqltest.Role)), saves}}
	var killer sync.WaitGroup
	killer.Go(func() {
		for range kills {
			for range len(writers) * lines / (kills + 1) {
				<-saves
			}
			s.Kill()
			if err := s.Start(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	storagetest.Revisions(t, open(t, overSocket(s, sqltest.Role)), lines, writers...)
	killer.Wait()
}

// counted tells about each document that was saved.
type counted struct {
	storage.Storage
	saves chan<- struct{}
}

func (c counted) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	is, err := c.Storage.Save(ctx, name, data, was)
	if err == nil {
		c.saves <- struct{}{}
	}
	return is, err
}

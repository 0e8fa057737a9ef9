package sql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/hone-dev/hone/internal/base/problem"
)

const sqliteTable = `CREATE TABLE IF NOT EXISTS documents_v1 (
	name TEXT PRIMARY KEY,
	version TEXT NOT NULL,
	data BLOB NOT NULL,
	written TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
)`

// A commit is on the disk before it is answered. The rollback journal leaves a single file, which can be copied while no process writes;
// a write-ahead log would make writes faster and leave three files.
//
// SQLite waits for another process's lock for a tenth of a second, during which no context ends it. So it is asked up to lockTries times.
const (
	sqliteSettings = "?_pragma=busy_timeout(100)&_pragma=journal_mode(DELETE)&_pragma=synchronous(FULL)"
	lockTries      = 100
)

// sqliteFile is one connection to an SQLite database.
type sqliteFile struct {
	path string
	conn sqliteConn // nil until it is needed
}

// sqliteConn is the driver's connection.
type sqliteConn interface {
	driver.Conn
	driver.QueryerContext
}

func openSQLite(address string) (*Storage, error) {
	rest := strings.TrimPrefix(address, "sqlite://")
	path, err := url.PathUnescape(rest)
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/") // of /C:/folder/file.db
	}
	path = filepath.FromSlash(path)
	if err != nil || strings.ContainsAny(rest, "?#") || !isFile(path) {
		return nil, problem.New("the URL of an SQLite database has to name a file by its absolute path", "write sqlite:///PATH, with three slashes")
	}
	f := &sqliteFile{path: path}
	return newStorage(f, dialect{table: "documents_v1", param: "?"}, address), nil
}

// isFile reports whether a path is absolute and can be a file's.
func isFile(path string) bool {
	return filepath.IsAbs(path) && !os.IsPathSeparator(path[len(path)-1])
}

func (f *sqliteFile) run(ctx context.Context, statement string, args ...any) ([]row, error) {
	var err error
	for range lockTries {
		var rows []row
		if rows, err = f.try(ctx, statement, args...); !isCode(err, sqlite3.SQLITE_BUSY) || ctx.Err() != nil {
			return rows, f.explain(err)
		}
	}
	return nil, problem.Wrap(err, "another process keeps the SQLite database locked", "see which one: fuser "+f.path)
}

// try runs one statement on the connection, which is opened first if necessary.
func (f *sqliteFile) try(ctx context.Context, statement string, args ...any) ([]row, error) {
	if f.conn == nil {
		if err := f.open(ctx); err != nil {
			f.close()
			return nil, err
		}
	}
	return f.query(ctx, statement, args...)
}

// creating is held while a file is created: to close a file releases all locks that the process has on it.
var creating sync.Mutex

// create creates the file if there is none. Only its owner can read it; SQLite gives its journal the same mode.
func (f *sqliteFile) create() error {
	creating.Lock()
	defer creating.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(f.path, os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		return file.Close()
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return err
}

// open opens the file, and creates file and table if they are missing.
func (f *sqliteFile) open(ctx context.Context) error {
	if err := f.create(); err != nil {
		return err
	}
	conn, err := (&sqlite.Driver{}).Open((&url.URL{Scheme: "file", Path: filepath.ToSlash(f.path)}).String() + sqliteSettings)
	if err != nil {
		return err
	}
	var ok bool
	if f.conn, ok = conn.(sqliteConn); !ok {
		return errors.New("the driver of SQLite cannot query")
	}
	_, err = f.query(ctx, sqliteTable)
	return err
}

// query runs one statement and reads its rows to the end, which commits it.
func (f *sqliteFile) query(ctx context.Context, statement string, args ...any) (list []row, err error) {
	named := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	rows, err := f.conn.QueryContext(ctx, statement, named)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	values := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		columns := make(row, len(values))
		for i, v := range values {
			columns[i] = bytesOf(v)
		}
		list = append(list, columns)
	}
}

// bytesOf returns a column as bytes of its own.
func bytesOf(v driver.Value) []byte {
	if text, ok := v.(string); ok {
		return []byte(text)
	}
	data, _ := v.([]byte)
	return append([]byte{}, data...)
}

func (f *sqliteFile) close() {
	if f.conn != nil {
		_ = f.conn.Close()
	}
	f.conn = nil
}

// explain turns an error into a problem if the user can act on it.
func (f *sqliteFile) explain(err error) error {
	for code, trouble := range sqliteTroubles {
		if isCode(err, code) || errors.Is(err, fs.ErrPermission) && code == sqlite3.SQLITE_CANTOPEN {
			return problem.Wrap(err, fmt.Sprintf(trouble.summary, f.path), trouble.mend)
		}
	}
	return err
}

// sqliteTroubles are the errors that the user can act on.
var sqliteTroubles = map[int]struct{ summary, mend string }{
	sqlite3.SQLITE_FULL:     {"no space is left for the SQLite database %s", "make room on its disk"},
	sqlite3.SQLITE_READONLY: {"the SQLite database %s is read-only", "permit its user to write the file and its folder"},
	sqlite3.SQLITE_CANTOPEN: {"cannot open the SQLite database %s", "permit its user to write the file and its folder"},
	sqlite3.SQLITE_NOTADB:   {"%s is no SQLite database", "name another file: hone leaves this one alone"},
	sqlite3.SQLITE_CORRUPT:  {"the SQLite database %s is damaged", "restore it from a backup; is it on a network file system? SQLite needs a local one"},
}

// isCode reports whether an error of SQLite has this primary code.
func isCode(err error, code int) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && failed.Code()&0xff == code
}

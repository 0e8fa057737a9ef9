package sql

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hone-dev/hone/internal/cluster/storage"
)

// database runs statements. Only one goroutine uses it at a time.
type database interface {
	// run runs one statement, which is a transaction by itself, and returns its rows. It connects first if necessary, and creates the
	// table if it is missing. Arguments are strings and bytes. The error is errLost if the statement may have been executed.
	run(ctx context.Context, statement string, args ...any) ([]row, error)
	close()
}

// row has the columns of a row.
type row [][]byte

// errLost says that a statement was sent, and the connection broke before the answer.
var errLost = errors.New("the database did not answer")

// dialect is the part of the statements in which databases differ.
type dialect struct {
	table string
	param string // comes before the number of a parameter
}

// Storage keeps documents in a table.
type Storage struct {
	db      database
	dialect dialect
	address string
	turn    chan struct{} // holds a token while a goroutine uses db
}

var _ storage.Storage = (*Storage)(nil)

func newStorage(db database, d dialect, address string) *Storage {
	return &Storage{db: db, dialect: d, address: address, turn: make(chan struct{}, 1)}
}

// Every statement with a condition on the version is a compare-and-set. It returns a row if the condition held.
const (
	load   = `SELECT version, data FROM TABLE WHERE name = $1`
	list   = `SELECT name FROM TABLE WHERE substr(name, 1, length($1)) = $1`
	create = `INSERT INTO TABLE (name, version, data) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING name`
	update = `UPDATE TABLE SET version = $2, data = $3, written = CURRENT_TIMESTAMP WHERE name = $1 AND version = $4 RETURNING name`
	remove = `DELETE FROM TABLE WHERE name = $1 AND version = $2 RETURNING name`
	look   = `SELECT version FROM TABLE WHERE name = $1`
)

// Load implements storage.Storage.
func (s *Storage) Load(ctx context.Context, name string) (storage.Document, error) {
	if err := storage.CheckName(name); err != nil {
		return storage.Document{}, err
	}
	rows, _, err := s.run(ctx, load, name)
	if err != nil {
		return storage.Document{}, fmt.Errorf("load %s from %s: %w", name, s.address, err)
	}
	if len(rows) == 0 {
		return storage.Document{}, storage.ErrMissing
	}
	return storage.Document{Version: storage.Version(rows[0][0]), Data: rows[0][1]}, nil
}

// Save implements storage.Storage. The new version is random and known beforehand: if an answer is lost, the version in the table tells
// whether the write took place.
func (s *Storage) Save(ctx context.Context, name string, data []byte, was storage.Version) (storage.Version, error) {
	if err := storage.CheckName(name); err != nil {
		return storage.None, err
	}
	if data == nil {
		data = []byte{} // not NULL
	}
	is := rand.Text()
	statement, args := update, []any{name, is, data, string(was)}
	if was == storage.None {
		statement, args = create, args[:3]
	}
	rows, lost, err := s.run(ctx, statement, args...)
	now := storage.Version(is)
	switch {
	case err == nil && len(rows) > 0:
		return now, nil
	case err == nil && !lost:
		return storage.None, storage.ErrStale
	case err == nil:
		if now, err = s.version(ctx, name); err == nil && now != storage.Version(is) {
			err = errLost // written and replaced since then, or never written
		}
	}
	if err != nil {
		return storage.None, fmt.Errorf("save %s in %s: %w", name, s.address, err)
	}
	return now, nil
}

// Delete implements storage.Storage.
func (s *Storage) Delete(ctx context.Context, name string, was storage.Version) error {
	if err := storage.CheckName(name); err != nil {
		return err
	}
	rows, _, err := s.run(ctx, remove, name, string(was))
	if err == nil && len(rows) > 0 {
		return nil
	}
	var now storage.Version
	if err == nil {
		now, err = s.version(ctx, name)
	}
	if err != nil {
		return fmt.Errorf("delete %s from %s: %w", name, s.address, err)
	}
	if now != storage.None {
		return storage.ErrStale
	}
	return nil
}

// List implements storage.Storage.
func (s *Storage) List(ctx context.Context, prefix string) ([]string, error) {
	rows, _, err := s.run(ctx, list, prefix)
	if err != nil {
		return nil, fmt.Errorf("list the documents of %s: %w", s.address, err)
	}
	var names []string
	for _, r := range rows {
		names = append(names, string(r[0]))
	}
	slices.Sort(names)
	return names, nil
}

// String implements storage.Storage.
func (s *Storage) String() string { return s.address }

// Close implements storage.Storage. It waits for a statement that is running.
func (s *Storage) Close() error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.db.close()
	return nil
}

// version returns the version of a document, or None.
func (s *Storage) version(ctx context.Context, name string) (storage.Version, error) {
	rows, _, err := s.run(ctx, look, name)
	if err != nil || len(rows) == 0 {
		return storage.None, err
	}
	return storage.Version(rows[0][0]), nil
}

// run runs a statement. If its answer is lost, it runs the statement once more, on a new connection; no statement has a further effect
// the second time. Lost reports that.
func (s *Storage) run(ctx context.Context, statement string, args ...any) (rows []row, lost bool, err error) {
	select {
	case <-ctx.Done():
		return nil, false, ctx.Err()
	case s.turn <- struct{}{}:
	}
	defer func() { <-s.turn }()
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	statement = strings.NewReplacer("TABLE", s.dialect.table, "$", s.dialect.param).Replace(statement)
	rows, err = s.db.run(ctx, statement, args...)
	if lost = errors.Is(err, errLost); lost && ctx.Err() == nil {
		rows, err = s.db.run(ctx, statement, args...)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return rows, lost, err
}

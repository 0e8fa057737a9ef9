// Package sql is a storage in a table of a PostgreSQL or SQLite database. It runs one statement for each write, and a condition of the
// statement compares the version, so that the database decides between two writers.
package sql

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/hone-dev/hone/internal/base/problem"
)

// Schemes are the schemes of the URLs that Open accepts.
var Schemes = []string{"postgres", "postgresql", "sqlite"}

// Open returns the storage at a URL:
//
//	postgres://[user@]host[:port]/database[?sslmode=…]
//	sqlite:///path/of/file.db
//
// PostgreSQL's environment variables and files complete the first one, as they do for psql. Open connects to nothing: the first use does.
func Open(address string) (*Storage, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read the URL of a database: %w", withoutURL(err))
	}
	switch u.Scheme {
	case "postgres", "postgresql":
		return openPostgres(address, u)
	case "sqlite":
		return openSQLite(address)
	}
	return nil, problem.New(fmt.Sprintf("%s:// is no database", u.Scheme), "write postgres://HOST/DATABASE or sqlite:///PATH")
}

// withoutURL removes the URL from an error of package url: it may have a password.
func withoutURL(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return parse.Err
	}
	return err
}

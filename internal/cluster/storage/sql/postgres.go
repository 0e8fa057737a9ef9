package sql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hone-dev/hone/internal/base/problem"
	"github.com/hone-dev/hone/internal/cluster/storage"
)

// The schema has a name, so that the search path of a role does not decide which table it uses.
const (
	postgresSchema = `CREATE SCHEMA IF NOT EXISTS hone`
	postgresTable  = `CREATE TABLE IF NOT EXISTS hone.documents_v1 (
	name text PRIMARY KEY,
	version text NOT NULL,
	data bytea NOT NULL,
	written timestamptz NOT NULL DEFAULT CURRENT_TIMESTAMP
)`
)

// patienceSeconds is how long a server may take to accept a connection, unless the user says otherwise.
const patienceSeconds = "10"

// postgres is one connection to a PostgreSQL server.
type postgres struct {
	config *pgconn.Config
	conn   *pgconn.PgConn // nil until it is needed
	ending sync.WaitGroup // of connections that broke
	end    func()         // ends what the connections still do
}

// during returns a dialer whose connections end with a context, too. A broken connection takes seconds to tell a server to cancel its
// statement; who closes the storage does not wait for a server that is silent.
func during(life context.Context, dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		conn, err := dial(ctx, network, address)
		if err == nil {
			context.AfterFunc(life, func() { _ = conn.Close() })
		}
		return conn, err
	}
}

func openPostgres(address string, u *url.URL) (*Storage, error) {
	query := u.Query()
	_, inUser := u.User.Password()
	if inUser || query.Has("password") || query.Has("sslpassword") {
		return nil, problem.New("the URL of the database has a password", "leave it out; write it into ~/.pgpass (HOST:PORT:DATABASE:USER:PASSWORD, "+
			"mode 0600) or set PGPASSWORD, and for a client key PGSSLPASSWORD")
	}
	config, err := pgconn.ParseConfig(address)
	if err == nil && config.ConnectTimeout == 0 {
		before, _, _ := strings.Cut(address, "?")
		query.Set("connect_timeout", patienceSeconds)
		config, err = pgconn.ParseConfig(before + "?" + query.Encode())
	}
	if err != nil {
		return nil, problem.Wrap(err, "the settings of the PostgreSQL database are wrong", "see the URL, and the variables PG… of the environment")
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "hone"
	}
	life, end := context.WithCancel(context.Background())
	config.DialFunc = during(life, config.DialFunc)
	return newStorage(&postgres{config: config, end: end}, dialect{table: "hone.documents_v1", param: "$"}, address), nil
}

// The types of arguments, and the format of binary data, as the protocol numbers them.
const (
	typeText, typeBytes = 25, 17
	binary              = 1
)

func (p *postgres) run(ctx context.Context, statement string, args ...any) ([]row, error) {
	rows, err := p.try(ctx, statement, args...)
	if !isState(err, "42P01", "3F000") { // no table, no schema
		return rows, err
	}
	made := p.makeTable(ctx)
	rows, err = p.try(ctx, statement, args...)
	if isState(err, "42P01", "3F000") && made != nil {
		return nil, made
	}
	return rows, err
}

// makeTable creates the table. It fails where another process is creating it, too.
func (p *postgres) makeTable(ctx context.Context) error {
	_, schema := p.try(ctx, postgresSchema) // fails without permission, though the schema may exist and permit a table
	_, table := p.try(ctx, postgresTable)
	if isState(table, "3F000") {
		return schema
	}
	return table
}

// tryFor bounds one statement. A connection that has not answered by then is dead, as after the sleep of a laptop, and another one may
// answer at once.
var tryFor = storage.Patience / 3

// try runs one statement on the connection.
func (p *postgres) try(ctx context.Context, statement string, args ...any) ([]row, error) {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	if err := p.connect(ctx); err != nil {
		return nil, p.explain(err)
	}
	values, types := make([][]byte, len(args)), make([]uint32, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			values[i], types[i] = []byte(arg), typeText
		case []byte:
			values[i], types[i] = arg, typeBytes
		}
	}
	formats := []int16{binary}
	if len(args) == 0 {
		formats = nil
	}
	result := p.conn.ExecParams(ctx, statement, values, types, formats, []int16{binary}).Read()
	if result.Err != nil {
		return nil, p.explain(result.Err)
	}
	rows := make([]row, len(result.Rows))
	for i, r := range result.Rows {
		rows[i] = r
	}
	return rows, nil
}

// connect makes a connection, unless there is one.
func (p *postgres) connect(ctx context.Context) error {
	if p.conn != nil && !p.conn.IsClosed() {
		return nil
	}
	p.forget()
	conn, err := pgconn.ConnectConfig(ctx, p.config)
	if err == nil {
		p.conn = conn
	}
	return err
}

// forget leaves a broken connection to its cleanup.
func (p *postgres) forget() {
	if conn := p.conn; conn != nil {
		p.ending.Go(func() { <-conn.CleanupDone() })
	}
	p.conn = nil
}

func (p *postgres) close() {
	if p.conn != nil && !p.conn.IsClosed() {
		_ = p.conn.Close(context.Background())
	}
	p.forget()
	p.end()
	p.ending.Wait()
}

// explain turns an error into a problem if the user can act on it, and into errLost if the statement may have been executed.
func (p *postgres) explain(err error) error {
	if isState(err, "40001", "40P01") { // rolled back in favour of another transaction
		return fmt.Errorf("%w: %w", errLost, err)
	}
	var server *pgconn.PgError
	if errors.As(err, &server) {
		if trouble, ok := postgresTroubles[server.Code]; ok {
			return problem.Wrap(err, trouble.summary, trouble.mend)
		}
	}
	var unmade *pgconn.ConnectError
	switch {
	case errors.As(err, &unmade):
		return problem.Wrap(err, "cannot connect to the PostgreSQL database",
			"check that the server runs, and that host, port and sslmode are right: psql takes the same URL and variables")
	case p.conn.IsClosed():
		return fmt.Errorf("%w: %w", errLost, err)
	}
	return err
}

// postgresTroubles are the server's errors that the user can act on.
var postgresTroubles = map[string]struct{ summary, mend string }{
	"28P01": {"the PostgreSQL server refuses the password", "write it into ~/.pgpass (HOST:PORT:DATABASE:USER:PASSWORD, mode 0600), or set PGPASSWORD"},
	"28000": {"the PostgreSQL server refuses the role", "name the role in the URL or in PGUSER; its administrator permits it in pg_hba.conf"},
	"3D000": {"the PostgreSQL server has no such database", "create it (createdb NAME), or name another one in the URL"},
	"42501": {"the role lacks a permission in the PostgreSQL database", "permit it to make the table (GRANT CREATE ON DATABASE … TO role), or make the table, and then:\n" +
		"GRANT USAGE ON SCHEMA hone TO role;\nGRANT SELECT, INSERT, UPDATE, DELETE ON hone.documents_v1 TO role;"},
	"25006": {"the PostgreSQL database is read-only", "name the primary server, or add target_session_attrs=read-write to the URL"},
	"53100": {"the PostgreSQL server's disk is full", "make room on it"},
	"53300": {"the PostgreSQL server has too many connections", "raise max_connections, or close others"},
}

// isState reports whether an error of the server has one of these codes.
func isState(err error, codes ...string) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && slices.Contains(codes, server.Code)
}

//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/hone-dev/hone/internal/cluster/storage"
	"github.com/hone-dev/hone/internal/cluster/storage/folder"
	"github.com/hone-dev/hone/internal/cluster/storage/kube"
	"github.com/hone-dev/hone/internal/cluster/storage/s3"
	"github.com/hone-dev/hone/internal/cluster/storage/s3/s3test"
	"github.com/hone-dev/hone/internal/cluster/storage/sql"
	"github.com/hone-dev/hone/internal/cluster/storage/sql/sqltest"
	"github.com/hone-dev/hone/internal/cluster/storage/storagetest"
	"github.com/hone-dev/hone/internal/cluster/storage/web"
	"github.com/hone-dev/hone/internal/test/freeport"
)

// storageKind is a kind of storage: it opens one below a folder, and closes what it started for it.
type storageKind struct {
	name string
	open func(ctx context.Context, b *bench, dir string) (s storage.Storage, end func(), err error)
}

var storageKinds = []storageKind{{"folder", openFolder}, {"SQLite", openSQLite}, {"PostgreSQL", openPostgres}, {"kube", openKube},
	{"HTTP", openHTTP}, {"versitygw", openS3(s3test.Programs[0])}, {"gofakes3", openS3(s3test.Programs[1])}}

// recordSizes are the sizes of the ledger of 300 and of 1,000 records.
var recordSizes = []struct {
	what  string
	bytes int
}{{"60 KB (300 records)", 60_000}, {"200 KB (1,000 records)", 200_000}}

// storageRounds is how often a document is saved and loaded.
const storageRounds = 40

// measureStorages saves and loads documents in each kind of storage.
func measureStorages(ctx context.Context, b *bench) error {
	b.table.section("storages of the ledger", "baseline: a file of the same size is written and synced to the disk")
	var errs []error
	for _, k := range storageKinds {
		if err := b.storage(ctx, k); err != nil {
			errs = append(errs, fmt.Errorf("the storage %s: %w", k.name, err))
		}
	}
	return errors.Join(errs...)
}

func (b *bench) storage(ctx context.Context, k storageKind) error {
	dir, err := os.MkdirTemp("", "hone-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, end, err := k.open(ctx, b, dir)
	if errors.Is(err, sqltest.ErrNone) || errors.Is(err, s3test.ErrNone) {
		b.table.print(row{k.name, "not measured", "", err.Error()})
		return nil
	}
	if err != nil {
		return err
	}
	defer end()
	defer s.Close()
	for _, size := range recordSizes {
		data := make([]byte, size.bytes)
		_, _ = rand.Read(data) // as the ledger's are: compressed
		synced, err := repeat(storageRounds, func() error { return writeSynced(filepath.Join(dir, "baseline"), data) })
		if err != nil {
			return err
		}
		var v storage.Version
		name := fmt.Sprint(size.bytes)
		saves, err := repeat(storageRounds, func() (err error) {
			data[0]++ // other data
			v, err = s.Save(ctx, name, data, v)
			return err
		})
		if err != nil {
			return err
		}
		loads, err := repeat(storageRounds, func() error { _, err := s.Load(ctx, name); return err })
		if err != nil {
			return err
		}
		for _, f := range []struct {
			what string
			times
		}{{"save", saves}, {"load", loads}} {
			b.table.print(row{k.name + ": " + f.what + " " + size.what, f.String(), ratio(f.median(), synced.median(), "file"), ""})
		}
	}
	return nil
}

// writeSynced writes a file and waits until it is on the disk.
func writeSynced(path string, data []byte) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Sync(), file.Close())
}

func nothing() {}

func openFolder(_ context.Context, _ *bench, dir string) (storage.Storage, func(), error) {
	return folder.New(filepath.Join(dir, "documents")), nothing, nil
}

func openSQLite(_ context.Context, _ *bench, dir string) (storage.Storage, func(), error) {
	s, err := sql.Open("sqlite://" + filepath.Join(dir, "documents.db"))
	return s, nothing, err
}

func openPostgres(ctx context.Context, _ *bench, dir string) (storage.Storage, func(), error) {
	port, err := freeport.Next()
	if err != nil {
		return nil, nil, err
	}
	server, err := sqltest.New(ctx, dir, port)
	if err == nil {
		err = server.Start(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	s, err := sql.Open(fmt.Sprintf("postgres://%s@/postgres?host=%s&port=%d", sqltest.Role, dir, port))
	return s, server.Stop, err
}

func openKube(ctx context.Context, b *bench, _ string) (storage.Storage, func(), error) {
	namespace, remove, err := b.cluster.namespace(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := kube.Open("kube://"+namespace, b.cluster.Client, "")
	return s, remove, err
}

func openHTTP(context.Context, *bench, string) (storage.Storage, func(), error) {
	server := httptest.NewServer(&storagetest.Server{})
	s, err := web.New(server.URL)
	return s, server.Close, err
}

// openS3 returns a function that opens a storage on a server of its own.
func openS3(p s3test.Program) func(context.Context, *bench, string) (storage.Storage, func(), error) {
	return func(ctx context.Context, _ *bench, dir string) (storage.Storage, func(), error) {
		server, err := s3test.Start(ctx, p, dir)
		if err != nil {
			return nil, nil, err
		}
		if err := errors.Join(os.Setenv("AWS_ACCESS_KEY_ID", s3test.User), os.Setenv("AWS_SECRET_ACCESS_KEY", s3test.Password)); err != nil {
			return nil, nil, err
		}
		s, err := s3.New(server.URL())
		return s, server.Kill, err
	}
}

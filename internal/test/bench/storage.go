//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/hone-dev/hone/internal/cluster/ledger"
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
	"github.com/hone-dev/hone/pkg/model"
)

// storageKind is a kind of storage: it opens one below a folder, and closes what it started for it.
type storageKind struct {
	name string
	open func(ctx context.Context, b *bench, dir string) (s storage.Storage, end func(), err error)
}

var storageKinds = []storageKind{{"folder", openFolder}, {"SQLite", openSQLite}, {"PostgreSQL", openPostgres}, {"kube", openKube},
	{"HTTP", openHTTP}, {"versitygw", openS3(s3test.Programs[0])}, {"gofakes3", openS3(s3test.Programs[1])}}

// ledgerSizes are the numbers of records of the measured ledgers.
var ledgerSizes = []int{300, 1000}

// storageRounds is the number of times that a ledger is saved and loaded.
const storageRounds = 40

// measureStorages changes and reads ledgers in each kind of storage.
func measureStorages(ctx context.Context, b *bench) error {
	b.table.section("ledgers: one record changes and is saved; all are loaded", "baseline: a file with the same records, as plain JSON, is written and synced to the disk")
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
	for _, n := range ledgerSizes {
		if err := b.ledger(k.name, s, dir, n); err != nil {
			return fmt.Errorf("%d records: %w", n, err)
		}
	}
	return nil
}

// ledger measures a ledger of n records, each of a resource of its own.
func (b *bench) ledger(kind string, s storage.Storage, dir string, n int) error {
	records := ledger.Records{}
	for i := range n {
		records[resourceOf(i)] = []ledger.Record{recordOf(i, 0)}
	}
	plain, err := json.Marshal(records)
	if err != nil {
		return err
	}
	synced, err := repeat(storageRounds, func() error { return writeSynced(filepath.Join(dir, "baseline"), plain) })
	if err != nil {
		return err
	}
	l, err := ledger.Open(s, ledger.Key{Cluster: "bench", Project: fmt.Sprint(n)}, ledger.Options{Dir: dir})
	if err != nil {
		return err
	}
	if err := l.RecordAll(records); err != nil {
		return err
	}
	round := 0
	saves, err := repeat(storageRounds, func() error {
		round++
		return l.Replace(resourceOf(round), []ledger.Record{recordOf(round, round)}, model.Cmd{})
	})
	if err != nil {
		return err
	}
	loads, err := repeat(storageRounds, l.Refresh)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		what string
		times
	}{{"save", saves}, {"load", loads}} {
		b.table.print(row{fmt.Sprintf("%s: %s, %d records", kind, f.what, n), f.String(), ratio(f.median(), synced.median(), "file"), ""})
	}
	return nil
}

func resourceOf(i int) model.ManifestName { return model.ManifestName(fmt.Sprintf("service-%d", i)) }

// recordOf returns the record of the Deployment of a service, which was applied in a round.
func recordOf(i, round int) ledger.Record {
	id := model.ObjectID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: string(resourceOf(i))}
	uid := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Append(nil, i, round))
	return ledger.Record{ObjectID: id, APIVersion: "apps/v1", UID: uid.String()}
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

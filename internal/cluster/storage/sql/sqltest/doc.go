// Package sqltest runs a PostgreSQL server for tests and measurements, on Linux.
package sqltest

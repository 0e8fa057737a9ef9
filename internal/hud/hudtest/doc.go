// Package hudtest makes snapshots and logs for the tests of the terminal's packages: a shop of a few services of which
// some are well, some fail, and some wait.
package hudtest

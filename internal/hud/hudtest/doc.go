// Package hudtest makes snapshots and logs for the tests of the terminal's packages: a shop with a few services, some of which
// run well, some fail, and some wait.
package hudtest

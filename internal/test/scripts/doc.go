// Package scripts tests the scripts that set up a development cluster, with recording programs in place of the tools they call.
package scripts

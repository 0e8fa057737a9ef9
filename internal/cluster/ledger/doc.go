// Package ledger records the objects and commands that hone has applied for one project, so that any later run, on this machine or on
// another one, can collect leftovers and take everything down. It also keeps revisions: the objects at that time, who applied them, when,
// and with which result.
//
// A ledger consists of documents in a storage. The head has the records, the commands and a line for each revision; every change
// replaces it by compare-and-set, so that no writer loses the change of another one. Beside it are notes, which explain but are not
// needed (the declaration that was applied last, the state of an adopted object before hone took it over), and one document for each
// earlier revision, with its objects. In a folder of this machine, notes are small files; elsewhere they share one document.
//
// A Ledger starts no goroutine; a Lease has one, which renews it until Release.
package ledger

// Package status describes the state of each resource: a word for it, its ports and addresses, and the reasons. Screen, page,
// objects, tables and reports format this answer; none of them decides by itself.
package status

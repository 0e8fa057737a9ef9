// Package status answers how each resource is: its state, the words for it, its ports and addresses, and why. Screen, page, objects,
// tables and reports format this answer; none of them decides by itself.
package status

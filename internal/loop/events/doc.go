// Package events converts the store's events to the events that the API documents, follows them without silent gaps, and
// describes them for people.
package events

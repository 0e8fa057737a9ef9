// Package events turns the store's events into those that the API documents, follows them without missing any in silence,
// and puts them into words for people.
package events

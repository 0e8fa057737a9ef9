// Package liveupdatetest holds the suite that every liveupdate.Updater passes in a real container.
package liveupdatetest

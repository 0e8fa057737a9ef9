// Package project tells which project a Tiltfile is, so that hone finds its records and knows its objects in the cluster:
// whichever path leads to the Tiltfile, and also after its folder was moved.
//
// A project is the folder in which a Tiltfile is evaluated, its file name, and a kubeconfig context. Its ID is made of these
// when hone meets it first, and then kept in a record. The record names the folder by its path, and by what stays when a
// folder is moved: its inode and its time of birth.
package project

// Package dryrun checks a Corefile without serving it. It parses the whole file as CoreDNS does, runs the set-up of
// Trident's plugins and tries what they name: lists, upstream names, certificates, etcd. Of the other plugins it checks
// that they exist and that their blocks are well formed, since the set-up of some (kubernetes, for one) works only where
// the server is going to run. It opens no listener and changes nothing.
package dryrun

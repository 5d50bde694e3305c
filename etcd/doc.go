// Package etcd is the CoreDNS plugin of that name: it answers from records that are kept in etcd, in the model of SkyDNS.
//
// Package mirror keeps a copy of the keys of each zone, package index has it in the form that questions are answered
// from, and package plugin/backend answers them. This package reads the Corefile, owns what those need, decides whether
// what is known may still be told, and writes replies. A question never waits for etcd.
package etcd

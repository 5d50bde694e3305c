// Package skydns is the record model of SkyDNS: what a key of etcd and its JSON value say about a name.
//
// Parse turns a value into a Record once, when it is loaded, and says with one of a closed set of reasons why it cannot.
// What Parse lets through can be put on the wire whatever it is asked for; nothing is found out when a reply is packed.
// Decode and Value are for those who write values.
//
// A key is a name turned around: the labels of a.b.example.org. below the prefix /skydns are /skydns/org/example/b/a. The
// part below the prefix is called a path here; Prefix.Path and PathOf make them so that a key and a question for its
// name give the same string, upper case or not.
package skydns

// Package relay sends a question to one of several name servers that are equals: it spreads questions over them, goes on
// to another one when the first does not answer or cannot help, and leaves those alone that are known to be down.
//
// What a server's connections and health know is shared by all groups that name it, through internal/upstream, and
// outlives a group whose successor names it, too.
package relay

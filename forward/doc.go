// Package forward is a CoreDNS plugin that sends questions to upstream resolvers. It replaces the in-tree plugin of the
// same name and reads the same Corefile.
//
// What it does is to choose: which questions are sent on ([Forward] and its zones), to which upstream (policy), in which
// order and how often (pursuit), and what becomes of the reply (rules). How a question travels is the business of
// internal/upstream; what an upstream's connections and health know is shared between configurations and survives a
// reload.
//
// Each of these parts is a function of values, so that it can be read and tested without a socket. Importing the package
// registers the plugin.
package forward

// Package backend answers questions from records in the model of SkyDNS: A, AAAA, CNAME, SRV, TXT, PTR, MX, NS, SOA and
// whatever else a record's type says, with the zone's apex, wildcards, delegations, chains and glue.
//
// A plugin with a store of its own brings a View, which tells the zones and shows one state of their records, and
// Settings. Resolver.Lookup then gives the sections of a reply. Lookups are functions of what they are given: the
// package keeps no state, starts no goroutine but for names outside of the zones (Question.Outside), waits for nothing
// else, and does not write.
//
// Two modes tell which records are those of a name. In the mode of SkyDNS (SkyDNS) a name has all records at and below
// it, the labels "*" and "any" of a question match any one label of a key, and the records below dns/ns, dns/apex and
// dns/stub of a zone are no part of that: they answer for those names and for the zone's apex only. In the other (Exact)
// a name has the records of that name; a record belongs to the name of its key less the labels that targetstrip drops.
//
// Bounds: a walk ends after MaxRecords records that match or MaxSteps that do not, all walks of a question after
// MaxTotalSteps, a chain after MaxChain names, and at most MaxOutside names are looked up elsewhere for one question, all
// at the same time.
package backend

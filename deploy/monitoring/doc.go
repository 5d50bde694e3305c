// Package monitoring holds a Grafana dashboard and Prometheus alert rules, and the tests that keep them true.
package monitoring

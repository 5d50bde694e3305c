//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"golang.org/x/sys/unix"
)

// missing says what is not as wanted; nil when all is.
func (w wanted) missing() error {
	i, err := net.InterfaceByName(w.name)
	if err != nil {
		return fmt.Errorf("interface %s: %w", w.name, err)
	}
	if i.Flags&net.FlagUp == 0 {
		return fmt.Errorf("interface %s is down", w.name)
	}
	lacking, err := w.lacking(i)
	if err != nil {
		return err
	}
	if len(lacking) > 0 {
		return fmt.Errorf("interface %s lacks %v", w.name, lacking)
	}
	return nil
}

// lacking returns the addresses that the interface does not have.
func (w wanted) lacking(i *net.Interface) ([]netip.Prefix, error) {
	addrs, err := i.Addrs()
	if err != nil {
		return nil, fmt.Errorf("addresses of %s: %w", w.name, err)
	}
	var has []netip.Prefix
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			has = append(has, p)
		}
	}
	return slices.DeleteFunc(slices.Clone(w.addresses), func(p netip.Prefix) bool { return slices.Contains(has, p) }), nil
}

// ensure makes everything as wanted and says whether something was not. Another process that does the same at the same
// time is no error.
func (w wanted) ensure() (changed bool, err error) {
	if w.missing() == nil {
		return false, nil
	}
	c, err := dial()
	if err != nil {
		return false, err
	}
	defer c.close()
	i, err := net.InterfaceByName(w.name)
	if err != nil {
		switch err := c.do(newLink(w.name, w.kind)); {
		case errors.Is(err, unix.EOPNOTSUPP):
			return false, fmt.Errorf("making interface %s: this kernel has no %s interfaces: load its module %[2]s, "+
				"or name an interface that is there, such as lo: %w", w.name, w.kind, err)
		case err != nil && !errors.Is(err, unix.EEXIST):
			return false, fmt.Errorf("making interface %s: %w", w.name, err)
		}
		if i, err = net.InterfaceByName(w.name); err != nil {
			return false, fmt.Errorf("interface %s was made and is not there: %w", w.name, err)
		}
	}
	if i.Flags&net.FlagUp == 0 {
		if err := c.do(setUp(i.Index)); err != nil {
			return false, fmt.Errorf("bringing up %s: %w", w.name, err)
		}
	}
	lacking, err := w.lacking(i)
	if err != nil {
		return false, err
	}
	for _, p := range lacking {
		if err := c.do(addAddress(i.Index, p)); err != nil && !errors.Is(err, unix.EEXIST) {
			return false, fmt.Errorf("adding %v to %s: %w", p, w.name, err)
		}
	}
	return true, w.missing()
}

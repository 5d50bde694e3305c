// Package deploytest tests what is in deploy/: that every manifest is a valid object, that the objects of an overlay fit
// each other and the Corefile in them, and that the image's root file system serves.
package deploytest

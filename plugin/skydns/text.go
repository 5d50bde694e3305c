package skydns

import "strings"

// maxString is the longest character-string of RFC 1035, section 3.3.
const maxString = 255

// SplitText cuts a text into the character-strings of a TXT record, in the form that package dns keeps them in.
func SplitText(text string) []string {
	parts := make([]string, 0, len(text)/maxString+1)
	for len(text) > maxString {
		parts = append(parts, escapeText(text[:maxString]))
		text = text[maxString:]
	}
	return append(parts, escapeText(text))
}

// escapeText keeps package dns from reading escapes where there are none.
func escapeText(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.ReplaceAll(s, `\`, `\\`)
}

package forward

import (
	"context"

	ot "github.com/opentracing/opentracing-go"
	otext "github.com/opentracing/opentracing-go/ext"
)

// trace begins the span of one attempt, a child of the question's span, and returns the context that carries it and
// what ends it. Without a span in ctx it does nothing.
func trace(ctx context.Context, addr string) (context.Context, func(error)) {
	parent := ot.SpanFromContext(ctx)
	if parent == nil {
		return ctx, untraced
	}
	span := parent.Tracer().StartSpan("connect", ot.ChildOf(parent.Context()))
	otext.PeerAddress.Set(span, addr)
	return ot.ContextWithSpan(ctx, span), func(err error) {
		if err != nil {
			otext.Error.Set(span, true)
		}
		span.Finish()
	}
}

func untraced(error) {}

import type { TraceContext } from '../lib/trace-context.ts';

/** Kinds of spans by their numbers in OTLP. */
export const SPAN_KIND = { internal: 1, server: 2, client: 3, consumer: 5 } as const;

export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** A span that has ended. */
export interface EndedSpan {
  context: TraceContext;
  parentSpanId: string | undefined;
  name: string;
  kind: keyof typeof SPAN_KIND;
  /** Milliseconds since 1970, with fractions. */
  startedAt: number;
  endedAt: number;
  attributes: Attributes;
  isError: boolean;
}

const ERROR_STATUS = 2;

/** Writes spans as a request of OTLP over HTTP in JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export function otlpRequest(resource: Attributes, version: string, spans: readonly EndedSpan[]): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'homeport', version }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf(span: EndedSpan): object {
  const { context, parentSpanId, name, kind, startedAt, endedAt, attributes, isError } = span;
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind: SPAN_KIND[kind],
    startTimeUnixNano: nanoseconds(startedAt),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: attributesOf(attributes),
    status: isError ? { code: ERROR_STATUS } : {},
  };
}

/** Microseconds are exact as a number, nanoseconds are not. */
const nanoseconds = (ms: number): string => `${Math.round(ms * 1_000)}000`;

function attributesOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }];
  });
}

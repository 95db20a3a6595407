import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as the collector got it. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code?: number };
  attributes: Record<string, string>;
  /** Attributes of the process that sent it. */
  resource: Record<string, string>;
}

export interface TraceCollector {
  url: string;
  /** Path and headers of each request. */
  requests: { path: string | undefined; headers: IncomingHttpHeaders; text: string }[];
  /** The spans of the requests that were answered by 200. */
  spans: ReceivedSpan[];
  /** The status of the next answers. A promise delays them. */
  answer: () => number | Promise<number>;
  close(): Promise<void>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string };
}

const named = (attributes: Attribute[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']));

/** A collector of OTLP over HTTP in JSON on 127.0.0.1. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    collector.requests.push({ path: request.url, headers: request.headers, text });
    const status = await collector.answer();
    if (status === 200) collector.spans.push(...spansOf(text));
    response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    spans: [],
    answer: () => 200,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return collector;
}

function spansOf(text: string): ReceivedSpan[] {
  interface Sent {
    resourceSpans: {
      resource: { attributes: Attribute[] };
      scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes'> & { attributes: Attribute[] })[] }[];
    }[];
  }
  const { resourceSpans }: Sent = JSON.parse(text);
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: named(span.attributes),
        resource: named(resource.attributes),
      })),
    ),
  );
}

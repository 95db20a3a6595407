import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as the receiver got it. */
export interface ReceivedMessage {
  headers: IncomingHttpHeaders;
  body: string;
  event: { id: string; type: string; install_id: string | null; data: Record<string, unknown> };
}

export interface WebhookReceiver {
  url: string;
  port: number;
  received: ReceivedMessage[];
  /** The status of the answer, by message; 204 by default. A promise delays the answer. */
  answer: (message: ReceivedMessage) => number | Promise<number>;
  /** Headers of every answer. */
  headers: Record<string, string>;
  close(): Promise<void>;
}

/** A receiver of webhooks on 127.0.0.1. */
export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const message = { headers: request.headers, body, event: JSON.parse(body) };
      receiver.received.push(message);
      const status = await receiver.answer(message);
      response.writeHead(status, receiver.headers).end(status === 204 ? undefined : `status ${status}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const address = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${address.port}/hook`,
    port: address.port,
    received: [],
    answer: () => 204,
    headers: {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

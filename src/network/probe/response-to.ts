import type { ClientRequest, IncomingMessage } from 'node:http';

/** Sends a request, and waits for the head of its response. Rejects if the connection ends before it, or switches protocols. */
export function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  request.on('response', resolve);
  request.on('upgrade', (_response, socket) => {
    socket.destroy();
    reject(new Error('switched protocols without a request to do so'));
  });
  request.on('error', reject);
  // For a connection that ends without a response or an error. After either, it changes nothing.
  request.on('close', () =>
    reject(Object.assign(new Error('closed without an answer'), { code: 'ECONNRESET' })),
  );
  request.end();
  return promise;
}

/** Closes the connection of a response without its body, and returns an empty body. */
export function leaveUnread(response: IncomingMessage): string {
  // Destroying the response before its end raises an error that does not matter here.
  response.on('error', () => {});
  response.destroy();
  return '';
}

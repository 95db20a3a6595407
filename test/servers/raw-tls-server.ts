import { createServer, type Socket } from 'node:net';
import type { TestSite } from './tls-servers.ts';

const HANDSHAKE = 22;
const TLS12 = [3, 3];
/** TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256 */
const CIPHER = [0xc0, 0x2b];
const MOST_OF_RECORD = 16_384;

/**
 * A server that presents these bytes as its certificates, which no TLS library would load. It speaks TLS 1.2, where they are not encrypted, and only
 * as far as to them (RFC 5246 section 7.4.2).
 */
export async function startRawTlsServer(certificates: readonly Uint8Array[]): Promise<TestSite> {
  const sockets = new Set<Socket>();
  const hello = message(2, Buffer.from([...TLS12, ...Buffer.alloc(32, 7), 0, ...CIPHER, 0]));
  const list = Buffer.concat(certificates.map((one) => Buffer.concat([length(one), one])));
  const presented = message(11, Buffer.concat([length(list), list]));
  const answer = Buffer.concat([hello, presented, message(14, Buffer.alloc(0))]);
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => socket.write(records(answer)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    address: '127.0.0.1',
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async remove() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function length({ length: bytes }: Uint8Array): Buffer {
  return Buffer.from([bytes >> 16, bytes >> 8, bytes]);
}

function message(type: number, body: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([type]), length(body), body]);
}

function records(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += MOST_OF_RECORD) {
    const part = bytes.subarray(at, at + MOST_OF_RECORD);
    parts.push(Buffer.from([HANDSHAKE, ...TLS12, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(parts);
}

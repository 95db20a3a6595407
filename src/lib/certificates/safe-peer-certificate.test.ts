import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { expect, it } from 'vitest';
import { createSelfSigned } from './self-signed-certificate.ts';
import './safe-peer-certificate.ts';

const SOURCES = join(import.meta.dirname, '../..');

it('describes the certificate of a server without the rest of its chain, which crashes Node', async () => {
  const made = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
  const server = createServer({ cert: made.chain, key: made.key }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ca: made.chain });
  try {
    await once(socket, 'secureConnect');
    expect(socket.authorized).toBe(true);
    const certificate = socket.getPeerCertificate(true);
    expect(certificate).toMatchObject({ subject: { CN: 'localhost' }, subjectaltname: 'DNS:localhost' });
    // Node itself adds both, and reads the keys of all certificates for it.
    expect(certificate).not.toHaveProperty('issuerCertificate');
    expect(certificate).not.toHaveProperty('pubkey');
  } finally {
    socket.destroy();
    server.close();
  }
});

// A handshake with such a server ends the process, so the long tests make it in another one (test/faults/odd-servers).
it.each([
  'main.ts',
  'network/webhooks/sender-thread.ts',
  'network/probe/get.ts',
  'network/probe/handshake.ts',
  'network/probe/ask-edge.ts',
  'features/domains/certificates/uploads/client-verdict.ts',
])('%s, which connects to servers of others, imports it', async (file) => {
  expect(await readFile(join(SOURCES, file), 'utf8')).toMatch(
    /^import '(\.\.?\/)+(lib\/)?certificates\/safe-peer-certificate\.ts';$/m,
  );
});

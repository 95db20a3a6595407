/**
 * The process of odd-servers.test.ts, whose end would be the fault. Connects to servers with odd certificates with each client of the platform, as
 * the program does, and prints how that ended. Its arguments: ports of web servers and of mail servers, in JSON.
 */
import '../../src/lib/certificates/safe-peer-certificate.ts';
import ipaddr from 'ipaddr.js';
import { pino } from 'pino';
import Type from 'typebox';
import { Parse } from 'typebox/value';
import { systemClock as clock } from '../../src/lib/clock.ts';
import { messageOf } from '../../src/lib/error-message.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { createAuthority } from '../../src/network/acme/acme-authority.ts';
import { createS3Storage } from '../../src/network/object-storage/s3.ts';
import { createSender } from '../../src/network/webhooks/sender.ts';

const ports = Parse(
  Type.Object({ web: Type.Array(Type.Number()), mail: Type.Array(Type.Number()) }),
  JSON.parse(process.argv[2] ?? ''),
);
const log = pino({ level: 'silent' });
const signal = new AbortController().signal;
const sender = createSender({ servers: [], allowed: [ipaddr.parseCIDR('127.0.0.0/8')] });
const outcomes: { client: string; outcome: string }[] = [];

async function note(client: string, work: Promise<unknown>): Promise<void> {
  const outcome = await work.then(String, messageOf);
  outcomes.push({ client, outcome });
}

// A sender does not keep its process alive.
setInterval(() => {}, 60_000);
for (const port of ports.web) {
  const url = `https://localhost:${port}`;
  const message = {
    url: `https://127.0.0.1:${port}/`,
    id: 'x',
    timestamp: 1,
    body: '{}',
    secrets: ['whsec_eA=='],
  };
  await note(
    'webhook',
    sender.send(message).then(({ error, status }) => `${status}: ${error}`),
  );
  const storage = createS3Storage({ endpoint: url, pathStyle: true, credentials: null, log });
  await note('s3', storage.get({ bucket: 'bucket', region: 'us-east-1', key: 'key' }));
  storage.close();
  const settings = { directoryUrl: `${url}/directory`, contact: null, termsAgreed: true };
  // Without the authorities of the environment, like every connection to an authority.
  const authority = createAuthority({ ...settings, ca: process.env.ODD_AUTHORITY ?? null }, { clock, log });
  await note('acme', authority.about(signal));
}
for (const port of ports.mail) {
  const settings = {
    smtpUrl: `smtps://localhost:${port}`,
    mailFrom: 'a@example.com',
    dataDir: '/nonexistent',
  };
  await note('smtp', createMailer(settings, clock).verify());
}
await sender.close();
process.stdout.write(`${JSON.stringify(outcomes)}\n`);
process.exit(0);

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseMail } from '../../test/mails.ts';
import { systemClock } from '../lib/clock.ts';
import { createMailer } from './mailer.ts';

it('writes mails to files without encoding or folding their text', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-mail-'));
  const mailer = createMailer({ smtpUrl: null, mailFrom: 'Homeport <h@x.example>', dataDir }, systemClock);
  const text = `Grüße, öffne\n\n  https://homeport.example/invitations/${'x'.repeat(80)}\n`;
  await mailer.send({ to: 'jürgen@x.example', subject: 'Einladung zu Müller & Söhne', text });
  const [file = ''] = readdirSync(join(dataDir, 'mail'));
  const written = readFileSync(join(dataDir, 'mail', file));
  expect(written.toString('utf8')).toContain(text.replaceAll('\n', '\r\n'));
  expect(written.toString('utf8').match(/^content-/gim)).toHaveLength(2);
  expect(parseMail(written.toString('latin1')).text).toBe(text);
});

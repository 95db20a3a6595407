import { once } from 'node:events';
import { pino } from 'pino';
import { SMTPServer } from 'smtp-server';
import { expect, it } from 'vitest';
import { startTestHomeport } from '../../../../test/homeport.ts';
import { mailsTo, parseMail, type ReadMail } from '../../../../test/mails.ts';
import { manualClock } from '../../../../test/manual-clock.ts';

it('an invitation goes by SMTP with the configured login, and is retried after a temporary failure', async () => {
  const received: ReadMail[] = [];
  let busy = true;
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      if (username === 'homeport' && password === 'mail secret') done(null, { user: username });
      else done(new Error('wrong user name or password'));
    },
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (busy) {
          busy = false;
          done(Object.assign(new Error('try again later'), { responseCode: 451 }));
        } else {
          received.push(parseMail(Buffer.concat(chunks).toString('latin1')));
          done();
        }
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('the mail server has no port');
  const told: string[] = [];
  const time = manualClock(new Date());
  const other = await startTestHomeport({
    clock: time,
    log: pino({ level: 'trace' }, { write: (line) => told.push(line) }),
    environment: {
      HOMEPORT_SMTP_URL: `smtp://homeport:mail%20secret@127.0.0.1:${address.port}`,
      HOMEPORT_MAIL_FROM: 'Hosting <hosting@agency.example>',
      HOMEPORT_INVITATION_DAYS: '1',
    },
  });
  try {
    const { accountId: account, owner: by } = await other.ownedAccount();
    await by.client.post(`/accounts/${account}/account_users`, {
      user: {
        account_id: account,
        first_name: 'Frida',
        last_name: 'Full',
        email: 'frida@agency.example',
        roles: 'full',
      },
    });
    await other.idle();
    expect(busy).toBe(false);
    expect(received).toEqual([]);
    time.advance(60_000);
    await other.idle();
    expect(received).toMatchObject([
      {
        from: 'Hosting <hosting@agency.example>',
        to: 'frida@agency.example',
        subject: 'You are invited to An account',
        text: expect.stringContaining('The link works once, for 1 day.\n'),
      },
    ]);
    expect(received[0]?.text).toContain(`${other.origin}/invitations/`);
    expect(mailsTo(other, 'frida@agency.example')).toEqual([]);
    const jobs = await other.platform.database.reader
      .selectFrom('jobs')
      .select(['state', 'error'])
      .where('kind', '=', 'send_invitation')
      .execute();
    expect(jobs).toMatchObject([{ state: 'succeeded' }]);
    expect(told.filter((line) => line.includes('secret'))).toEqual([]);
  } finally {
    await other.remove();
    await new Promise<void>((resolve) => server.close(resolve));
  }
});

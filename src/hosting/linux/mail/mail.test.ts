import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import type { MailLogEntry } from '../../policy/mail/mail-log.ts';
import { createMailQueue, type MailQueue, MOST_WAITING } from './mail-queue.ts';
import { createMailSockets, type MailSockets } from './mail-sockets.ts';
import { smtpError, startRelay, type TestRelay } from './relay.fixture.ts';
import { createRelay, isLoopback } from './relay.ts';
import { sendmailProgram } from './sendmail-program.ts';

const EVERYTHING = { installId: null, ids: null };

let folder: string;
let relay: TestRelay;
let clock: ManualClock;
let queue: MailQueue;
let sockets: MailSockets;
let entries: { install: string; entry: MailLogEntry }[];
let perHour: number;
const shop = { id: randomUUID(), name: 'shop', gid: process.getgid?.() ?? 0 };
const blog = { id: randomUUID(), name: 'blog', gid: process.getgid?.() ?? 0 };
const log = pino({ level: 'silent' });

const mailSocketOf = (id: string) => join(folder, `${id}.sock`);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-mail-'));
  relay = await startRelay();
  clock = manualClock();
  entries = [];
  perHour = 100;
  await begin();
});
afterEach(async () => {
  await end();
  await relay.close();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the host's part, as after a restart. */
async function begin(url: string | null = relay.url, keptFree = 0): Promise<void> {
  const appendLog = (install: string, entry: MailLogEntry) => void entries.push({ install, entry });
  const isTrial = (name: string) => name.startsWith('trial-');
  queue = createMailQueue({
    folder: join(folder, 'queue'),
    relay: url === null ? null : createRelay({ url, credentialsFile: null }),
    ...{ appendLog, clock, log, keptFree },
  });
  await queue.start();
  sockets = createMailSockets({
    layout: { mailSocketOf },
    submitterOf: (install) => ({
      install,
      sender: `${install.name}@${install.name}.sites.example`,
      siteDomain: 'sites.example',
      ownDomain: `${install.name}.sites.example`,
      portalHost: 'portal.example',
      perHour,
    }),
    ...{ queue, isTrial, appendLog, clock, random: systemRandomness, log },
  });
  await sockets.open(shop);
  await sockets.open(blog);
}

async function end(): Promise<void> {
  await sockets.stop();
  await queue.stop();
}

async function program(install: { id: string }): Promise<string> {
  const path = join(folder, `${install.id}-sendmail`);
  await writeFile(path, sendmailProgram({ mailSocketOf }, install.id));
  await chmod(path, 0o755);
  return path;
}

/** Runs the sendmail of an install. */
async function sendmail(message: string, args = ['-t', '-i'], install: { id: string } = shop) {
  const child: ChildProcess = spawn(await program(install), args, { stdio: ['pipe', 'ignore', 'pipe'] });
  const { stdin, stderr } = child;
  if (stdin === null || stderr === null) throw new Error('the program has no standard input');
  stdin.on('error', () => {});
  stdin.end(message);
  const [reason, [code]] = await Promise.all([readText(stderr), once(child, 'close')]);
  return { code, reason };
}

const message = (to: string, subject = 'Hello') => `To: ${to}\nSubject: ${subject}\n\nHello.\n`;
const eventsOf = (install = shop) =>
  entries.filter((one) => one.install === install.id).map(({ entry }) => entry.event);
const empty = () => expect.poll(() => queue.report(EVERYTHING).messages).toBe(0);
const contents = () => readdir(join(folder, 'queue', 'messages'));

describe('sendmail', () => {
  it('hands a message to the relay with a fixed envelope sender', async () => {
    const given =
      'From: Shop <hello@shop.example>\nTo: Ann <ann@x.example>\nBcc: eve@x.example\nReceived: from bank\nSubject: Hi\n\nLine\n.\n..end\n';
    expect(await sendmail(given, ['-t', '-i', '-fceo@bank.example'])).toEqual({ code: 0, reason: '' });
    await expect.poll(() => eventsOf()).toEqual(['queued', 'sent']);
    expect(relay.received).toHaveLength(1);
    const [got] = relay.received;
    expect(got).toMatchObject({ from: 'shop@shop.sites.example', to: ['ann@x.example', 'eve@x.example'] });
    expect(got?.text).toContain('\r\nFrom: Shop <hello@shop.example>\r\n');
    expect(got?.text).toMatch(/\r\n\r\nLine\r\n\.\r\n\.\.end\r\n$/);
    expect(got?.text).not.toMatch(/eve@|bank/);
    expect(entries.map(({ entry }) => entry)).toMatchObject([
      { event: 'queued', recipient_count: 2 },
      {
        event: 'sent',
        recipients: ['ann@x.example', 'eve@x.example'],
        reason: expect.stringContaining('250'),
      },
    ]);
    expect(await contents()).toEqual([]);
  });

  it('takes recipients as arguments, ends at a single dot, and completes a text without a head', async () => {
    expect(
      (await sendmail('Hello.\n.\nnot sent\n', ['-oem', '-F', 'Shop', 'a@x.example,b@x.example'])).code,
    ).toBe(0);
    await empty();
    expect(relay.received[0]?.to).toEqual(['a@x.example', 'b@x.example']);
    expect(relay.received[0]?.text).toMatch(/From: shop@shop\.sites\.example\r\n.*\r\n\r\nHello\.\r\n$/s);
  });

  it.each<[string, string, string[], number, RegExp]>([
    ['no recipient', 'Subject: x\n\nx', ['-t', '-i'], 67, /no recipient/],
    ['a recipient with a line break', 'x', ['a@x.example\nb@x.example'], 67, /control character/],
    ['a wrong address', 'x', ['nobody'], 67, /"nobody" is not an address/],
    ['an injected command', 'x', ['a@x.example> SIZE=1'], 67, /is not an address/],
    ['no arguments', 'x', [], 64, /name a recipient/],
    ['the mode of a server', 'x', ['-bs'], 64, /-bs is not supported/],
    ['an empty message', '', ['a@x.example'], 65, /is empty/],
    [
      'too many recipients',
      message(Array.from({ length: 101 }, (_, n) => `a${n}@x.example`).join(',')),
      ['-t'],
      65,
      /more than 100/,
    ],
    [
      'a From of the provider',
      `From: a@sites.example\n${message('a@x.example')}`,
      ['-t'],
      65,
      /From has .* provider/,
    ],
    ['too large a head', `Subject: ${'x'.repeat(300_000)}\n\nx`, ['a@x.example'], 65, /head .* too long/],
    ['too large a message', 'x'.repeat(26 * 1024 * 1024), ['a@x.example'], 65, /larger than 25 MiB/],
  ])('refuses %s', async (_name, given, args, code, reason) => {
    const ended = await sendmail(given, args);
    expect(ended).toMatchObject({ code, reason: expect.stringMatching(reason) });
    expect(await contents()).toEqual([]);
    expect(relay.received).toEqual([]);
  });

  it('is refused without a relay, for a trial copy, and while the disk is full', async () => {
    await end();
    await begin(null);
    expect(await sendmail(message('a@x.example'))).toMatchObject({
      code: 69,
      reason: expect.stringMatching(/operator has configured no relay/),
    });
    expect(entries.map(({ entry }) => entry)).toMatchObject([
      { id: null, event: 'refused', reason: expect.stringMatching(/no relay/) },
    ]);
    const trial = { id: randomUUID(), name: 'trial-shop', gid: shop.gid };
    await sockets.open(trial);
    expect(await sendmail(message('a@x.example'), ['-t'], trial)).toMatchObject({ code: 69 });
    await end();
    await begin(relay.url, Number.MAX_SAFE_INTEGER);
    expect((await sendmail(message('a@x.example'))).reason).toMatch(/disk of the host is full/);
  });

  it('fails if the host is down', async () => {
    await sockets.stop();
    expect(await sendmail(message('a@x.example'))).toMatchObject({ code: 69 });
  });
});

describe('the socket of an install', () => {
  /** A hostile program that speaks for itself. */
  async function say(...texts: string[]): Promise<string> {
    const socket = connect(mailSocketOf(shop.id));
    socket.on('error', () => {});
    for (const text of texts) socket.write(text);
    socket.end();
    return readText(socket).catch(() => '');
  }

  it('takes no message that is shorter than announced', async () => {
    expect(await say('100\t0\ta@x.example\n', 'To: a@x.example\n\nshort')).toMatch(
      /65 the message is incomplete/,
    );
    expect(await contents()).toEqual([]);
  });

  it.each(['nonsense\n', '-1\t0\n', '99999999999\t0\ta@x.example\n', 'x'.repeat(70_000)])(
    'does not answer %.20j',
    async (text) => {
      expect(await say(text)).not.toContain('go');
      expect(queue.report(EVERYTHING).messages).toBe(0);
    },
  );

  it('closes connections above 50 a second', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => say('1\t0\tnobody\n', 'x')));
    expect(answers.filter((answer) => answer.includes('go'))).not.toHaveLength(60);
    clock.advance(1_000);
    expect(await say('1\t0\ta@x.example\n', 'x')).toMatch(/0 queued/);
    await empty();
  });
});

describe('the limit of an install', () => {
  it('counts recipients within an hour, and the log names it once a minute', async () => {
    perHour = 3;
    expect((await sendmail(message('a@x.example, b@x.example'))).code).toBe(0);
    for (let count = 0; count < 2; count++) {
      expect(await sendmail(message('a@x.example, b@x.example'))).toMatchObject({
        code: 69,
        reason: expect.stringMatching(/limit of 3 recipients in an hour/),
      });
    }
    expect(eventsOf().filter((event) => event === 'refused')).toHaveLength(1);
    expect(queue.sentLastHour(shop.id)).toBe(2);
    expect((await sendmail(message('a@x.example, b@x.example'), ['-t'], blog)).code).toBe(0);
    clock.advance(HOUR_MS);
    expect((await sendmail(message('a@x.example, b@x.example'))).code).toBe(0);
    perHour = 0;
    expect((await sendmail(message('a@x.example'))).reason).toMatch(/switched off/);
    await empty();
  });

  it('survives a restart', async () => {
    perHour = 1;
    expect((await sendmail(message('a@x.example'))).code).toBe(0);
    await empty();
    await end();
    await begin();
    expect((await sendmail(message('a@x.example'))).code).toBe(69);
  });

  it('includes what waits on the disk', async () => {
    relay.rules.message = () => smtpError(451, 'later');
    const bytes = MOST_WAITING.bytes - 10;
    const big = {
      id: randomUUID(),
      install: shop,
      sender: 's@x.example',
      recipients: ['a@x.example'],
      bytes,
      queuedAt: clock.now().getTime(),
    };
    await writeFile(queue.incomingPath(big.id), 'x');
    expect(await queue.add(big, 10)).toBeNull();
    expect((await sendmail(message('a@x.example'))).reason).toMatch(/too many messages .* wait/);
    expect((await sendmail(message('a@x.example'), ['-t'], blog)).code).toBe(0);
  });

  it('includes announced messages, which are refused before they are sent', () => {
    const release = queue.reserve(shop.id, MOST_WAITING.bytes - 10);
    expect(release).not.toBeNull();
    expect(queue.reserve(shop.id, 11)).toBeNull();
    expect(queue.reserve(blog.id, 11)).not.toBeNull();
    release?.();
    expect(queue.reserve(shop.id, 11)).not.toBeNull();
  });
});

describe('the queue', () => {
  it('retries for the recipients that the relay deferred, and logs those that it refused', async () => {
    const answers: Record<string, Error> = {
      'later@x.example': smtpError(450, 'mailbox busy'),
      'never@x.example': smtpError(550, 'no such user'),
    };
    relay.rules.recipient = (address) => answers[address] ?? null;
    await sendmail(message('now@x.example, later@x.example, never@x.example'));
    await expect.poll(() => eventsOf()).toEqual(['queued', 'sent', 'deferred', 'failed']);
    expect(entries.at(-1)?.entry).toMatchObject({
      recipients: ['never@x.example'],
      reason: expect.stringContaining('550 no such user'),
    });
    expect(queue.report(EVERYTHING)).toMatchObject({
      messages: 1,
      listed: [
        { install: { name: 'shop' }, recipients: 1, attempts: 1, reason: expect.stringContaining('450') },
      ],
    });
    delete answers['later@x.example'];
    clock.advance(MINUTE_MS);
    queue.retry(EVERYTHING);
    await empty();
    expect(relay.received.map(({ to }) => to)).toEqual([['now@x.example'], ['later@x.example']]);
  });

  it('gives a message up that the relay refuses, or that is 3 days old', async () => {
    relay.rules.message = ({ to }) =>
      to[0] === 'spam@x.example' ? smtpError(554, 'spam') : smtpError(451, 'later');
    await sendmail(message('spam@x.example'));
    await expect.poll(() => eventsOf()).toEqual(['queued', 'failed']);
    await sendmail(message('ann@x.example'));
    await expect.poll(() => eventsOf().at(-1)).toBe('deferred');
    clock.advance(3 * DAY_MS);
    queue.retry(EVERYTHING);
    await expect.poll(() => eventsOf().at(-1)).toBe('failed');
    expect(entries.at(-1)?.entry).toMatchObject({
      event: 'failed',
      reason: expect.stringMatching(/^not delivered within 3 days: .*451/),
    });
    expect(await contents()).toEqual([]);
  });

  it('waits while the relay is down, without an attempt', async () => {
    await relay.close();
    await sendmail(message('ann@x.example'));
    await expect.poll(() => queue.report(EVERYTHING).fault).toMatch(/ECONNREFUSED/);
    expect(queue.report(EVERYTHING)).toMatchObject({ messages: 1, listed: [{ attempts: 0, reason: null }] });
    expect(await queue.check()).toMatch(/^the mail relay 127\.0\.0\.1:\d+ cannot be used: .*ECONNREFUSED/);
    relay = await startRelay({}, relay.port);
    queue.retry(EVERYTHING);
    await empty();
    expect(relay.received).toHaveLength(1);
    expect(queue.report(EVERYTHING).fault).toBeNull();
    expect(await queue.check()).toBeNull();
  });

  it('loses no message and sends none twice when the host is killed', async () => {
    relay.rules.message = () => smtpError(451, 'later');
    for (const name of ['a', 'b', 'c']) await sendmail(message(`${name}@x.example`));
    await expect.poll(() => eventsOf().filter((event) => event === 'deferred')).toHaveLength(3);
    relay.rules.message = () => null;
    // Killed: nothing is closed. Remains of messages that were not accepted lie around.
    const former = queue;
    await sockets.stop();
    await writeFile(join(folder, 'queue', 'messages', `${randomUUID()}.part`), 'half');
    await writeFile(join(folder, 'queue', 'messages', `${randomUUID()}.eml`), 'not in the index');
    await begin();
    expect(await contents()).toHaveLength(3);
    clock.advance(5 * MINUTE_MS);
    queue.retry(EVERYTHING);
    await empty();
    await former.stop();
    expect(relay.received.map(({ to }) => to[0]).sort()).toEqual([
      'a@x.example',
      'b@x.example',
      'c@x.example',
    ]);
  });

  it('delivers for one install while another floods it', async () => {
    perHour = 1_000;
    const held: (() => void)[] = [];
    relay.rules.message = ({ from }) =>
      from.startsWith('shop') ? new Promise((resolve) => held.push(() => resolve(null))) : null;
    for (let count = 0; count < 12; count++) await sendmail(message(`a${count}@x.example`));
    await sendmail(message('ann@x.example'), ['-t'], blog);
    await expect.poll(() => eventsOf(blog)).toEqual(['queued', 'sent']);
    expect(held).toHaveLength(2);
    relay.rules.message = () => null;
    for (const release of held) release();
    await empty();
  });

  it('is shown, retried and emptied by the operator', async () => {
    relay.rules.message = () => smtpError(451, 'later');
    await sendmail(message('a@x.example'));
    await sendmail(message('b@x.example'), ['-t'], blog);
    await expect
      .poll(() => [...eventsOf(), ...eventsOf(blog)].filter((event) => event === 'deferred'))
      .toHaveLength(2);
    const ofShop = { installId: shop.id, ids: null };
    const { listed, ...counts } = queue.report(ofShop);
    expect(counts).toMatchObject({
      relay: `127.0.0.1:${relay.port}`,
      fault: null,
      messages: 1,
      oldest: clock.now().toISOString(),
    });
    expect(await queue.delete({ installId: null, ids: listed.map(({ id }) => id) })).toBe(1);
    expect(eventsOf().at(-1)).toBe('failed');
    expect(queue.report(EVERYTHING).messages).toBe(1);
    await queue.removeInstall(blog.id);
    expect(queue.report(EVERYTHING)).toMatchObject({ messages: 0, oldest: null });
    expect(await contents()).toEqual([]);
  });

  it('is replaced if it is unusable', async () => {
    await end();
    await writeFile(join(folder, 'queue', 'queue.sqlite'), 'x'.repeat(5_000));
    await rm(join(folder, 'queue', 'queue.sqlite-wal'), { force: true });
    await begin();
    expect((await sendmail(message('a@x.example'))).code).toBe(0);
    await empty();
    expect((await readdir(folder)).filter((name) => name.startsWith('queue.unusable-'))).toHaveLength(1);
  });
});

describe('the relay', () => {
  it('gets the password of the file, and its faults pause the queue', async () => {
    const credentialsFile = join(folder, 'password');
    const server = await startRelay({
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        username === 'homeport' && password === 'right: one'
          ? done(null, { user: username })
          : done(new Error('wrong password')),
    });
    try {
      const one = createRelay({ url: server.url, credentialsFile });
      await expect(one.verify()).rejects.toThrow(/cannot be read/);
      await writeFile(credentialsFile, 'homeport\n');
      await expect(one.verify()).rejects.toThrow(/password in its second/);
      await writeFile(credentialsFile, 'homeport\nwrong\n');
      await expect(one.verify()).rejects.toThrow(/wrong password/);
      await writeFile(credentialsFile, 'homeport\nright: one\n');
      await one.verify();
    } finally {
      await server.close();
    }
  });

  it('counts as local by its address', () => {
    for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'localhost', '::ffff:127.0.0.1']) {
      expect(isLoopback(host), host).toBe(true);
    }
    for (const host of ['relay.example', '10.0.0.1', '0.0.0.0', 'localhost.example']) {
      expect(isLoopback(host), host).toBe(false);
    }
  });
});

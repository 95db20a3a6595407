import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { systemRandomness } from '../../../lib/ids.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { MailLogEntry } from '../../policy/mail/mail-log.ts';
import { type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  visit,
  type WordPressMachine,
} from '../wordpress/machine.fixture.ts';
import { createMailQueue, type MailQueue } from './mail-queue.ts';
import { createMailSockets, type MailSockets } from './mail-sockets.ts';
import { startRelay, type TestRelay } from './relay.fixture.ts';
import { createRelay } from './relay.ts';

let machine: WordPressMachine;
let relay: TestRelay;
let queue: MailQueue;
let sockets: MailSockets;
let shop: SandboxedInstall;
let perHour = 10;
const entries: MailLogEntry[] = [];

beforeAll(async () => {
  machine = await startWordPressMachine();
  const { layout, log } = machine;
  const { version, websites } = await startWordPress(machine);
  const { install, database } = await machine.newInstall(version);
  shop = install;
  relay = await startRelay();
  const appendLog = (_install: string, entry: MailLogEntry) => void entries.push(entry);
  queue = createMailQueue({
    folder: layout.mail,
    relay: createRelay({ url: relay.url, credentialsFile: null }),
    ...{ appendLog, clock: systemClock, log, keptFree: 0 },
  });
  await queue.start();
  sockets = createMailSockets({
    submitterOf: ({ id, name }) => ({
      install: { id, name },
      sender: `${name}@sites.test`,
      siteDomain: 'sites.test',
      ownDomain: `${name}.sites.test`,
      portalHost: 'portal.test',
      perHour,
    }),
    isTrial: () => false,
    ...{ layout, queue, appendLog, clock: systemClock, random: systemRandomness, log },
  });
  await sockets.open(shop);
  const site = { primaryHostname: 'shop.test', secure: false, database };
  await websites.makeFiles(shop, site);
  await websites.fillDatabase(shop, database, { ...site, title: 'Shop' });
  await machine.serve(shop);
});
afterAll(async () => {
  await sockets?.stop();
  await queue?.stop();
  await relay?.close();
  await machine?.stop();
});

it('WordPress sends the mail that resets a password', async () => {
  const form = { user_login: 'admin', redirect_to: '', 'wp-submit': 'Get New Password' };
  const answer = await visit(machine, shop, '/wp-login.php?action=lostpassword', { form });
  expect(answer).toMatchObject({ status: 302 });
  await expect.poll(() => relay.received).toHaveLength(1);
  const [mail] = relay.received;
  expect(mail?.from).toBe(`${shop.name}@sites.test`);
  expect(mail?.text).toMatch(/^Subject: \[Shop\] Password Reset\r$/m);
  expect(mail?.text).toMatch(/^From: WordPress <wordpress@shop\.test>\r$/m);
  expect(mail?.text).toMatch(/^http:\/\/shop\.test\/wp-login\.php\?.*key=/m);
  await expect.poll(() => entries.map(({ event }) => event)).toEqual(['queued', 'sent']);
});

it('sendmail works in a shell, and the website can neither reach nor replace what belongs to the host', async () => {
  const script = [
    `printf 'Subject: from a shell\\n\\nHello.\\n' | sendmail ann@x.example`,
    'echo "sent $?"',
    'for path in "$1" "$2" /etc/homeport/sendmail; do ls "$path" >/dev/null 2>&1 && echo "seen $path"; rm -f "$path" 2>/dev/null && echo "removed $path"; done',
    'exit 0',
  ].join('\n');
  const paths = [join(machine.layout.mail, 'queue.sqlite'), machine.layout.mailSocketOf(shop.id)] as const;
  const [program, ...args] = sandboxCommand(machine.layout, shop, ['/bin/sh', '-c', script, 'sh', ...paths]);
  const { stdout } = await runCommand(program, args);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(['sent 0', 'seen /etc/homeport/sendmail']));
  // `rm -f` of what is not visible succeeds.
  expect(stdout).not.toMatch(/seen .*queue\.sqlite|removed .*(mail\.sock|sendmail)/);
  await expect.poll(() => relay.received.map(({ to }) => to)).toContainEqual(['ann@x.example']);
});

it('wp_mail() fails if the host refuses the message', async () => {
  perHour = 0;
  const code = "echo json_encode(wp_mail('ann@x.example', 'Hello', 'Text'));";
  expect(await runInWordPress(machine, shop, code)).toBe('false');
  expect(entries.at(-1)).toMatchObject({ event: 'refused', reason: 'mail of this website is switched off' });
  perHour = 10;
  expect(await runInWordPress(machine, shop, code)).toBe('true');
});

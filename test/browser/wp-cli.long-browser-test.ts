import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { environment } from '../../src/features/hosts/fleet.fixture.ts';
import type { WpCliOutcome } from '../../src/hosting/contract/wp-cli.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { focused, type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let machine: ServedMachine;
let portal: Portal;
let page: Page;
let address: string;
let ran: (readonly string[])[];
let outcome: WpCliOutcome | Promise<WpCliOutcome>;

const TABLE = ['name\tstatus\tversion', 'akismet\tactive\t5.4', `${'long-name'.repeat(40)}\tactive\t1.0`];
const SUCCESS = {
  exitStatus: 0,
  stdout: TABLE.join('\n'),
  stderr: '',
  stdoutTruncated: false,
  stderrTruncated: false,
};

beforeAll(async () => {
  machine = await serveMachine();
  machine.machine.runWpCli = async (_install, args) => {
    ran.push(args);
    return outcome;
  };
  portal = await startPortal({ environment: environment(machine.runFolder) });
  const { accountId, owner } = await portal.homeport.ownedAccount();
  const install = await portal.homeport.install(owner, accountId);
  address = `/installs/${install.id}/wp-cli`;
  page = await portal.signedIn(owner);
});
beforeEach(() => {
  ran = [];
  outcome = SUCCESS;
});
afterAll(async () => {
  await portal?.remove();
  await machine?.close();
});

const command = () => page.getByRole('textbox', { name: 'Command' });
const newest = () => page.getByRole('region', { name: 'Latest commands' }).getByRole('listitem').first();

it('runs a command by keyboard, and shows its output when it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<WpCliOutcome>();
  outcome = promise;
  await page.goto(address);
  await page.getByText('No commands yet.').waitFor();
  await command().fill(`wp option update blogname 'My shop'`);
  await command().press('Enter');
  await newest().getByText(`wp option update blogname 'My shop'`).waitFor();
  await expect.poll(() => ran).toEqual([['option', 'update', 'blogname', 'My shop']]);
  await newest().getByText('In progress').waitFor();
  resolve(SUCCESS);
  await newest().getByText('akismet').waitFor();
  await newest().getByText('Exit status 0').waitFor();
  await expect.poll(() => page.evaluate('document.activeElement?.getAttribute("name")')).toBe('command');
  await page.getByText('WP-CLI has ended.').waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
});

onlyInLong(it)('shows errors and the exit status of a command, also after a reload', async () => {
  outcome = { ...SUCCESS, exitStatus: 1, stdout: '', stderr: "Error: 'foo' is not a registered wp command." };
  await command().fill('foo');
  await page.getByRole('button', { name: 'Run' }).click();
  await newest().getByText('Exit status 1').waitFor();
  await newest().getByText('is not a registered wp command').waitFor();
  await page.reload();
  await newest().getByText('wp foo …').waitFor();
  await expect.poll(() => newest().getByText('is not a registered wp command').count()).toBe(0);
  await newest().getByText('Output', { exact: true }).focus();
  await page.keyboard.press('Enter');
  await newest().getByText('is not a registered wp command').waitFor();
  expect(await focused(page)).toBe('Output');
  await expectBothThemesInLong(page);
});

onlyInLong(it)('refuses what only a shell understands, and says why the host ran nothing', async () => {
  await command().fill('plugin list | sort');
  await command().press('Enter');
  await page.getByText('There is no shell, so | & ; < and > do not work here.').first().waitFor();
  expect(ran).toEqual([]);
  outcome = { refused: 'missing', reason: 'This machine has no WP-CLI.' };
  await command().fill('plugin list');
  await command().press('Enter');
  await newest().getByText('This machine has no WP-CLI.').waitFor();
  await newest().getByText('Failed').waitFor();
});

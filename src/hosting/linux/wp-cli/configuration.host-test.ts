import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onlyInLong, rounds } from '../../../../test/rounds.ts';
import { runCommand } from '../../../lib/run-command.ts';
import type { WpCliResult } from '../../contract/wp-cli.ts';
import { requirePackagedFiles } from '../../wordpress/packaged-files.ts';
import { type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  visit,
  type WordPressMachine,
} from '../wordpress/machine.fixture.ts';
import type { Websites } from '../wordpress/website.ts';
import { createWpCliPhar } from './phar.ts';
import { createWpCli, type WpCli } from './run-wp-cli.ts';

const LIMITS = { memoryMb: 512, cpuPercent: 200, processes: 32 };
const SITE = { primaryHostname: 'shop.test', secure: false };
const STOP = "/* That's all, stop editing! Happy publishing. */\n";

let machine: WordPressMachine;
let websites: Websites;
let install: SandboxedInstall;
let database: string;
let config: string;
let wpCli: WpCli;

beforeAll(async () => {
  machine = await startWordPressMachine();
  const wordpress = await startWordPress(machine);
  ({ websites } = wordpress);
  ({ install, database } = await machine.newInstall(wordpress.version));
  await websites.makeFiles(install, { ...SITE, database });
  await websites.fillDatabase(install, database, { ...SITE, title: 'Shop' });
  config = join(machine.layout.htdocsOf(install.id), 'wp-config.php');
  const { layout, cgroups, php, log } = machine;
  const source = requirePackagedFiles().wpCli;
  const phar = createWpCliPhar({ layout, source, url: 'http://127.0.0.1:1', php: async () => php, log });
  await phar.add(null);
  wpCli = createWpCli({ layout, cgroups, limits: LIMITS, isThere: phar.isThere });
});
afterAll(() => machine?.stop());

async function wp(...args: string[]): Promise<WpCliResult> {
  const outcome = await wpCli.run(install, args);
  if ('refused' in outcome) throw new Error(outcome.reason);
  return outcome;
}

const tables = () => machine.databases.query(database, 'SHOW TABLES');

describe('wp-config.php', () => {
  it('takes new values by `wp config set`', async () => {
    expect(await wp('config', 'set', 'WP_POST_REVISIONS', '7', '--raw')).toMatchObject({ exitStatus: 0 });
    expect(await readFile(config, 'utf8')).toContain(`define( 'WP_POST_REVISIONS', 7 );\n${STOP}`);
    expect(await runInWordPress(machine, install, 'echo WP_POST_REVISIONS;')).toBe('7');
    expect(await wp('config', 'delete', 'WP_POST_REVISIONS')).toMatchObject({ exitStatus: 0 });
  });

  it('of an earlier host takes them after the next start of the host, unless the customer has changed it', async () => {
    const whole = await readFile(config, 'utf8');
    const earlier = (await rendered()).replace(`${STOP}\n`, '');
    for (const [text, changed] of [
      [earlier, true],
      [earlier.replace("'WP_DEBUG', false", "'WP_DEBUG', true"), false],
    ] as const) {
      await writeFile(config, text);
      await websites.makeFiles(install, { ...SITE, database });
      const after = await readFile(config, 'utf8');
      expect(after.includes(STOP)).toBe(changed);
      expect(changed ? after.replace(`${STOP}\n`, '') : after).toBe(text);
    }
    const owner = (await runCommand('stat', ['-c', '%U %a', config])).stdout.trim();
    expect(owner).toBe(`${install.name} 600`);
    await writeFile(config, whole);
  });
});

/** The file as a new website gets it. */
async function rendered(): Promise<string> {
  const before = await readFile(config, 'utf8');
  await runCommand('rm', [config]);
  await websites.makeFiles(install, { ...SITE, database });
  const text = await readFile(config, 'utf8');
  await writeFile(config, before);
  return text;
}

describe('a network (multisite)', () => {
  const NEW_NETWORK = ['--title=Shops', '--admin_email=a@shop.test', '--admin_user=a', '--skip-email'];
  const REFUSAL = 'This host does not run WordPress networks (multisite). Nothing was changed.';

  const COMMANDS = [
    ['multisite-install', ...NEW_NETWORK],
    ['multisite-convert'],
    ['multisite-convert', '--subdomains', '--title=Shops'],
  ];
  // The shell converts, too.
  it.each(COMMANDS.slice(0, rounds(1, COMMANDS.length)))(
    'is refused by `wp core %s` before anything changes',
    async (...words) => {
      const before = [await tables(), await readFile(config, 'utf8')];
      const { exitStatus, stderr } = await wp('core', ...words);
      expect(stderr).toContain(`Error: ${REFUSAL}`);
      expect(exitStatus).toBe(1);
      expect([await tables(), await readFile(config, 'utf8')]).toEqual(before);
    },
  );

  onlyInLong(it)('is refused if wp-config.php says already that it is one', async () => {
    const before = await tables();
    await wp('config', 'set', 'MULTISITE', 'true', '--raw');
    const { exitStatus, stderr } = await wp('core', 'multisite-install', ...NEW_NETWORK);
    expect(stderr).toContain(`Error: ${REFUSAL}`);
    expect(exitStatus).toBe(1);
    expect(await tables()).toEqual(before);
    await wp('config', 'delete', 'MULTISITE');
  });

  it('is refused in a shell', async () => {
    const before = await tables();
    const command = ['/bin/sh', '-c', 'wp core multisite-convert 2>&1 || echo "status $?"'] as const;
    const [program, ...args] = sandboxCommand(machine.layout, install, [...command], { tools: true });
    expect((await runCommand(program, args)).stdout).toMatch(/Error: This host does not run[\s\S]*status 1/);
    expect(await tables()).toEqual(before);
  });

  it('is refused in wp-admin', async () => {
    await machine.serve(install);
    await wp('config', 'set', 'WP_ALLOW_MULTISITE', 'true', '--raw');
    const before = await tables();
    const cookie = await runInWordPress(
      machine,
      install,
      `$until = time() + 600; $token = WP_Session_Tokens::get_instance(1)->create($until);
       echo LOGGED_IN_COOKIE, '=', wp_generate_auth_cookie(1, $until, 'logged_in', $token), '; ',
           AUTH_COOKIE, '=', wp_generate_auth_cookie(1, $until, 'auth', $token);`,
    );
    const as = { cookie, host: 'shop.test:8080' };
    const page = await visit(machine, install, '/wp-admin/network.php', as);
    expect(page).toMatchObject({ status: 403, body: expect.stringContaining(REFUSAL) });
    const form = { sitename: 'Shops', email: 'a@shop.test', subdomain_install: '0' };
    expect(await visit(machine, install, '/wp-admin/network.php', { ...as, form })).toMatchObject({
      status: 403,
    });
    expect(await tables()).toEqual(before);
    expect((await visit(machine, install, '/wp-admin/options-general.php', as)).status).toBe(200);
  });
});

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyAsVersion } from '../../../../test/host/wordpress-core.ts';
import { onlyInLong } from '../../../../test/rounds.ts';
import { systemClock } from '../../../lib/clock.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { linuxRuntime } from '../../runtime/linux/linux-runtime.ts';
import { runCron } from '../../websites/cron/run-cron.ts';
import { takeDocumentRoot } from '../../wordpress/php-files.ts';
import { type SandboxedInstall, sandboxCommand } from '../isolation/sandbox.ts';
import {
  runInWordPress,
  startWordPress,
  startWordPressMachine,
  visit,
  type WordPressMachine,
} from './machine.fixture.ts';
import { linkSite } from './site-files.ts';
import type { Websites } from './website.ts';

let machine: WordPressMachine;
let websites: Websites;
let install: SandboxedInstall;
let database: string;
let htdocs: string;
let core: string;

beforeAll(async () => {
  machine = await startWordPressMachine({ ownCores: true });
  const wordpress = await startWordPress(machine);
  ({ websites } = wordpress);
  ({ install, database } = await machine.newInstall(wordpress.version));
  core = machine.layout.coreOf(wordpress.version);
  htdocs = machine.layout.htdocsOf(install.id);
  const site = { primaryHostname: 'shop.test', secure: false, database };
  await websites.makeFiles(install, site);
  await websites.fillDatabase(install, database, { ...site, title: 'The shop' });
  await writeFile(join(htdocs, 'wp-content/mu-plugins/roots.php'), PLUGIN);
  await machine.serve(install);
});
afterAll(() => machine?.stop());

/** Notes what WordPress takes as its folders, and does what plugins do there. */
const PLUGIN = `<?php
add_action('init', function () {
    require_once ABSPATH . 'wp-admin/includes/file.php';
    $roots = ['abspath' => ABSPATH, 'home' => get_home_path(), 'uri' => $_SERVER['REQUEST_URI'], 'cron' => wp_doing_cron()];
    file_put_contents(WP_CONTENT_DIR . '/roots.jsonl', json_encode($roots) . "\\n", FILE_APPEND);
    if (isset($_GET['writes'])) {
        foreach (['robots.txt', 'ads.txt', '.htaccess'] as $name) {
            file_put_contents(ABSPATH . $name, "of the plugin\\n", FILE_APPEND);
        }
        $config = get_home_path() . 'wp-config.php';
        file_put_contents($config, str_replace("<?php\\n", "<?php\\ndefine('WP_CACHE', false);\\n", file_get_contents($config)));
    }
}, 1);
`;

/** Gives the cookies of a session of the administrator. */
const SIGN_IN = `$until = time() + 600; $token = WP_Session_Tokens::get_instance(1)->create($until);
echo LOGGED_IN_COOKIE, '=', wp_generate_auth_cookie(1, $until, 'logged_in', $token), '; ',
    AUTH_COOKIE, '=', wp_generate_auth_cookie(1, $until, 'auth', $token);`;

/** The folders that WordPress took as its own since the last call. */
async function roots(): Promise<{ abspath: string; home: string; uri: string; cron: boolean }[]> {
  const file = join(htdocs, 'wp-content/roots.jsonl');
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  await rm(file);
  return lines.map((line) => JSON.parse(line));
}

const root = () => ({ abspath: `${htdocs}/`, home: `${htdocs}/` });

/** Runs PHP as the website, without WordPress. */
async function run(code: string): Promise<string> {
  const [program, ...args] = sandboxCommand(machine.layout, install, ['/usr/bin/php', '-r', code]);
  return (await runCommand(program, args)).stdout;
}

describe('ABSPATH and get_home_path()', () => {
  it.each(['/', '/wp-login.php', '/wp-admin/admin-ajax.php?action=none', '/xmlrpc.php'])(
    'are the document root of the website in a request for %s',
    async (path) => {
      await visit(machine, install, path);
      expect(await roots()).toEqual([{ ...root(), uri: path, cron: false }]);
    },
  );

  it('are the document root in wp-admin', async () => {
    const cookie = await runInWordPress(machine, install, SIGN_IN);
    await roots();
    const page = await visit(machine, install, '/wp-admin/index.php', { cookie, host: 'shop.test:8080' });
    expect(page.body).toContain('wpadminbar');
    expect(await roots()).toMatchObject([{ ...root(), uri: '/wp-admin/index.php' }]);
  });

  it('are the document root for a program of a plugin that loads WordPress itself', async () => {
    const program = join(htdocs, 'wp-content/plugins/ajax.php');
    await writeFile(program, `<?php require dirname(__DIR__, 2) . '/wp-load.php'; echo ABSPATH;`);
    expect((await visit(machine, install, '/wp-content/plugins/ajax.php')).body).toBe(`${htdocs}/`);
    await roots();
  });

  it('are the document root in the schedule and on the command line', async () => {
    const runtime = linuxRuntime(machine.layout, install, []);
    const run = await runCron(runtime, { append: async () => {}, clock: systemClock });
    expect(run).toMatchObject({ exit: 0 });
    expect(await roots()).toMatchObject([{ ...root(), cron: true }]);
    expect(await runInWordPress(machine, install, 'echo ABSPATH;')).toBe(`${htdocs}/`);
    await roots();
  });

  it('are not known to a program that does not load WordPress', async () => {
    await writeFile(join(htdocs, 'plain.php'), `<?php defined('ABSPATH') || exit('no direct access');`);
    expect((await visit(machine, install, '/plain.php')).body).toBe('no direct access');
  });
});

describe('a plugin', () => {
  it('writes files of the document root and the configuration', async () => {
    const before = await readFile(join(htdocs, 'wp-config.php'), 'utf8');
    expect((await visit(machine, install, '/?writes')).status).toBe(200);
    for (const name of ['robots.txt', 'ads.txt', '.htaccess']) {
      expect(await readFile(join(htdocs, name), 'utf8')).toBe('of the plugin\n');
    }
    expect(await readFile(join(htdocs, 'wp-config.php'), 'utf8')).toBe(
      before.replace('<?php\n', "<?php\ndefine('WP_CACHE', false);\n"),
    );
    expect((await visit(machine, install, '/')).status).toBe(200);
    await roots();
  });

  it('cannot write to the core, by its own path or by that of the document root', async () => {
    const files = ['wp-load.php', 'wp-settings.php', 'wp-includes/version.php', 'wp-admin/index.php'];
    const before = await Promise.all(files.map((name) => readFile(join(core, name), 'utf8')));
    for (const folder of [core, htdocs]) {
      for (const name of files) {
        expect(await run(`var_export(@file_put_contents('${folder}/${name}', 'x'));`)).toBe('false');
      }
      for (const name of ['wp-includes/new.php', 'wp-admin/new.php']) {
        expect(await run(`var_export(@file_put_contents('${folder}/${name}', 'x'));`)).toBe('false');
      }
      expect(await run(`var_export(@unlink('${folder}/wp-includes/version.php'));`)).toBe('false');
      expect(await run(`var_export(@rename('${folder}/wp-includes/js', '${htdocs}/js'));`)).toBe('false');
    }
    expect(await Promise.all(files.map((name) => readFile(join(core, name), 'utf8')))).toEqual(before);
  });
});

describe('WordPress', () => {
  it('finds the metadata of its blocks without reading a file for each', async () => {
    const code = `do_action('init'); echo json_encode([
      WP_Block_Metadata_Registry::get_metadata(realpath(ABSPATH . WPINC) . '/blocks/search')['name'] ?? null,
      WP_Block_Metadata_Registry::get_metadata(ABSPATH . WPINC . '/blocks/paragraph')['name'] ?? null]);`;
    expect(JSON.parse(await runInWordPress(machine, install, code))).toEqual([
      'core/search',
      'core/paragraph',
    ]);
    await roots();
  });

  onlyInLong(it)('takes the core as ABSPATH until the links of the website lead there', async () => {
    const { layout } = machine;
    await copyAsVersion(core, layout.coreOf('98.1'), '98.1');
    const later = { ...install, wordpressVersion: '98.1' };
    const loads = (of: SandboxedInstall) => {
      const php = `require '${layout.coreOf(of.wordpressVersion)}/wp-load.php'; echo "\n", ABSPATH, ' ', wp_get_wp_version();`;
      const [program, ...args] = sandboxCommand(layout, of, ['/usr/bin/php', '-r', php]);
      return runCommand(program, args).then(({ stdout }) => stdout.split('\n').at(-1));
    };
    expect(await loads(later)).toBe(`${layout.coreOf('98.1')}/ 98.1`);
    await linkSite(layout, later);
    expect(await loads(later)).toBe(`${htdocs}/ 98.1`);
    await linkSite(layout, install);
    await roots();
  });
});

onlyInLong(it)('a core of an earlier host gets it at the next start, once', async () => {
  const folder = machine.layout.coreOf('97.1');
  await copyAsVersion(core, folder, '97.1');
  const file = join(folder, 'wp-load.php');
  const changed = await readFile(file, 'utf8');
  const original = changed.replace(/^<\?php .*$/m, '<?php');
  expect(original).not.toBe(changed);
  await writeFile(file, original);
  for (let start = 0; start < 2; start++) {
    await takeDocumentRoot(folder);
    expect(await readFile(file, 'utf8')).toBe(changed);
  }
  await writeFile(file, `#!/usr/bin/php\n${original}`);
  await expect(takeDocumentRoot(folder)).rejects.toThrow('does not begin with <?php');
});

import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { startWordPress, startWordPressMachine, visit, type WordPressMachine } from './machine.fixture.ts';

let machine: WordPressMachine;
let install: SandboxedInstall;

beforeAll(async () => {
  machine = await startWordPressMachine();
  const { websites, version } = await startWordPress(machine);
  const made = await machine.newInstall(version);
  install = made.install;
  const site = { primaryHostname: 'shop.test', secure: false, database: made.database };
  await websites.makeFiles(install, site);
  await websites.fillDatabase(install, made.database, { ...site, title: 'The shop' });
  await machine.serve(install);
});
afterAll(() => machine.stop());

/** Notes the headers that go out, and does what a plugin may do. */
const PLUGIN = `<?php
header_register_callback(fn() => file_put_contents(WP_CONTENT_DIR . '/headers.json', json_encode(headers_list())));
$does = [
  'after' => fn() => add_action('shutdown', function () { echo 'and then some'; }, 5),
  'last' => fn() => register_shutdown_function(function () { echo 'and then some'; }),
  'parts' => fn() => add_action('template_redirect', function () { echo 'one'; ob_flush(); flush(); echo 'two'; exit; }),
  'ends' => fn() => add_action('template_redirect', function () { echo 'one'; while (ob_get_level()) ob_end_flush(); echo 'two'; exit; }),
  'drops' => fn() => add_action('template_redirect', function () { echo 'one'; while (ob_get_level()) ob_end_clean(); echo 'two'; exit; }),
  'own' => fn() => add_action('template_redirect', function () { ob_start(fn($page) => "<$page>"); echo 'own'; exit; }),
  'long' => fn() => add_action('template_redirect', function () { for ($i = 0; $i < 6; $i++) echo str_repeat("x", 100000); exit; }),
  'fails' => fn() => add_action('template_redirect', function () { echo 'one'; no_such_function(); }),
];
$does[$_GET['does'] ?? ''] ?? null and $does[$_GET['does']]();
`;

/** The Content-Length (null: none) and the page. */
async function page(path: string): Promise<{ told: number | null; status: number; body: string }> {
  const htdocs = machine.layout.htdocsOf(install.id);
  await writeFile(join(htdocs, 'wp-content/mu-plugins/does.php'), PLUGIN);
  const headers = join(htdocs, 'wp-content/headers.json');
  await rm(headers, { force: true });
  const { status, body } = await visit(machine, install, path);
  const sent: string = await readFile(headers, 'utf8');
  const told = /"Content-Length: (\d+)"/.exec(sent)?.[1];
  return { told: told === undefined ? null : Number(told), status, body };
}

it.each(['/', '/sample-page/', '/feed/', '/?does=own'])('%s has a Content-Length', async (path) => {
  const { told, status, body } = await page(path);
  expect(status).toBe(200);
  expect(told).toBe(Buffer.byteLength(body));
});

it.each(['after', 'last'])('what comes later than the page is part of it: %s', async (when) => {
  const { told, body } = await page(`/?does=${when}`);
  expect(body).toMatch(/<\/html>\s*and then some$/);
  expect(told === null || told === Buffer.byteLength(body)).toBe(true);
});

it.each([
  ['parts', /^onetwo$/],
  ['ends', /^onetwo$/],
  ['drops', /^two$/],
  ['long', /^x{600000}$/],
] as const)('a page sent in parts has none: %s', async (how, expected) => {
  const { told, body } = await page(`/?does=${how}`);
  expect(body).toMatch(expected);
  expect(told).toBe(null);
});

it('errors, missing pages and the administration have none', async () => {
  expect(await page('/?does=fails')).toMatchObject({ told: null, status: 500 });
  expect(await page('/no-such-page/')).toMatchObject({ told: null, status: 404 });
  expect(await page('/wp-admin/admin-ajax.php')).toMatchObject({ told: null });
});

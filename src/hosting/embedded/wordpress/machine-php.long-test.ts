import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { InstallState } from '../../contract/install-state.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import { THIS_PHP, whyNoMachinePhp } from '../../runtime/machine/machine.fixture.ts';
import type { OtherPhp } from '../../runtime/wasm/php-engine.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { fillWithWordPress } from './prepared-wordpress.fixture.ts';
import { realPhpThat, realWordPress } from './real-wordpress.fixture.ts';

const shop: InstallState = {
  ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }),
  runtime: 'wordpress',
  // However busy the machine is.
  php: { memoryMb: null, uploadMb: null, seconds: 300, workers: null, inputVars: null },
};

/** Adds what runs it to a list in the website's database, and prints the list. */
const NOTE = `<?php
add_action('init', function () {
    if (!isset($_GET['note'])) return;
    update_option('notes', [...get_option('notes', []), PHP_SAPI === 'fpm-fcgi' ? 'machine' : 'wasm']);
    echo json_encode(get_option('notes'));
    exit;
});
`;

async function notesOf({ http }: TestHost): Promise<unknown> {
  const headers = { cookie: 'wordpress_logged_in_x=1' };
  const { status, text } = await http('shop.test', '/?note', { headers });
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

describe.skipIf((await whyNoMachinePhp()) !== null)('a website whose PHP changes between starts', () => {
  test('keeps its files, database and backups on the PHP of the machine, and back in WebAssembly', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'homeport-engines-'));
    const backup = randomUUID();

    async function servedBy(other: OtherPhp | null, use: (site: TestHost) => Promise<void>): Promise<void> {
      const createPhp = realPhpThat({ mayConnect: () => false }, other);
      const site = await startHost({ folder, wordpress: realWordPress({ createPhp }) });
      try {
        await use(site);
      } finally {
        await site.host.stop();
      }
    }

    try {
      await fillWithWordPress(folder);
      await servedBy(null, async (site) => {
        await site.host.apply(shop);
        await site.write(shop, 'wp-content/mu-plugins/note.php', NOTE);
        expect(await notesOf(site)).toEqual(['wasm']);
      });
      await servedBy(THIS_PHP, async (site) => {
        expect(await notesOf(site)).toEqual(['wasm', 'machine']);
        const changed = await site.host.runWpCli(shop, ['option', 'update', 'blogname', 'On the machine']);
        expect(changed).toMatchObject({ exitStatus: 0 });
        await site.host.snapshot(shop, backup);
        expect(await notesOf(site)).toEqual(['wasm', 'machine', 'machine']);
      });
      await servedBy(null, async (site) => {
        expect((await site.http('shop.test', '/')).text).toContain('<title>On the machine</title>');
        await site.host.restore(shop, backup);
        expect(await notesOf(site)).toEqual(['wasm', 'machine', 'wasm']);
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

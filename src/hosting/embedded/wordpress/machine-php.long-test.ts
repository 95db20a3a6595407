import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { InstallState } from '../../contract/install-state.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import { THIS_PHP, whyNoMachinePhp } from '../../runtime/machine/machine.fixture.ts';
import type { OtherPhp } from '../../runtime/wasm/php-engine.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { phpAsChosen } from '../php-choice.ts';
import { hasWordPressIn } from './inspect-wordpress.ts';
import { fillWithWordPress } from './prepared-wordpress.fixture.ts';
import { realPhpThat, realWordPress } from './real-wordpress.fixture.ts';

const NO_LIMITS_OF_PHP = { memoryMb: null, uploadMb: null, seconds: null, workers: null, inputVars: null };

const shop: InstallState = {
  ...siteState('shop', ['shop.test'], { primaryHostname: 'shop.test' }),
  runtime: 'wordpress',
  // However busy the machine is.
  php: { ...NO_LIMITS_OF_PHP, seconds: 300 },
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
  test('answers in WebAssembly while the machine has lost its PHP, and on that again after a start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'homeport-engines-'));
    let isLost = false;
    const losing: OtherPhp = {
      ...THIS_PHP,
      async create(...parameters) {
        if (isLost) throw new Error('PHP-FPM is not installed');
        const engine = await THIS_PHP.create(...parameters);
        return { ...engine, isUsable: async () => !isLost };
      },
    };
    async function started(): Promise<TestHost> {
      const { phpChoice: file } = layoutOf(folder);
      const hasWordPress = () => hasWordPressIn(layoutOf(folder));
      const log = pino({ level: 'silent' });
      const other = phpAsChosen(losing, { setting: 'auto', file, hasWordPress, log });
      const createPhp = realPhpThat({ mayConnect: () => false }, other);
      return startHost({ folder, wordpress: realWordPress({ createPhp }) });
    }

    try {
      await fillWithWordPress(folder);
      const first = await started();
      await first.host.apply(shop);
      await first.write(shop, 'wp-content/mu-plugins/note.php', NOTE);
      expect(await notesOf(first)).toEqual(['machine']);
      isLost = true;
      // A running PHP-FPM keeps its program. This ends it.
      const changed: InstallState = { ...shop, php: { ...NO_LIMITS_OF_PHP, seconds: 299 } };
      expect(await first.host.apply(changed)).toMatchObject({ phpVersion: '8.4' });
      expect(await notesOf(first)).toEqual(['machine', 'wasm']);
      expect(await first.host.wordpressHere()).toEqual({
        ...{ version: '8.4', engine: 'wasm' },
        notMachine: 'PHP-FPM is not installed',
      });
      isLost = false;
      await first.host.stop();
      const second = await started();
      expect(await notesOf(second)).toEqual(['machine', 'wasm', 'machine']);
      await second.host.stop();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

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

import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { systemClock } from '../../../lib/clock.ts';
import { createLoopbackConnections } from '../../runtime/wasm/loopback-connections.ts';
import type { OperatedWebsite } from '../../websites/operated-website.fixture.ts';
import { layoutOf } from '../host-folder/layout.ts';
import { createEmbeddedWordPress } from './embedded-wordpress.ts';
import { fillWithWordPress } from './prepared-wordpress.fixture.ts';
import { realPhpThat, realWordPress } from './real-wordpress.fixture.ts';

const log = pino({ level: 'silent' });

/** A website of the embedded host, without an edge. Its PHP connects to any address. */
export async function startOperatedWebsite(): Promise<OperatedWebsite> {
  const folder = await mkdtemp(join(tmpdir(), 'homeport-operated-'));
  const layout = layoutOf(folder);
  await fillWithWordPress(folder);
  const settings = realWordPress({ createPhp: realPhpThat({ mayConnect: () => true }) });
  const wordpress = createEmbeddedWordPress({
    settings,
    layout,
    siteDomain: 'hosting.test',
    loopback: () => undefined,
    loopbacks: createLoopbackConnections(),
    websites: async () => [],
    served: () => [],
    websiteOf: () => null,
    purge: async () => {},
    logs: { append: async () => {} },
    ports: () => ({ http: '8080', https: '8444' }),
    log,
    clock: systemClock,
  });
  const stop = async () => {
    await wordpress.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const version = await wordpress.sites.versionFor(null);
    const install = { id: randomUUID(), name: 'shop' };
    const facts = { version, origin: 'http://shop.test:8080', passKey: null };
    await wordpress.sites.provide(install, facts, true);
    return {
      id: install.id,
      runtime: wordpress.runtimeOf({ ...install, facts }),
      version,
      root: layout.filesOf(install.id),
      dropin: 'db.php',
      hasLinkedThemes: false,
      async inWordPress(code) {
        const { output, error, exit } = await wordpress.php.run(
          await wordpress.sites.siteOf(install.id, facts),
          {
            code: `<?php require '/wordpress/wp-load.php';\n${code}`,
            host: 'shop.test:8080',
            https: false,
          },
        );
        if (exit !== 0) throw new Error(error || output);
        return output;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

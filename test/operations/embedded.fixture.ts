import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { usesMachinePhp } from '../../src/hosting/embedded/wordpress/real-wordpress.fixture.ts';
import { startTestHomeport } from '../homeport.ts';
import type { Platform } from './platform.ts';

/** A platform whose embedded host runs WordPress, for the cases of all hosts. */
export async function startEmbeddedPlatform(): Promise<Platform> {
  let passed = 0;
  const homeport = await startTestHomeport({
    clock: { now: () => new Date(Date.now() + passed) },
    environment: {
      HOMEPORT_WORDPRESS_FETCH: 'false',
      HOMEPORT_EMBEDDED_PHP_MB: '2000',
      HOMEPORT_INSTALL_RUNTIME: 'wordpress',
      ...(usesMachinePhp() ? { HOMEPORT_EMBEDDED_PHP: 'machine' } : {}),
    },
  });
  const { config, hosting } = homeport;
  const edge = { http: hosting?.edgeHttp.port ?? 0, https: hosting?.edgeHttps.port ?? 0 };
  const fileOf = ({ id }: { id: string }, path: string) =>
    join(config.dataDir, 'host/installs', id, 'files', path);
  return {
    homeport,
    edge,
    siteDomain: config.siteDomain,
    addressOf: (name) => `http://${name}:${edge.http}`,
    copiedAddressOf: (name) => `http://${name}:${edge.http}`,
    async write(install, path, content) {
      await mkdir(dirname(fileOf(install, path)), { recursive: true });
      await writeFile(fileOf(install, path), content);
    },
    async refuseChanges(install) {
      const database = new Sqlite(fileOf(install, '../database/wordpress.sqlite'));
      database.exec("create trigger no before update on wp_posts begin select raise(abort, 'not now'); end");
      database.close();
    },
    passTime(ms) {
      passed += ms;
    },
    remove: () => homeport.remove(),
  };
}

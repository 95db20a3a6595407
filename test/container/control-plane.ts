import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../machine/guest.ts';
import type { ComposeOptions } from './compose.ts';
import { containerOf } from './container.ts';
import { IMAGE } from './image.ts';

const NAME = 'homeport-test-control-plane';
const PASSWORD = 'ofthedatabase';

/** Reads compose.production.yaml, and starts the control plane as in it, but with SQLite: the image of PostgreSQL is in a registry. */
export async function checkControlPlane(options: ComposeOptions): Promise<void> {
  const { engine, report, clone, patienceMs } = options;
  await report.check('compose.production.yaml can be read', async () => {
    const settings = { POSTGRES_PASSWORD: PASSWORD, HOMEPORT_PUBLIC_URL: 'https://portal.example.com' };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(join(clone, '.env'), lines.join(''), { mode: 0o600 });
    const read = await engine.read(clone, 'compose.production.yaml');
    assert.match(read, new RegExp(`postgres://homeport:${PASSWORD}@database:5432/homeport`));
  });
  const container = containerOf(engine, NAME);
  const remove = () => engine.run(['rm', '--force', '--volumes', NAME]).catch(() => '');
  await remove();
  await report.check('a control plane without hosts becomes ready, and adds one', async () => {
    const walls = [
      '--read-only',
      '--tmpfs',
      '/tmp',
      '--cap-drop',
      'ALL',
      '--security-opt',
      'no-new-privileges',
    ];
    const settings = ['--env', 'HOMEPORT_HOST=linux', '--publish', '127.0.0.1:8443:8443'];
    await engine.run(['run', '--detach', '--name', NAME, ...walls, ...settings, IMAGE]);
    await until('it is ready', patienceMs, async () => (await container.get('/readyz')) === 'ok\n');
    await container.homeport('host', 'add', 'web1', 'https://127.0.0.1:8470');
    assert.match(await container.shell('cat web1.pem'), /PRIVATE KEY/);
  });
  await remove();
}

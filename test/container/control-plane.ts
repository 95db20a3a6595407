import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../machine/guest.ts';
import type { ComposeOptions } from './compose.ts';
import { containerOf } from './container.ts';
import { IMAGE } from './image.ts';
import { failureOf } from './upgrade.ts';

const NAME = 'homeport-test-control-plane';
const PORT = '127.0.0.1:8443:8443';
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
  const walls = [
    '--read-only',
    '--tmpfs',
    '/tmp',
    '--cap-drop',
    'ALL',
    '--security-opt',
    'no-new-privileges',
  ];
  const usual = [...walls, '--env', 'HOMEPORT_HOST=linux', '--volume', `${NAME}:/var/lib/homeport`];
  const remove = async () => {
    await engine.run(['rm', '--force', NAME]).catch(() => '');
    await engine.run(['volume', 'rm', '--force', NAME]).catch(() => '');
  };
  await remove();
  await report.check('a control plane starts once it has a host, which needs not answer', async () => {
    const run = ['run', '--rm', ...usual, IMAGE];
    await engine.run([...run, 'migrate']);
    assert.match(await failureOf(engine.run(run)), /There is no host for the websites/);
    await engine.run([...run, 'host', 'add', 'web1', 'https://127.0.0.1:8470']);
    await engine.run(['run', '--detach', '--name', NAME, ...usual, '--publish', PORT, IMAGE]);
    await until('it is ready', patienceMs, async () => (await container.get('/readyz')) === 'ok\n');
    assert.match(await container.shell('cat web1.pem'), /PRIVATE KEY/);
  });
  await remove();
}

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from '../client.ts';
import { until } from '../machine/guest.ts';
import type { ComposeOptions } from './compose.ts';
import { accountOf, type Container, containerOf } from './container.ts';
import { loadPostgres } from './postgres-image.ts';

const FILE = ['--file', 'compose.production.yaml'];
const PASSWORD = '5f2d1c0b9a8e7f6d';
/** As the compose file publishes it. */
const ORIGIN = 'https://localhost:443';
const ON_TCP = ['--host', '127.0.0.1', '--username', 'homeport'];

/** Follows docs/container.md with compose.production.yaml as it is: the control plane and PostgreSQL, a dump, and its restore into an empty volume. */
export async function checkProduction(
  { engine, report, clone, patienceMs }: ComposeOptions,
  base: string,
): Promise<void> {
  const compose = (...words: string[]) => engine.compose(clone, [...FILE, ...words]);
  const down = () => compose('down', '--volumes').catch(() => '');
  /** The container of a service that runs. */
  async function nameOf(service: string): Promise<string> {
    const labels = ['project=homeport-test', `service=${service}`];
    const filters = labels.flatMap((one) => ['--filter', `label=com.docker.compose.${one}`]);
    return (await engine.run(['ps', '--quiet', ...filters])).split('\n')[0] ?? '';
  }
  const startDatabase = async () => {
    await compose('up', '-d', 'database');
    await until('PostgreSQL answers', patienceMs, async () => {
      await engine.run(['exec', await nameOf('database'), 'pg_isready', ...ON_TCP]);
      return true;
    });
  };
  const startAll = async () => {
    await compose('up', '-d', '--no-build');
    const control = containerOf(engine, await nameOf('homeport'), ORIGIN);
    await until('it is ready', patienceMs, async () => (await control.get('/readyz')) === 'ok\n');
    return control;
  };
  let account = '';
  await down();
  report.step(`the image of PostgreSQL: ${await loadPostgres(engine, base)}`);
  let control: Container | null = null as Container | null;
  await report.check('compose.production.yaml starts with PostgreSQL', async () => {
    const settings = { POSTGRES_PASSWORD: PASSWORD, HOMEPORT_PUBLIC_URL: ORIGIN };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
    await writeFile(join(clone, '.env'), lines.join(''), { mode: 0o600 });
    await startDatabase();
    await compose('run', '--rm', 'homeport', 'migrate');
    await compose('run', '--rm', 'homeport', 'host', 'add', 'web1', 'https://10.0.0.2:8470');
    const began = Date.now();
    control = await startAll();
    report.step(`ready after ${((Date.now() - began) / 1000).toFixed(1)} s`);
    account = await accountOf(control);
    assert.match(await control.shell('cat web1.pem'), /PRIVATE KEY/);
  });
  const before = control;
  if (before !== null)
    await report.check('a dump and the sealing key are restored into empty volumes', async () => {
      const made = text(await before.api('POST', '/sites', { name: 'Kept', account_id: account }), 'id');
      const dumped = `pg_dump --username homeport --format=custom homeport | base64`;
      const dump = await engine.run(['exec', await nameOf('database'), 'sh', '-c', dumped]);
      const key = await before.shell('base64 data/sealing.key');
      const authorization = await before.authorization();
      await compose('down', '--volumes');
      await startDatabase();
      const restore = ['pg_restore', '--username', 'homeport', '--dbname', 'homeport', '--exit-on-error'];
      const into = ['exec', '--interactive', await nameOf('database')];
      await engine.run([...into, ...restore], { input: Buffer.from(dump, 'base64') });
      const put = `mkdir -m 700 -p data && umask 077 && echo ${key.replaceAll('\n', '')} | base64 -d > data/sealing.key`;
      await compose('run', '--rm', '--no-deps', '--entrypoint', 'sh', 'homeport', '-c', put);
      const after = await startAll();
      after.signInAs(authorization);
      await after.api('GET', `/sites/${made}`);
    });
  await down();
}

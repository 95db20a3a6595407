import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cases, onlyInLong } from '../../../../test/rounds.ts';
import { systemClock } from '../../../lib/clock.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { createWordPressCores, type WordPressCores } from '../../wordpress/cores.ts';
import { requirePackagedFiles } from '../../wordpress/packaged-files.ts';
import { type Layout, layoutOf } from '../host-folder/layout.ts';
import { followReleases } from './newer-releases.ts';
import { smallWordPress } from './small-wordpress.fixture.ts';

const { wordpress } = requirePackagedFiles();
const log = pino({ level: 'silent' });

let folder: string;
let layout: Layout;
/** What the server of releases has, by path. */
const served = new Map<string, Buffer>();
const asked: string[] = [];
const server = createServer(({ url = '' }, response) => {
  asked.push(url);
  const body = served.get(url);
  response.statusCode = body === undefined ? 404 : 200;
  response.end(body);
});
let url: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-releases-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no address');
  url = `http://127.0.0.1:${address.port}`;
  await serveRelease('99.1');
  await serveRelease('98.3.2');
});
afterEach(async () => {
  asked.length = 0;
  await rm(layout.cores, { recursive: true, force: true });
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true, force: true });
});

async function serveRelease(version: string): Promise<void> {
  await smallWordPress(join(folder, version, 'wordpress'), version);
  const archive = join(folder, `${version}.tar.gz`);
  await runCommand('tar', ['-czf', archive, '-C', join(folder, version), 'wordpress']);
  const bytes = await readFile(archive);
  const checksum = createHash('sha1').update(bytes).digest('hex');
  served.set(`/wordpress-${version}.tar.gz`, bytes);
  served.set(`/wordpress-${version}.tar.gz.sha1`, Buffer.from(checksum));
}

function coresOf(): WordPressCores {
  layout = layoutOf(join(folder, 'host'));
  return createWordPressCores({ layout, source: null, url, archive: 'tar.gz', log });
}

const offer = (...versions: string[]) =>
  served.set('/releases', Buffer.from(JSON.stringify({ offers: versions.map((version) => ({ version })) })));

/** Looks once for a newer release, with websites that use `used`. Returns the versions that were made ready. */
async function look(cores: WordPressCores, used: string[] = []): Promise<string[][]> {
  const prepared: string[][] = [];
  await followReleases({
    layout,
    cores,
    url: `${url}/releases`,
    fetch,
    used: async () => used,
    prepare: async () => prepared.push(await cores.list()),
    clock: systemClock,
    log,
  }).stop();
  return prepared;
}

test('the packaged release comes first and without a request, and a newer one follows', async () => {
  const cores = coresOf();
  await cores.ensureAny();
  const [packaged = ''] = await cores.list();
  expect(asked).toEqual([]);
  expect(await readFile(join(layout.coreOf(packaged), 'wp-includes/version.php'))).toEqual(
    await readFile(join(wordpress, 'wp-includes/version.php')),
  );
  offer(packaged, '6.9.4');
  expect(await look(cores)).toEqual([]);
  offer('99.1', packaged);
  expect(await look(cores, [packaged])).toEqual([['99.1', packaged]]);
  expect(await cores.list()).toEqual(['99.1', packaged]);
});

onlyInLong(test)('security releases of the branches of websites follow, too', async () => {
  const cores = coresOf();
  await cores.ensureAny();
  const held = await cores.list();
  offer('99.1', '98.3.2', '98.2.9');
  await look(cores, ['98.3.1']);
  expect(await cores.list()).toEqual(['99.1', '98.3.2', ...held]);
});

onlyInLong(test)('the packaged release is added without a download if a website needs it', async () => {
  const cores = coresOf();
  await cores.ensureAny();
  const [packaged = ''] = await cores.list();
  await cores.remove(packaged);
  await cores.addRelease(packaged);
  expect(await cores.list()).toEqual([packaged]);
  expect(asked).toEqual([]);
});

const FAILURES: [string, () => unknown][] = [
  ['the list cannot be had', () => served.delete('/releases')],
  ['the release cannot be had', () => offer('99.2')],
  [
    'the checksum is wrong',
    () => served.set('/wordpress-99.1.tar.gz.sha1', Buffer.from('0'.repeat(40))) && offer('99.1'),
  ],
];
test.each(cases(['the checksum is wrong'], FAILURES))(
  'the host goes on with its version if %s',
  async (_name, change) => {
    const cores = coresOf();
    await cores.ensureAny();
    const held = await cores.list();
    change();
    expect(await look(cores)).toEqual([]);
    expect(await cores.list()).toEqual(held);
  },
);

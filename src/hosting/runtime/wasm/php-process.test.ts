import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processGroupOf } from '../../../../test/process-group.ts';
import { runs } from '../../../lib/running-process.ts';
import { eventually } from '../../policy/edge.fixture.ts';
import { type PhpProcessOptions, startPhpProcess } from './php-process.ts';
import type { PhpSite } from './php-sites.ts';
import type { ProcessPlace } from './process-place.ts';
import type { PhpFolders } from './process-protocol.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'php-process-'));
});
afterAll(() => rm(folder, { recursive: true }));

const options: PhpProcessOptions = {
  settings: { memoryMb: 256, uploadMb: 8, inputVars: 5_000, threadMb: 512 },
  waitMs: 1_000,
  mayConnect: () => false,
  loopback: () => undefined,
  loopbacks: { add() {} },
  deliverMail: async () => {},
  log: pino({ level: 'silent' }),
};

/** A place whose program is a shell script. */
const placeOf = (script: string): ProcessPlace => ({
  run: folder,
  innerRun: folder,
  program: { path: '/bin/sh', arguments: ['-c', script], environment: { PATH: process.env.PATH ?? '' } },
  show: () => Promise.reject(new Error('no website')),
  showPattern: () => Promise.reject(new Error('no website')),
  async remove() {},
});
const READY = `echo '{"state":"ready","version":"8.4.1"}'`;

it('has ended when no program of it holds files any more', async () => {
  const file = join(folder, 'written');
  const php = await startPhpProcess(placeOf(`(sleep 0.3; echo last > ${file}) & ${READY}; wait`), options);
  await php.kill();
  expect(await readFile(file, 'utf8')).toBe('last\n');
});

it('runs in a process group of its own, which a Ctrl-C on the terminal does not reach', async () => {
  const php = await startPhpProcess(placeOf(`${READY}; exec sleep 600`), options);
  expect(processGroupOf(php.pid)).toBe(php.pid);
  await php.kill();
});

it('tells when a process ends by itself, with the last lines that it wrote', async () => {
  const logged: unknown[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const own = placeOf(`${READY}; seq 100 >&2; exit 7`);
  await (await startPhpProcess(own, { ...options, log })).ended;
  expect(logged).toMatchObject([{ exitCode: 7, msg: 'a PHP process ended unexpectedly' }]);
  expect(Object(logged[0]).lines).toEqual(Array.from({ length: 20 }, (_, at) => String(at + 81)));
  await (await startPhpProcess(placeOf(`${READY}; exec sleep 600`), { ...options, log })).kill();
  expect(logged).toHaveLength(1);
});

it('gives up a start', async () => {
  const closing = new AbortController();
  const started = startPhpProcess(placeOf('exec sleep 600'), { ...options, signal: closing.signal });
  closing.abort(new Error('closing'));
  await expect(started).rejects.toThrow('PHP did not start');
  await expect(startPhpProcess(placeOf(READY), { ...options, signal: closing.signal })).rejects.toThrow(
    'closing',
  );
});

it('says when its program is missing', async () => {
  const place = placeOf('');
  await expect(
    startPhpProcess({ ...place, program: { ...place.program, path: '/nowhere' } }, options),
  ).rejects.toThrow('PHP did not start');
});

describe('a process that ends while it gets its website', () => {
  const site: PhpSite = {
    id: 'one',
    core: '/core',
    website: '/website',
    private: '/private',
    database: '/database',
    readOnly: {},
    prepend: '<?php',
    limits: { memoryMb: 256, seconds: 60, uploadMb: 8, inputVars: 5_000, threads: 1 },
  };

  /** A place whose folders appear when the test says so, and which remembers what happened. */
  async function slowPlace() {
    const run = await mkdtemp(join(folder, 'run-'));
    const shown = Promise.withResolvers<PhpFolders>();
    const events: string[] = [];
    const place: ProcessPlace = {
      ...placeOf(`${READY}; exec sleep 600`),
      run,
      async show() {
        const folders = await shown.promise.catch((error: unknown) => {
          events.push('not shown');
          throw error;
        });
        events.push('shown');
        return folders;
      },
      remove: async () => void events.push('removed'),
    };
    return { place, shown, events, socket: join(run, 'services.sock') };
  }

  const outcomes = {
    'its folders are shown afterwards': (shown: PromiseWithResolvers<PhpFolders>) =>
      shown.resolve({ core: '', website: '', private: '', database: '', readOnly: [] }),
    'its folders cannot be shown': (shown: PromiseWithResolvers<PhpFolders>) =>
      shown.reject(new Error('no mount')),
  };
  it.each(Object.entries(outcomes))('closes its services, then its place: %s', async (_when, show) => {
    const closing = new AbortController();
    const { place, shown, events, socket } = await slowPlace();
    const php = await startPhpProcess(place, { ...options, signal: closing.signal });
    const serving = php.serve(site);
    const served = expect(serving).rejects.toThrow();
    await eventually(() => existsSync(socket));
    closing.abort(new Error('closing'));
    await eventually(() => !runs(php.pid));
    show(shown);
    await served;
    await php.ended;
    expect(events).toEqual([expect.stringContaining('shown'), 'removed']);
    await expect(once(connect(socket), 'connect')).rejects.toThrow('ENOENT');
  });

  it('begins nothing for a website afterwards', async () => {
    const { place, shown, events, socket } = await slowPlace();
    const php = await startPhpProcess(place, options);
    await php.kill();
    shown.resolve({ core: '', website: '', private: '', database: '', readOnly: [] });
    await expect(php.serve(site)).rejects.toThrow('PHP has ended');
    expect(events).toEqual(['removed']);
    expect(existsSync(socket)).toBe(false);
  });
});

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WASM_MEMORY } from '../../policy/wasm-php-limits.ts';
import { createPhpSites } from './create-php-sites.ts';
import { createLoopbackConnections } from './loopback-connections.ts';
import type { PhpEngine } from './php-engine.ts';
import type { ServingProcess } from './php-process.ts';
import type { PhpSite, PhpSites } from './php-sites.ts';

let folder: string;
let site: PhpSite;
let sites: PhpSites;
/** The versions of PHP that the machine has, one after the other. */
let installed: string[];
let closed: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'other-php-'));
  closed = [];
  const at = (name: string) => join(folder, name);
  for (const name of ['core', 'website', 'private', 'database']) await mkdir(at(name));
  site = {
    id: 'one',
    core: at('core'),
    website: at('website'),
    private: at('private'),
    database: at('database'),
    readOnly: {},
    prepend: '',
    limits: { memoryMb: 256, seconds: 60, uploadMb: 64, inputVars: 5_000, threads: 2 },
  };
  sites = createPhpSites(
    {
      folder: at('runtime'),
      codeFolder: at('code'),
      roots: { writable: [folder], readable: [] },
      idleMs: 60_000,
      memoryMb: 900,
      waitMs: 10_000,
      spare: true,
      mayConnect: () => false,
      loopback: () => undefined,
      loopbacks: createLoopbackConnections(),
      deliverMail: async () => undefined,
      log: pino({ level: 'silent' }),
    },
    { memory: WASM_MEMORY, isRequired: true, create: async () => engineOf(installed[0]) },
  );
});
afterEach(async () => {
  await sites.close();
  await rm(folder, { recursive: true });
});

function engineOf(version: string | undefined): PhpEngine {
  if (version === undefined) throw new Error('PHP-FPM is not installed');
  const isUsable = async () => installed.includes(version);
  return {
    version,
    walls: 'none',
    isUsable,
    async start() {
      if (!(await isUsable())) throw new Error('no such file');
      return processOf(version);
    },
    async close() {
      closed.push(version);
    },
  };
}

/** A process that answers its version. */
function processOf(version: string): ServingProcess {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const unused = async () => {
    throw new Error('unused');
  };
  return {
    version,
    pid: 0,
    ended,
    async kill() {
      end();
      await ended;
    },
    request: async () => ({ status: 200, headers: {}, body: Readable.from([version]) }),
    run: unused,
    runProgram: unused,
  };
}

async function visit(): Promise<string> {
  const request = { method: 'GET', target: '/', headers: {}, body: null, https: false };
  const { body } = await sites.request(site, { ...request, clientAddress: '192.0.2.1', host: 'a.test' });
  return text(body);
}

test('an update of the machine to another PHP while Homeport runs is followed at the next start', async () => {
  installed = ['8.2'];
  expect(await visit()).toBe('8.2');
  installed = ['8.4'];
  // A running process keeps its program.
  expect(await visit()).toBe('8.2');
  await sites.stop(site.id);
  expect(await visit()).toBe('8.4');
  expect(await sites.available()).toEqual({ version: '8.4' });
  await sites.close();
  expect(closed).toEqual(['8.2', '8.4']);
});

test('without any PHP, websites say so until there is one again', async () => {
  installed = ['8.2'];
  await visit();
  await sites.stop(site.id);
  installed = [];
  await expect(visit()).rejects.toThrow('PHP-FPM is not installed');
  expect(await sites.available()).toEqual({ reason: 'PHP-FPM is not installed', mayPass: true });
  installed = ['8.2'];
  expect(await visit()).toBe('8.2');
});

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WASM_MEMORY } from '../../policy/wasm-php-limits.ts';
import { createPhpSites } from './create-php-sites.ts';
import { createLoopbackConnections } from './loopback-connections.ts';
import { type OtherPhp, type PhpEngine, PhpLostError } from './php-engine.ts';
import type { ServingProcess } from './php-process.ts';
import { PhpFailure, type PhpSite, type PhpSites } from './php-sites.ts';
import { UnconfinedError } from './unconfined-error.ts';

let folder: string;
let site: PhpSite;
let sites: PhpSites;
/** The versions of PHP that the machine has, one after the other. */
let installed: string[];
let closed: string[];
/** How often PHP was looked for. */
let looks: number;
/** How often another PHP was chosen. */
let chosen: number;
/** How often the machine refuses the walls from now on. */
let refusals: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'other-php-'));
  closed = [];
  looks = 0;
  chosen = 0;
  refusals = 0;
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
  sites = sitesWith({
    memory: WASM_MEMORY,
    isRequired: true,
    async create() {
      looks += 1;
      return engineOf(installed[0]);
    },
  });
});
afterEach(async () => {
  await sites.close();
  await rm(folder, { recursive: true });
});

function sitesWith(other: OtherPhp): PhpSites {
  const at = (name: string) => join(folder, name);
  return createPhpSites(
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
      lookMs: 1,
      onChosen: () => {
        chosen += 1;
      },
      log: pino({ level: 'silent' }),
    },
    other,
  );
}

function engineOf(version: string | undefined): PhpEngine {
  if (version === undefined) throw new Error('PHP-FPM is not installed');
  const isUsable = async () => installed.includes(version);
  return {
    version,
    walls: 'none',
    isUsable,
    // PHP-FPM starts with the first request.
    async start() {
      if (refusals > 0) {
        refusals -= 1;
        throw UnconfinedError.from(new Error('exit 1'), 'bwrap: not allowed\n');
      }
      return processOf(version, await isUsable());
    },
    async close() {
      closed.push(version);
    },
  };
}

/** A process that answers its version, if its programs were there when it began. */
function processOf(version: string, isThere: boolean): ServingProcess {
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
    async request() {
      if (!isThere) throw new PhpFailure('failed', 'PHP-FPM did not start');
      return { status: 200, headers: {}, body: Readable.from([version]) };
    },
    run: unused,
    runProgram: unused,
  };
}

const onMachine = (version: string) => ({ version, engine: 'machine', notMachine: null });

async function visit(id = site.id): Promise<string> {
  const request = { method: 'GET', target: '/', headers: {}, body: null, https: false };
  const visited = { ...request, clientAddress: '192.0.2.1', host: 'a.test' };
  const { body } = await sites.request({ ...site, id }, visited);
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
  expect(await sites.available()).toEqual(onMachine('8.4'));
  await sites.close();
  expect(closed).toEqual(['8.2', '8.4']);
});

test('an update of the machine is reported before a website starts', async () => {
  installed = ['8.2'];
  expect(await sites.available()).toEqual(onMachine('8.2'));
  installed = ['8.4'];
  expect(await sites.available()).toEqual(onMachine('8.4'));
  expect(chosen).toBe(1);
  expect(looks).toBe(2);
});

test('a machine that no longer allows the walls is looked at again, once', async () => {
  installed = ['8.2'];
  await visit();
  await sites.stop(site.id);
  refusals = 1;
  expect(await visit()).toBe('8.2');
  expect(looks).toBe(2);
  await sites.stop(site.id);
  refusals = 2;
  await expect(visit()).rejects.toThrow('not allowed');
  expect(looks).toBe(3);
  expect(await visit()).toBe('8.2');
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

test('a website that still runs on the former PHP does not look for another one', async () => {
  installed = ['8.2'];
  await visit();
  installed = [];
  await expect(visit('two')).rejects.toThrow('PHP-FPM is not installed');
  expect(looks).toBe(2);
  // A failure of this look would belong to no request.
  expect(await visit()).toBe('8.2');
  await new Promise((resolve) => setImmediate(resolve));
  expect(looks).toBe(2);
});

test('a lost PHP of the machine is looked for while websites run in WebAssembly, and they get it back', async () => {
  const losing: OtherPhp = {
    memory: WASM_MEMORY,
    isRequired: false,
    async create() {
      looks += 1;
      if (installed.length === 0) throw new PhpLostError('PHP-FPM is being replaced');
      return engineOf(installed[0]);
    },
  };
  await sites.close();
  sites = sitesWith(losing);
  installed = ['8.2'];
  expect(await visit()).toBe('8.2');
  await sites.stop(site.id);
  installed = [];
  expect(await sites.available()).toMatchObject({ engine: 'wasm', notMachine: 'PHP-FPM is being replaced' });
  await vi.waitUntil(() => looks > 4);
  installed = ['8.2'];
  await vi.waitUntil(() => chosen === 2);
  expect(await sites.available()).toEqual(onMachine('8.2'));
  expect(await visit()).toBe('8.2');
});

test('a PHP of the machine that websites never had is not looked for again', async () => {
  await sites.close();
  sites = sitesWith({
    memory: WASM_MEMORY,
    isRequired: false,
    async create() {
      looks += 1;
      throw new Error('PHP-FPM is not installed');
    },
  });
  expect(await sites.available()).toMatchObject({ engine: 'wasm' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(looks).toBe(1);
});

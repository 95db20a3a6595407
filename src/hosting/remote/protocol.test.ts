import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ProtocolError } from '../contract/command.ts';
import { COMMANDS } from '../contract/commands.ts';
import { LONGEST_SENTENCES } from '../contract/message-values.ts';
import { withCommandsTable } from '../policy/commands-table.ts';
import { connectHost, type RemoteHost } from './client.ts';

const noSignal = new AbortController().signal;

/** The host's arguments for a message. */
async function taken(
  command: Pick<(typeof COMMANDS)['addWordpress'], 'run'>,
  message: unknown,
): Promise<unknown[]> {
  const args: unknown[] = [];
  const method = async (...given: unknown[]) => {
    args.push(...given);
    return '';
  };
  await command.run(method, message, noSignal, () => {});
  return args;
}

test('WordPress comes from the host’s configured source or from a public source', async () => {
  for (const source of [null, 'official', 'packaged', 'debian']) {
    expect(await taken(COMMANDS.addWordpress, { source })).toEqual([source]);
  }
  const refused = ['/root', '/srv/wordpress.zip', '../x', 'official\n', '/official', 'debian/../root', ''];
  for (const source of refused) {
    await expect(async () => taken(COMMANDS.addWordpress, { source }), source).rejects.toThrow(ProtocolError);
  }
});

test('a theme to change is the name of a folder, never a path', async () => {
  const uuid = '6f1d3c1e-5d0e-4c3b-9a51-0d4a3c5b7e10';
  const install = { id: uuid, name: 'shop' };
  const orderOf = (kind: string, id: string) => ({
    ...{ changeId: uuid, checkpointId: uuid, pages: [] },
    change: { kind, id, source: null, status: 'deleted', autoUpdate: null },
  });
  const order = (kind: string, id: string) =>
    new Promise((resolve, reject) => {
      const message = { install, order: orderOf(kind, id) };
      const method = async (_install: object, given: object) => {
        resolve(given);
        return { refused: 'no' };
      };
      try {
        COMMANDS.changeItem.run(method, message, noSignal, () => {}).catch(reject);
      } catch (error) {
        reject(error);
      }
    });
  for (const [kind, id] of [
    ['plugin', 'akismet/akismet.php'],
    ['theme', 'shop'],
    ['theme', '..shop'],
  ] as const) {
    expect(await order(kind, id)).toEqual(orderOf(kind, id));
  }
  for (const id of ['../uploads', '.', '..', 'shop/', 'shop\\x', '']) {
    await expect(order('theme', id), id).rejects.toThrow(/theme|change/);
  }
});

test('the document about commands has all of them', () => {
  const page = readFileSync(new URL('../../../docs/decisions/host-commands.md', import.meta.url), 'utf8');
  expect(page, 'run "npm run docs:tables"').toBe(withCommandsTable(page));
});

test('a host cuts long sentences of an inspection', async () => {
  const message = 'x'.repeat(LONGEST_SENTENCES + 1);
  const found = { thing: 'nginx', message, mended: null, remedy: null };
  const result = await COMMANDS.inspect.run(
    async () => [found],
    { expected: [], repair: false },
    noSignal,
    () => {},
  );
  expect(result).toEqual([{ ...found, message: message.slice(1) }]);
});

interface Recorded {
  method: keyof typeof COMMANDS;
  args: unknown[];
  command: string;
  body: object;
  answer: { result: unknown };
  /** If it is not the result of the answer. */
  returned?: unknown;
}

/**
 * Messages of version 0.3, recorded between its client and its server. During an upgrade, hosts of that version and control planes of this
 * one work together, and the other way round. Commands of later versions need no messages here.
 */
const recorded = readFileSync(new URL('messages-of-0.3.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line): Recorded => JSON.parse(line));

type Method = (...args: unknown[]) => Promise<unknown>;

function methodOf(object: object, name: string): Method {
  const isMethod = (value: unknown): value is Method => typeof value === 'function';
  const found: unknown = Reflect.get(object, name);
  if (isMethod(found)) return found;
  throw new Error(`no method ${name}`);
}

describe('messages of version 0.3', () => {
  let folder: string;
  let remote: RemoteHost;
  let asked: unknown[];
  let current: Recorded | undefined;
  const old = createServer(async (incoming, response) => {
    asked = [incoming.url, JSON.parse((await incoming.toArray()).join(''))];
    response.end(JSON.stringify(current?.answer));
  });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'homeport-protocol-'));
    const socket = join(folder, 'host.sock');
    await once(old.listen(socket), 'listening');
    remote = connectHost({ name: 'web1', socket });
  });
  afterAll(async () => {
    await remote?.close();
    old.close();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(recorded.map((one) => [one.method, one] as const))('%s', async (method, one) => {
    // To a host of version 0.3, and its answer.
    current = one;
    const returned = await methodOf(remote, method)(...one.args);
    expect(asked).toEqual([`/v1/${one.command}`, one.body]);
    const shown = Buffer.isBuffer(returned) ? { base64: returned.toString('base64') } : (returned ?? null);
    expect(shown).toEqual('returned' in one ? one.returned : one.answer.result);

    // From a control plane of version 0.3, and the answer to it.
    const taken: unknown[][] = [];
    const host = async (...args: unknown[]) => {
      taken.push(args);
      return returned;
    };
    const result = await methodOf(COMMANDS[method], 'run')(host, one.body, noSignal, () => {});
    expect(taken).toHaveLength(1);
    const args = taken.flat();
    for (const [name, value] of Object.entries(one.body)) {
      const isTaken = args.some(
        (arg) => isDeepStrictEqual(arg, value) || isDeepStrictEqual(Object(arg)[name], value),
      );
      expect({ name, isTaken }).toEqual({ name, isTaken: true });
    }
    expect(result).toEqual(
      one.returned !== undefined && method !== 'readPacked' ? one.returned : one.answer.result,
    );
  });
});

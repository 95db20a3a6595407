import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import { REPOSITORY_PAGE, REPOSITORY_PART, type WebsiteMover } from '../../../hosting/contract/moves.ts';
import { copyRepository, sharesRepository } from './copy-repository.ts';

type Files = Map<string, Buffer>;
type Machine = Pick<WebsiteMover, 'listRepository' | 'readRepository' | 'writeRepository' | 'trimRepository'>;

const install = { id: '9d2b1a3e-0000-4000-8000-000000000001', name: 'shop' };
const quiet = { signal: new AbortController().signal, report: () => {} };

/** A machine whose network is this process. `changes`: what was written and deleted, in order. */
function machineWith(files: Files, changes: string[] = []): Machine {
  const parts = new Map<string, Buffer[]>();
  return {
    listRepository: async (_install, after) =>
      [...files.keys()].filter((name) => after === null || name > after).sort(),
    async readRepository(_install, name, offset) {
      const content = files.get(name);
      if (content === undefined) throw new PermanentHostError('no file');
      return content.subarray(offset, offset + REPOSITORY_PART);
    },
    async writeRepository(_install, name, { offset, isLast, content }) {
      const before = offset === 0 ? [] : (parts.get(name) ?? []);
      parts.set(name, [...before, Buffer.from(content, 'base64')]);
      if (!isLast) return;
      files.set(name, Buffer.concat(parts.get(name) ?? []));
      changes.push(`+${name}`);
    },
    async trimRepository(_install, names) {
      for (const name of names) if (files.delete(name)) changes.push(`-${name}`);
    },
  };
}

function file(folder: string, content: Buffer): [string, Buffer] {
  const name = createHash('sha256').update(content).digest('hex');
  return [folder === 'data' ? `data/${name.slice(0, 2)}/${name}` : `${folder}/${name}`, content];
}

let source: Files;
let large: [string, Buffer];
beforeEach(() => {
  large = file('data', Buffer.alloc(2 * REPOSITORY_PART, 'x'));
  source = new Map([
    ['config', Buffer.from('config of shop')],
    file('keys', Buffer.from('key')),
    large,
    file('index', Buffer.from('index')),
    file('snapshots', Buffer.from('snapshot')),
  ]);
});

describe('the copy of a repository', () => {
  it('has every file, and the configuration last', async () => {
    const target: Files = new Map();
    const changes: string[] = [];
    const bytes = await copyRepository(install, machineWith(source), machineWith(target, changes), quiet);
    expect(target).toEqual(source);
    expect(bytes).toBe([...source.values()].reduce((sum, { length }) => sum + length, 0));
    expect(changes.map((one) => one.slice(1).split('/')[0])).toEqual([
      'keys',
      'data',
      'index',
      'snapshots',
      'config',
    ]);
  });

  it('takes only what is missing the next time, and deletes what was deleted at the source', async () => {
    const target: Files = new Map(source);
    const [removed] = file('snapshots', Buffer.from('a deleted backup'));
    target.set(removed, Buffer.from('a deleted backup'));
    const [added, content] = file('data', Buffer.from('new'));
    source.set(added, content);
    const changes: string[] = [];
    await copyRepository(install, machineWith(source), machineWith(target, changes), quiet);
    expect(changes).toEqual([`-${removed}`, `+${added}`]);
    expect(target).toEqual(source);
  });

  it('replaces another repository, whose files have another key', async () => {
    const target: Files = new Map([...source, ['config', Buffer.from('config of another time')]]);
    await copyRepository(install, machineWith(source), machineWith(target), quiet);
    expect(target).toEqual(source);
  });

  it('ends if a machine lists its files again and again', async () => {
    const names = Array.from({ length: REPOSITORY_PAGE }, (_, at) => `keys/${`${at}`.padStart(64, '0')}`);
    const endless = { ...machineWith(source), listRepository: async () => names };
    await expect(copyRepository(install, endless, machineWith(new Map()), quiet)).rejects.toThrow(
      PermanentHostError,
    );
  });
});

describe('a repository in one place for both machines', () => {
  it('is noticed by its content, and left as it was', async () => {
    const before = new Map(source);
    expect(await sharesRepository(install, machineWith(source), machineWith(source), 'word')).toBe(true);
    expect(source).toEqual(before);
  });

  it('is not assumed if the other machine has a mark of another time', async () => {
    const other: Files = new Map([...source, ['homeport-move', Buffer.from('earlier word')]]);
    expect(await sharesRepository(install, machineWith(source), machineWith(other), 'word')).toBe(false);
    expect(await sharesRepository(install, machineWith(source), machineWith(new Map()), 'word')).toBe(false);
  });
});

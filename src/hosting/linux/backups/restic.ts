import { createInterface } from 'node:readline';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { proxyOfPrograms } from '../../../lib/outbound-proxy.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { type RunningProgram, startProgram } from '../../../lib/started-program.ts';
import type { Chunk } from '../../websites/backup-contents/contents-file.ts';
import type { RepositoryPlace } from './repository-place.ts';

const RESTIC = '/usr/bin/restic';
/** restic retries for a long time if a service does not answer. */
const LOOK_MS = 5 * MINUTE_MS;
const PRUNE_MS = HOUR_MS;
/** A check reads a twentieth of the data. */
const CHECK_MS = 12 * HOUR_MS;
const CHECKED_PART = '5%';

const HEX = Type.String({ pattern: '^[0-9a-f]{64}$' });
const snapshotList = Type.Array(
  Type.Object({
    id: HEX,
    time: Type.String(),
    tree: HEX,
    tags: Type.Optional(Type.Array(Type.String())),
    hostname: Type.Optional(Type.String()),
  }),
);

/** A snapshot in a repository. A copy has another id, and the same time, tags and tree: the hash of the whole content. */
export type ListedSnapshot = Static<typeof snapshotList>[number];

/** restic for the repository of one install. Each backup is a snapshot with one file, `website.tar`, tagged with its id. */
export interface Restic {
  /**
   * Ids of a backup's snapshots, latest first; more than one only after an interrupted run. All work begins with this, so it is
   * also what removes stale locks of a killed restic.
   */
  find(backupId: string, signal?: AbortSignal): Promise<string[]>;
  /** All snapshots, latest first. */
  list(signal?: AbortSignal): Promise<ListedSnapshot[]>;
  /** Creates a snapshot of the data written to its `stdin`. `id` settles after `stdin` has ended. `isPoint`: see {@link isPoint}. */
  backUp(backupId: string, isPoint?: boolean): RunningProgram & { id: Promise<string> };
  /** Returns that file in its `stdout`. */
  read(snapshotId: string): RunningProgram;
  /** The blobs that the file of a snapshot consists of, in order, with their places in it. */
  chunks(snapshotId: string, signal?: AbortSignal): Promise<Chunk[]>;
  /** Returns a blob in its `stdout`. restic verifies it. Takes no lock, so that it waits for nothing. */
  readBlob(id: string): RunningProgram;
  /** Forgets snapshots; their data stays until {@link prune}. */
  forget(snapshotIds: string[]): Promise<void>;
  /** Deletes data that no snapshot uses. */
  prune(): Promise<void>;
  /** The chunker polynomial, which says how the repository divides files. */
  polynomial(): Promise<string>;
  /**
   * Copies snapshots from another repository with the same password; one that is there already is skipped. Its output has a line for each
   * copied snapshot ({@link isCopied}). It does not lock the other repository.
   */
  copyFrom(source: RepositoryPlace, snapshotIds: readonly string[]): RunningProgram;
  /** Checks the structure, and reads a part of the data. Rejects if anything is wrong. */
  check(signal?: AbortSignal): Promise<void>;
}

const FILE = 'website.tar';
/** The host name in snapshots that are recovery points. It is a member that earlier versions leave alone and copies keep. */
const POINTS = 'homeport-points';

/** Whether a snapshot is a recovery point. Only such ones are thinned. */
export const isPoint = ({ hostname }: ListedSnapshot): boolean => hostname === POINTS;

/** Password and address (which may name the operator's bucket) go through the environment, because all users can read arguments. */
export function resticOn({ address, options, environment }: RepositoryPlace, password: string): Restic {
  const own = { ...proxyOfPrograms(), ...environment, RESTIC_REPOSITORY: address, RESTIC_PASSWORD: password };
  const words = (...args: string[]): [string, ...string[]] => [
    RESTIC,
    '--no-cache',
    '--quiet',
    ...options,
    ...args,
  ];

  async function run(args: string[], timeoutMs: number, signal?: AbortSignal): Promise<string> {
    const [file, ...rest] = words(...args);
    return (await runCommand(file, rest, { environment: own, timeoutMs, signal })).stdout;
  }

  /** Removes the locks of a restic that no longer runs. */
  const unlock = (signal?: AbortSignal) => run(['unlock'], LOOK_MS, signal);

  /**
   * Reads without a lock: the machine of an install does one thing at a time with its repository, and a machine that was lost may have left a
   * lock that counts for half an hour. What a program of another machine deletes meanwhile is missed by the check of each restore.
   */
  async function snapshots(filter: string[], signal?: AbortSignal): Promise<ListedSnapshot[]> {
    const stdout = await run(['--no-lock', 'snapshots', '--json', ...filter], LOOK_MS, signal);
    const found = Value.Parse(snapshotList, JSON.parse(stdout) ?? []);
    return found.sort((a, b) => (a.time < b.time ? 1 : -1));
  }

  return {
    find: async (backupId, signal) => (await snapshots(['--tag', backupId], signal)).map(({ id }) => id),
    list: (signal) => snapshots([], signal),

    backUp(backupId, isPoint = false) {
      const tags = ['--tag', backupId, '--host', isPoint ? POINTS : 'homeport'];
      const program = startProgram(words('backup', '--json', '--stdin', '--stdin-filename', FILE, ...tags), {
        environment: own,
      });
      const id = summaryOf(program);
      id.catch(() => {});
      return { ...program, id };
    },

    read: (snapshotId) => startProgram(words('--no-lock', 'dump', snapshotId, FILE), { environment: own }),

    async chunks(snapshotId, signal) {
      const cat = async (...args: string[]): Promise<unknown> =>
        JSON.parse(await run(['--no-lock', 'cat', ...args], LOOK_MS, signal));
      const { tree } = Value.Parse(snapshotTree, await cat('snapshot', snapshotId));
      const { nodes } = Value.Parse(treeNodes, await cat('blob', tree));
      const content = nodes.find(({ name }) => name === FILE)?.content ?? [];
      const wanted = new Set(content);
      const lengths = new Map<string, number>();
      const indexes = (await run(['--no-lock', 'list', 'index'], LOOK_MS, signal)).split('\n');
      for (const id of indexes.filter((line) => line !== '')) {
        for (const { blobs } of Value.Parse(packIndex, await cat('index', id)).packs) {
          for (const blob of blobs) if (wanted.has(blob.id)) lengths.set(blob.id, plainLength(blob));
        }
      }
      let start = 0;
      return content.map((id) => {
        const length = lengths.get(id);
        if (length === undefined) throw new Error(`the repository does not list the blob ${id}`);
        start += length;
        return { start: start - length, id };
      });
    },

    readBlob: (id) => startProgram(words('--no-lock', 'cat', 'blob', id), { environment: own }),

    async forget(snapshotIds) {
      await unlock();
      await run(['forget', '--', ...snapshotIds], LOOK_MS);
    },

    async prune() {
      await unlock();
      await run(['prune'], PRUNE_MS);
    },

    async polynomial() {
      const config: unknown = JSON.parse(await run(['--no-lock', 'cat', 'config'], LOOK_MS));
      return Value.Parse(configuration, config).chunker_polynomial;
    },

    copyFrom(source, snapshotIds) {
      // Not quiet: it names each copied snapshot.
      const given: [string, ...string[]] = [RESTIC, '--no-cache', '--no-lock'];
      return startProgram([...given, ...options, ...source.options, 'copy', '--', ...snapshotIds], {
        environment: {
          ...own,
          ...source.environment,
          RESTIC_FROM_REPOSITORY: source.address,
          RESTIC_FROM_PASSWORD: password,
        },
      });
    },

    async check(signal) {
      await run(['--no-lock', 'check', '--read-data-subset', CHECKED_PART], CHECK_MS, signal);
    },
  };
}

const snapshotTree = Type.Object({ tree: HEX });
const treeNodes = Type.Object({
  nodes: Type.Array(Type.Object({ name: Type.String(), content: Type.Optional(Type.Array(HEX)) })),
});
const indexedBlob = Type.Object({
  id: HEX,
  length: Type.Integer(),
  uncompressed_length: Type.Optional(Type.Integer()),
});
const packIndex = Type.Object({ packs: Type.Array(Type.Object({ blobs: Type.Array(indexedBlob) })) });

/** Nonce and authenticator of a blob that is not compressed. */
const SEAL_BYTES = 32;
const plainLength = ({ length, uncompressed_length = 0 }: Static<typeof indexedBlob>): number =>
  uncompressed_length > 0 ? uncompressed_length : length - SEAL_BYTES;

const configuration = Type.Object({ chunker_polynomial: Type.String({ pattern: '^[0-9a-f]{1,16}$' }) });

/** Whether a line of the output of {@link Restic.copyFrom} reports a copied snapshot. */
export const isCopied = (line: string): boolean => /^snapshot [0-9a-f]{8,} saved$/.test(line);

const summary = Type.Object({
  message_type: Type.Literal('summary'),
  snapshot_id: Type.String({ pattern: '^[0-9a-f]{8,64}$' }),
});

/** restic's last line of output names the snapshot. */
async function summaryOf({ stdout, ended }: RunningProgram): Promise<string> {
  let last = '';
  for await (const line of createInterface({ input: stdout })) last = line;
  await ended;
  return Value.Parse(summary, JSON.parse(last)).snapshot_id;
}

/** Whether restic could not open a repository because the password matches no key. */
export function isWrongPassword(error: unknown): boolean {
  return error instanceof CommandError && /wrong password or no key found/.test(error.stderr);
}

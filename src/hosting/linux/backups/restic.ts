import { createInterface } from 'node:readline';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { CommandError, runCommand } from '../machine/run-command.ts';
import type { RepositoryPlace } from './place.ts';
import { type RunningProgram, startProgram } from './programs.ts';

const RESTIC = '/usr/bin/restic';
/** restic goes on trying for a long time where a service does not answer. */
const LOOK_MS = 5 * MINUTE_MS;
const PRUNE_MS = HOUR_MS;

const snapshotList = Type.Array(
  Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{64}$' }), time: Type.String() }),
);

/** restic on the repository of one install. Each backup is a snapshot with one file in it, `website.tar`, tagged with its id. */
export interface Restic {
  /**
   * Ids of the snapshots of a backup, the latest first: more than one only where a run was broken off. Everything begins with it,
   * so it is what frees a repository that a killed restic has locked.
   */
  find(backupId: string, signal?: AbortSignal): Promise<string[]>;
  /** Makes a snapshot of what is written into its `stdin`, once that is ended. `id` resolves then, or rejects. */
  backUp(backupId: string): RunningProgram & { id: Promise<string> };
  /** Gives that file back in its `stdout`. */
  read(snapshotId: string): RunningProgram;
  /** Forgets snapshots; what only they needed stays until {@link prune}. */
  forget(snapshotIds: string[]): Promise<void>;
  /** Deletes what no snapshot needs. */
  prune(): Promise<void>;
}

const FILE = 'website.tar';

/** The password and the address, which may name a bucket of the operator's, go through the environment: arguments can be read by all. */
export function resticOn({ address, options, environment }: RepositoryPlace, password: string): Restic {
  const own = { ...environment, RESTIC_REPOSITORY: address, RESTIC_PASSWORD: password };
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

  /** What a killed restic has locked is free again, once that one is seen to be gone. */
  const unlock = (signal?: AbortSignal) => run(['unlock'], LOOK_MS, signal);

  return {
    async find(backupId, signal) {
      const look = () => run(['snapshots', '--json', '--tag', backupId], LOOK_MS, signal);
      const stdout = await look().catch(async (error: unknown) => {
        if (!isLocked(error)) throw error;
        await unlock(signal);
        return look();
      });
      const found = Value.Parse(snapshotList, JSON.parse(stdout) ?? []);
      return found.sort((a, b) => (a.time < b.time ? 1 : -1)).map(({ id }) => id);
    },

    backUp(backupId) {
      const tags = ['--tag', backupId, '--host', 'homeport'];
      const program = startProgram(words('backup', '--json', '--stdin', '--stdin-filename', FILE, ...tags), {
        environment: own,
      });
      const id = summaryOf(program);
      id.catch(() => {});
      return { ...program, id };
    },

    read: (snapshotId) => startProgram(words('dump', snapshotId, FILE), { environment: own }),

    async forget(snapshotIds) {
      await unlock();
      await run(['forget', '--', ...snapshotIds], LOOK_MS);
    },

    async prune() {
      await unlock();
      await run(['prune'], PRUNE_MS);
    },
  };
}

const summary = Type.Object({
  message_type: Type.Literal('summary'),
  snapshot_id: Type.String({ pattern: '^[0-9a-f]{8,64}$' }),
});

/** restic tells on its last line what it has made. */
async function summaryOf({ stdout, ended }: RunningProgram): Promise<string> {
  let last = '';
  for await (const line of createInterface({ input: stdout })) last = line;
  await ended;
  return Value.Parse(summary, JSON.parse(last)).snapshot_id;
}

/** Whether another restic has the repository for itself, or had when it was killed. */
function isLocked(error: unknown): boolean {
  return error instanceof CommandError && /repository is already locked/.test(error.stderr);
}

/** Whether restic could not open a repository because the password is none of its keys'. */
export function isWrongPassword(error: unknown): boolean {
  return error instanceof CommandError && /wrong password or no key found/.test(error.stderr);
}

import { createInterface } from 'node:readline';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import { proxyOfPrograms } from '../../../lib/outbound-proxy.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { type RunningProgram, startProgram } from './programs.ts';
import type { RepositoryPlace } from './repository-place.ts';

const RESTIC = '/usr/bin/restic';
/** restic retries for a long time if a service does not answer. */
const LOOK_MS = 5 * MINUTE_MS;
const PRUNE_MS = HOUR_MS;

const snapshotList = Type.Array(
  Type.Object({ id: Type.String({ pattern: '^[0-9a-f]{64}$' }), time: Type.String() }),
);

/** restic for the repository of one install. Each backup is a snapshot with one file, `website.tar`, tagged with its id. */
export interface Restic {
  /**
   * Ids of a backup's snapshots, latest first; more than one only after an interrupted run. All work begins with this, so it is
   * also what removes stale locks of a killed restic.
   */
  find(backupId: string, signal?: AbortSignal): Promise<string[]>;
  /** Creates a snapshot of the data written to its `stdin`. `id` settles after `stdin` has ended. */
  backUp(backupId: string): RunningProgram & { id: Promise<string> };
  /** Returns that file in its `stdout`. */
  read(snapshotId: string): RunningProgram;
  /** Forgets snapshots; their data stays until {@link prune}. */
  forget(snapshotIds: string[]): Promise<void>;
  /** Deletes data that no snapshot uses. */
  prune(): Promise<void>;
}

const FILE = 'website.tar';

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

/** restic's last line of output names the snapshot. */
async function summaryOf({ stdout, ended }: RunningProgram): Promise<string> {
  let last = '';
  for await (const line of createInterface({ input: stdout })) last = line;
  await ended;
  return Value.Parse(summary, JSON.parse(last)).snapshot_id;
}

/** Whether another restic holds an exclusive lock, or held it when it was killed. */
function isLocked(error: unknown): boolean {
  return error instanceof CommandError && /repository is already locked/.test(error.stderr);
}

/** Whether restic could not open a repository because the password matches no key. */
export function isWrongPassword(error: unknown): boolean {
  return error instanceof CommandError && /wrong password or no key found/.test(error.stderr);
}

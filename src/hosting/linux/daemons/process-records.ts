import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { isTemporary, writeAtomically } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';

const ProcessRecord = Type.Object({
  /** Main process and its process group; null just before the start. */
  pid: Type.Union([Type.Integer({ minimum: 2 }), Type.Null()]),
  /** Start time in ticks since the machine booted. Together with the number, it identifies the process. */
  startTime: Type.Union([Type.String(), Type.Null()]),
  stopSignal: Type.String(),
  stopWithinMs: Type.Number(),
});

/** The facts about a daemon that are needed to end it after the process that started it is gone. */
export type ProcessRecord = Static<typeof ProcessRecord>;

/** A file per running daemon, in a folder that a restart of the machine empties. */
export interface ProcessRecords {
  write(name: string, record: ProcessRecord): Promise<void>;
  remove(name: string): Promise<void>;
  all(): Promise<{ name: string; record: ProcessRecord }[]>;
}

const SUFFIX = '.json';

export function processRecords(folder: string): ProcessRecords {
  const fileOf = (name: string) => join(folder, name + SUFFIX);

  async function read(name: string): Promise<ProcessRecord> {
    const content: unknown = JSON.parse(await readFile(fileOf(name), 'utf8'));
    return Value.Parse(ProcessRecord, content);
  }

  return {
    async write(name, record) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeAtomically(fileOf(name), JSON.stringify(record));
    },
    remove: (name) => rm(fileOf(name), { force: true }),
    async all() {
      const files = (await namesIn(folder)).filter((file) => file.endsWith(SUFFIX) && !isTemporary(file));
      const names = files.map((file) => basename(file, SUFFIX));
      return Promise.all(names.map(async (name) => ({ name, record: await read(name) })));
    },
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}

/** The first of the processes that a process has started; null without one, or if it has ended. */
export async function firstChildOf(pid: number): Promise<number | null> {
  const text = await unlessGone(readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  const first = Number(text?.trim().split(' ')[0]);
  return first > 0 ? first : null;
}

/** Null if what is read belongs to a process that has ended. */
export async function unlessGone<Result>(read: Promise<Result>): Promise<Result | null> {
  try {
    return await read;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return null;
    throw error;
  }
}

/** Offsets in `/proc/pid/stat`, proc(5): the third and the 22nd field. */
const STATE = 0;
const START_TIME = 19;

/** Start time of a process, in ticks since the machine booted; null if it has ended. */
export async function startTimeOf(pid: number): Promise<string | null> {
  const stat = await unlessGone(readFile(`/proc/${pid}/stat`, 'utf8'));
  if (stat === null) return null;
  // The second field is the name in brackets, which may contain anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[STATE] === 'Z' || fields[STATE] === 'X' ? null : (fields[START_TIME] ?? null);
}

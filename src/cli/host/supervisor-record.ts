import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Config } from '../../config/config.ts';
import { startTimeOf } from '../../hosting/linux/daemons/process-records.ts';
import { writeAtomically } from '../../lib/durable-file.ts';
import { ifThere } from '../../lib/if-there.ts';

const SupervisorRecord = Type.Object({ pid: Type.Integer(), startTime: Type.String() });

const recordOf = ({ hostRunFolder }: Pick<Config, 'hostRunFolder'>) => join(hostRunFolder, 'supervisor.json');

/** Records that this process supervises the host of the machine. */
export async function recordSupervisor(config: Pick<Config, 'hostRunFolder'>): Promise<void> {
  const file = recordOf(config);
  await mkdir(dirname(file), { recursive: true });
  await writeAtomically(
    file,
    JSON.stringify({ pid: process.pid, startTime: await startTimeOf(process.pid) }),
  );
}

/** Whether the supervisor of the host has ended, so that a running host is about to end. */
export async function supervisorHasEnded(config: Pick<Config, 'hostRunFolder'>): Promise<boolean> {
  const record = await read(config);
  return record !== null && (await startTimeOf(record.pid)) !== record.startTime;
}

/** Removes the record of an earlier supervisor when a host starts. */
export async function forgetOtherSupervisor(config: Pick<Config, 'hostRunFolder'>): Promise<void> {
  const record = await read(config);
  if (record !== null && record.pid !== process.ppid) await rm(recordOf(config), { force: true });
}

async function read(config: Pick<Config, 'hostRunFolder'>) {
  const text = await ifThere(readFile(recordOf(config), 'utf8'));
  return text === null ? null : Value.Parse(SupervisorRecord, JSON.parse(text));
}

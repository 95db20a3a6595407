import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';

const recordSchema = Compile(
  Type.Object({ boot: Type.String(), device: Type.String(), inode: Type.String(), process: Type.String() }),
);

/**
 * The process that served from a host's folder last. A record counts only in the very folder that it was written in, and until the
 * machine starts again: a copy of the folder has another inode, a clone of the machine another boot id.
 */
export interface LastServer {
  /** As {@link LastServer.note} was told; null if there is none, or if this is not seen to be the same folder since the same boot. */
  read(): Promise<string | null>;
  note(process: string): Promise<void>;
}

/** Keeps the record in `file`, which lies in the folder. `bootId`: of this machine's running kernel; null if it tells none. */
export function createLastServer(
  file: string,
  bootId: () => Promise<string | null> = readBootId,
): LastServer {
  async function here(): Promise<{ boot: string; device: string; inode: string } | null> {
    const boot = await bootId();
    if (boot === null) return null;
    const { dev, ino } = await stat(dirname(file), { bigint: true });
    return { boot, device: String(dev), inode: String(ino) };
  }

  return {
    async read() {
      const [text, now] = await Promise.all([ifThere(readFile(file, 'utf8')), here()]);
      if (text === null || now === null) return null;
      const record = parsed(text);
      if (!recordSchema.Check(record)) return null;
      const isSame = record.boot === now.boot && record.device === now.device && record.inode === now.inode;
      return isSame ? record.process : null;
    },
    async note(process) {
      const now = await here();
      if (now !== null) await writeDurably(file, JSON.stringify({ ...now, process }));
    },
  };
}

async function readBootId(): Promise<string | null> {
  return (await ifThere(readFile(BOOT_ID, 'utf8')))?.trim() ?? null;
}

/** A record that cannot be read only costs the wait that it would have spared. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

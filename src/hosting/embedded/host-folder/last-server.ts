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
 * The process that last served from a host's folder. A record counts only in the folder that it was written in, until the machine
 * reboots. A copy of the folder has another inode, and a clone of the machine has another boot id.
 */
export interface LastServer {
  /** The value passed to {@link LastServer.note}. Null if missing, or if folder or boot differ. */
  read(): Promise<string | null>;
  note(process: string): Promise<void>;
}

/** Keeps the record in `file`, inside the folder. `bootId`: of the running kernel, or null if unknown. */
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

/** An unreadable record only costs the wait that it would have saved. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { firstChildOf, startTimeOf, unlessGone } from './process-records.ts';
import { STOP_WITHIN_MS } from './supervised-process.ts';

/** Variable in the environment of a daemon's program. It holds `DaemonSpec.program`. */
const MARK = 'HOMEPORT_PROGRAM';
/** The program may take as long to end as a daemon, and must then be there again. */
const WITHIN_MS = STOP_WITHIN_MS + 5_000;
const LOOK_EVERY_MS = 10;
/** A program that has just begun ignores the first request to end. */
const ASK_EVERY_MS = 500;

/** A script for `/bin/sh` that becomes the command, and the mark of that: another command has another one. */
export function programScript(command: readonly [string, ...string[]]): { text: string; mark: string } {
  const mark = createHash('sha256').update(command.join('\0')).digest('hex').slice(0, 16);
  return { text: `export ${MARK}=${mark}\nexec ${command.map(quoted).join(' ')}\n`, mark };
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

interface Program {
  pid: number;
  mark: string;
}

/** The program that a daemon's main process runs; null if that is only about to start. */
async function programOf(main: number): Promise<Program | null> {
  const pid = await firstChildOf(main);
  if (pid === null) return null;
  const environment = (await unlessGone(readFile(`/proc/${pid}/environ`, 'utf8'))) ?? '';
  const found = environment.split('\0').find((line) => line.startsWith(`${MARK}=`));
  return found === undefined ? null : { pid, mark: found.slice(MARK.length + 1) };
}

/** Whether a running daemon has another program than it should. One that is about to start takes the right one. */
export async function hasOtherProgram(main: number, wanted: string | undefined): Promise<boolean> {
  const running = wanted === undefined ? null : await programOf(main);
  return running !== null && running.mark !== wanted;
}

/**
 * Lets a daemon end its program and run the one that is in place. Nothing of the former one runs any more then. `ask`: sends SIGUSR2 to
 * the main process. False if the daemon has no program, or does not do so in time: restart it.
 */
export async function exchangeProgram(main: number, ask: () => Promise<void>): Promise<boolean> {
  const former = await programOf(main);
  // Before it runs its program, the main process is not ready for the signal, which would end it.
  if (former === null) return false;
  for (let waited = 0; waited < WITHIN_MS; waited += LOOK_EVERY_MS) {
    if ((await startTimeOf(main)) === null) return false;
    if (waited % ASK_EVERY_MS === 0) await ask();
    const present = await programOf(main);
    if (present !== null && present.pid !== former.pid) return true;
    await pause(LOOK_EVERY_MS);
  }
  return false;
}

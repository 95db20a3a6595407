import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import { programScript } from './kept-program.ts';
import { startTimeOf } from './process-records.ts';

/** A main process that runs the program in `$FOLDER/program`, and again after SIGUSR2. */
const KEEPER = [
  `trap 'again=yes; kill "$program"' USR2;`,
  'echo $$ >> "$FOLDER/mains"; again=yes;',
  'while [ "$again" ]; do again=; ( . "$FOLDER/program" ) & program=$!;',
  'while kill -0 "$program" 2>/dev/null; do wait "$program"; done; done',
].join(' ');

/** Ends at the signal, as any program that sets no trap. */
const ENDS_AT_SIGNAL = KEEPER.slice(KEEPER.indexOf('echo'));

/** Checks that daemons exchange the program of one that keeps its sockets. `folder`: where its processes write. */
export async function expectExchanges(daemons: () => Daemons, folder: string): Promise<void> {
  const numbers = async (name: string) =>
    (await readFile(join(folder, name), 'utf8')).trim().split('\n').map(Number);
  const running = async (name: string) => {
    const pid = (await numbers(name)).at(-1) ?? 0;
    if ((await startTimeOf(pid)) === null) throw new Error(`${pid} does not run`);
    return pid;
  };

  async function place(word: string, keeper = KEEPER): Promise<DaemonSpec> {
    const program = `echo $$ >> "$FOLDER/programs"; : "${word}"; exec sleep 600`;
    const { text, mark } = programScript(['/bin/sh', '-c', program]);
    await writeFile(join(folder, 'program'), text);
    return {
      name: 'keeper',
      description: 'Keeper of the test',
      command: ['/bin/sh', '-c', keeper],
      environment: { FOLDER: folder },
      program: mark,
      ready: async () => void (await running('programs')),
    };
  }

  await daemons().ensure(await place('one'));
  const first = await running('programs');
  await daemons().ensure(await place('one'));
  expect(await running('programs')).toBe(first);
  await daemons().restart('keeper');
  expect(await startTimeOf(first)).toBeNull();
  const second = await running('programs');
  await daemons().ensure(await place("it's another"));
  expect(await startTimeOf(second)).toBeNull();
  expect(await numbers('programs')).toHaveLength(3);
  expect(await numbers('mains')).toHaveLength(1);
  // Without an exchange, all of it starts again.
  await daemons().ensure(await place('one', ENDS_AT_SIGNAL));
  await daemons().restart('keeper');
  await running('programs');
  expect(await numbers('mains')).toHaveLength(3);
}

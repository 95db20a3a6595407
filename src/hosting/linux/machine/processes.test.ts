import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, test } from 'vitest';
import { endTree, isAlive, processAt, userOf } from './processes.ts';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** A shell that prints `count` numbers of processes, one a line, and stays. */
async function shell(script: string, count: number): Promise<{ pid: number; printed: number[] }> {
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  const printed: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    printed.push(Number(line));
    if (printed.length === count) break;
  }
  if (child.pid === undefined) throw new Error('the shell did not start');
  return { pid: child.pid, printed };
}

async function mustBeThere(pid: number) {
  const found = await processAt(pid);
  if (found === null) throw new Error(`there is no process ${pid}`);
  return found;
}

describe('a process', () => {
  test('is identified by its number and start time', async () => {
    const own = await mustBeThere(process.pid);
    expect(own.parent).toBe(process.ppid);
    expect(await isAlive(own)).toBe(true);
    expect(await isAlive({ ...own, startTime: own.startTime + 1 })).toBe(false);
    expect(await userOf(process.pid)).toBe(process.getuid?.());
  });

  test('that is not there is null', async () => {
    expect(await processAt(4_194_305)).toBeNull();
    expect(await userOf(4_194_305)).toBeNull();
  });

  test('whose name has parentheses and spaces is read all the same', async () => {
    const child = spawn(
      process.execPath,
      ['-e', 'process.title = "a) (b 1 2"; console.log(1); setInterval(() => {}, 1000)'],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    children.push(child);
    await once(child.stdout, 'data');
    expect((await mustBeThere(child.pid ?? 0)).parent).toBe(process.pid);
  });
});

describe('the end of a tree', () => {
  test('takes children and grandchildren along, also those that do not listen', async () => {
    const script = 'trap "" TERM; (trap "" TERM; sleep 300 & echo $!; echo $$; wait) & echo $!; wait';
    const { pid, printed } = await shell(script, 3);
    const all = await Promise.all([pid, ...printed].map(mustBeThere));
    await endTree(await mustBeThere(pid));
    expect(await Promise.all(all.map(isAlive))).toEqual(all.map(() => false));
  });

  test('gives the process a second to end', async () => {
    const { pid, printed } = await shell('sleep 300 & trap "kill $!; exit 0" TERM; echo $!; wait', 1);
    const child = children.at(-1);
    const exited = child === undefined ? Promise.reject(new Error('no child')) : once(child, 'exit');
    await endTree(await mustBeThere(pid));
    expect(await exited).toEqual([0, null]);
    expect(await processAt(printed[0] ?? 0)).toBeNull();
  });

  test('leaves another process alone that has got the number since', async () => {
    const { pid } = await shell('echo 1; sleep 300', 1);
    const found = await mustBeThere(pid);
    await endTree({ pid, startTime: found.startTime - 1 });
    expect(await isAlive(found)).toBe(true);
    await endTree(found);
    await endTree(found);
  });
});

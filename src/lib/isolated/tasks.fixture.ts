import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Tasks of the tests. They run in the child process. */
export const add = ({ a, b }: { a: number; b: number }) => a + b;

export const pid = (_input: null) => process.pid;

export const environment = (_input: null) => Object.keys(process.env);

export function fail(message: string): never {
  throw new RangeError(message);
}

/** As a fault of native code does. */
export function crash(_input: null): void {
  process.kill(process.pid, 'SIGSEGV');
  block(null);
}

export function block(_input: null): void {
  for (;;);
}

/** As on a machine that stands still for a while. */
export function standStill(seconds: number): string {
  const waking = `sleep ${seconds}; kill -CONT ${process.pid}`;
  spawn('sh', ['-c', waking], { stdio: 'ignore' });
  process.kill(process.pid, 'SIGSTOP');
  return 'awake';
}

export function fillHeap(_input: null): void {
  const kept: number[][] = [];
  for (;;) kept.push(new Array<number>(100_000).fill(0.5));
}

/** As a library does that is not written in JavaScript. */
export async function fillMemory(_input: null): Promise<void> {
  const kept: Buffer[] = [];
  for (;;) {
    kept.push(Buffer.alloc(8 * 1024 * 1024, 1));
    await pause(5);
  }
}

export const repeat = ({ text, times }: { text: string; times: number }) => text.repeat(times);

/** As a process does whose memory was overwritten. */
export function sendNonsense(bytes: Uint8Array): Promise<never> {
  writeSync(3, bytes);
  return new Promise(() => {});
}

/** Returns when the signal aborts. */
export async function untilAborted(_input: null, signal: AbortSignal): Promise<string> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return 'aborted';
}

/** Answers after another task has begun, so that both run at once. */
export async function slowly(input: number): Promise<number> {
  await pause(50);
  return input;
}

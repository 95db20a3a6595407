import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { TestMachine } from './machine.ts';

/** Starts a host of the machine that kills itself after a step. Rejects if it does not start. */
export async function startKilledHost(machine: TestMachine, step: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('killed-host.ts', import.meta.url));
  const child = spawn(process.execPath, [script, machine.instance, step], {
    env: { PATH: process.env.PATH ?? '', ...machine.environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error('the host did not start'))),
  ]);
  return child;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type DatabasePlace, databasePlace } from '../database.ts';
import { onlyInLong } from '../rounds.ts';
import { callJson } from './call-homeport.ts';
import { type Environment, environmentFor } from './run-homeport.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/homeport.mjs', import.meta.url));
/** Waits for a line on its standard input, then becomes the program. */
const ONCE_TOLD = ['-c', 'read -r line; exec "$@"', 'sh', process.execPath, PROGRAM];

let place: DatabasePlace;
let environment: Environment;
beforeEach(async () => {
  place = await databasePlace();
  environment = await environmentFor(place);
});
afterEach(() => place.remove());

async function expectMigrated(): Promise<void> {
  expect(await callJson(environment, 'migrate')).toMatchObject({ applied: [] });
}

onlyInLong(it)('ignores that the reader of its output has gone', async () => {
  const child = spawn('/bin/sh', [...ONCE_TOLD, 'migrate'], { env: environment, stdio: 'pipe' });
  const stderr = text(child.stderr);
  child.stdout.destroy();
  await once(child.stdout, 'close');
  child.stdin.end('go\n');
  const [code] = await once(child, 'close');
  expect({ code, stderr: await stderr }).toEqual({ code: 0, stderr: '' });
  await expectMigrated();
});

it('exits with 1 if its output cannot be written', async () => {
  const readOnly = openSync('/dev/null', 'r');
  const child = spawn(process.execPath, [PROGRAM, 'migrate'], {
    env: environment,
    stdio: ['ignore', readOnly, 'pipe'],
  });
  closeSync(readOnly);
  const stderr = child.stderr === null ? '' : text(child.stderr);
  const [code] = await once(child, 'close');
  expect({ code, stderr: await stderr }).toEqual({
    code: 1,
    stderr: 'homeport: cannot write the output: EBADF: bad file descriptor, write\n',
  });
  await expectMigrated();
});

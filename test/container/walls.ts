import assert from 'node:assert/strict';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { CommandError } from '../../src/lib/run-command.ts';
import type { Container } from './container.ts';

const Doctor = Type.Object({
  checks: Type.Array(
    Type.Object({ message: Type.String(), remedy: Type.Union([Type.String(), Type.Null()]) }),
  ),
});
type Finding = Static<typeof Doctor>['checks'][number];

/** What `homeport doctor` says. It fails for problems. */
export async function findingsOf(container: Container): Promise<Finding[]> {
  const printed = await container.homeport('doctor', '--json').catch((error: unknown) => {
    if (error instanceof CommandError && error.status === 1) return error.stdout;
    throw error;
  });
  return Value.Parse(Doctor, JSON.parse(printed)).checks;
}

/** Rejects unless the container runs as the compose file says. */
export async function checkWalls(container: Container): Promise<void> {
  const status = await container.shell('grep -E "^(Uid|CapBnd|NoNewPrivs|Seccomp):" /proc/1/status');
  assert.match(status, /Uid:\s+10001/);
  assert.match(status, /CapBnd:\s+0+$/m);
  assert.match(status, /NoNewPrivs:\s+1/);
  assert.match(status, /Seccomp:\s+2/);
  assert.match(await container.shell('touch /opt/homeport/file 2>&1 || true'), /Read-only file system/);
}

/** Rejects if a process whose parent has ended stays behind as a zombie. */
export async function checkReaping(container: Container): Promise<void> {
  await container.shell('(true &); sleep 1');
  assert.equal(await container.shell('grep -l "^State:.Z" /proc/[0-9]*/status || true'), '');
}

import { expect, test } from 'vitest';
import { createUntoldChanges } from './untold-changes.ts';

/** Notes calls. `during` runs within each, before it ends. */
function setUp() {
  const calls: string[] = [];
  const hooks: { during?: (() => void) | undefined } = {};
  const note = async (call: string): Promise<void> => {
    await Promise.resolve();
    calls.push(call);
    const { during } = hooks;
    hooks.during = undefined;
    during?.();
  };
  const untold = createUntoldChanges({
    installChanged: (id) => note(`install ${id}`),
    namesChanged: () => note('names'),
    routesChanged: () => note('routes'),
    purge: (id) => note(`purge ${id}`),
  });
  return { calls, hooks, untold };
}

test('tells each change once, and a change that failed again', async () => {
  const { calls, hooks, untold } = setUp();
  untold.install('a');
  untold.names();
  untold.purge('a');
  hooks.during = () => {
    throw new Error('nginx does not answer');
  };
  await expect(untold.tell()).rejects.toThrow('does not answer');
  await untold.tell();
  await untold.tell();
  expect(calls).toEqual(['install a', 'install a', 'names', 'purge a']);
});

test.each([
  ['install a', 'install'],
  ['names', 'names'],
  ['routes', 'routes'],
  ['purge a', 'purge'],
] as const)('tells %s again if it came while nginx was being told', async (call, kind) => {
  const { calls, hooks, untold } = setUp();
  untold[kind]('a');
  hooks.during = () => untold[kind]('a');
  await untold.tell();
  await untold.tell();
  expect(calls).toEqual([call, call]);
});

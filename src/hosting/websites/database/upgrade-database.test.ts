import { expect, test } from 'vitest';
import type { Programs, ScriptEnd, ScriptRun } from '../../runtime/runtime.ts';
import { joinedWarnings, upgradeRestored } from './upgrade-database.ts';

const COMPLETED = '{"before":1,"after":2}\n\n{"completed":true}\n';

/** A website whose script ends like that. */
function endingWith(end: Partial<ScriptEnd> | Error): Programs & { runs: ScriptRun[] } {
  const runs: ScriptRun[] = [];
  return {
    runs,
    async runScript(run, signal) {
      signal?.throwIfAborted();
      runs.push(run);
      if (end instanceof Error) throw end;
      return { stdout: '', stderr: '', exit: 0, ...end };
    },
  };
}

test('a restored database is upgraded unless it has the version of its WordPress, without network', async () => {
  const website = endingWith({ stdout: COMPLETED });
  expect(await upgradeRestored(website, undefined)).toBeNull();
  expect(website.runs).toMatchObject([{ script: 'upgrade.php', args: ['only-other'], network: false }]);
});

const NOT_UPGRADED = 'the database was not upgraded to this WordPress:';

test.each([
  [
    { stdout: 'Error establishing a database connection' },
    `${NOT_UPGRADED} Error establishing a database connection`,
  ],
  [
    { stderr: 'PHP Fatal error:  Uncaught Error: no in /htdocs/a.php:3', exit: 255 },
    `${NOT_UPGRADED} Uncaught Error: no in a.php:3`,
  ],
  // It says nothing about the database.
  [
    new Error('too many websites are in use.'),
    'the version of the database could not be compared: too many websites are in use',
  ],
])('a restore succeeds with a warning if that failed: %j', async (end, warning) => {
  expect(await upgradeRestored(endingWith(end), undefined)).toBe(warning);
  expect(joinedWarnings([warning, 'the home page answers 500'])).toBe(
    `${warning}; the home page answers 500`,
  );
});

test('a cancelled restore is cancelled', async () => {
  const signal = AbortSignal.abort(new Error('cancelled'));
  await expect(upgradeRestored(endingWith({}), signal)).rejects.toThrow('cancelled');
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../database.ts';

const ROOT = join(import.meta.dirname, '../..');

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder?.remove());

type Status = 'passed' | 'failed' | 'skipped';
interface RanFile {
  name: string;
  status: 'passed' | 'failed';
  tests: Status[];
}

/** Writes a report as `.ci/report.mjs` does. Returns its path. */
function report(name: string, files: RanFile[], errorsOutside: string[] = []): string {
  const path = join(folder.path, name);
  const testResults = files.map(({ name: file, status, tests }) => ({
    ...{ name: join(ROOT, file), status, message: '', startTime: 0, endTime: 1 },
    assertionResults: tests.map((each, n) => ({ status: each, fullName: `test ${n}`, failureMessages: [] })),
  }));
  writeFileSync(path, JSON.stringify({ testResults, errorsOutside }));
  return path;
}

function results(...words: string[]) {
  const { stdout, status } = spawnSync(process.execPath, [join(ROOT, '.ci/results.mjs'), ...words], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return { lines: stdout.trim().split('\n'), status };
}

const count = (...words: string[]) => {
  const { lines, status } = results('count', ...words);
  return { last: lines.at(-1), status };
};

const WHOLE: RanFile = { name: 'a.test.ts', status: 'passed', tests: ['passed', 'skipped', 'passed'] };
const UNLUCKY: RanFile = { name: 'b.test.ts', status: 'failed', tests: ['passed', 'failed'] };
/** With a hook that fails: its tests are skipped, or passed before it. */
const HOOK: RanFile = { name: 'c.test.ts', status: 'failed', tests: ['skipped', 'passed'] };

it('counts what passed, and fails without a passed test', () => {
  expect(count('0', report('whole', [WHOLE]))).toEqual({ last: '2 passed, 0 failed', status: 0 });
  expect(count('0', report('nothing', []))).toEqual({ last: '0 passed, 0 failed', status: 1 });
});

it('names the tests that the machine skipped, but not those behind a failed hook', () => {
  const { lines } = results('count', '1', report('skipping', [WHOLE, HOOK]));
  const skipped = lines.slice(lines.indexOf('Skipped here: 1 tests'));
  expect(skipped.slice(0, 3)).toEqual(['Skipped here: 1 tests', '    a.test.ts > test 1', '']);
  const { lines: whole } = results('count', '0', report('none', [{ ...WHOLE, tests: ['passed'] }]));
  expect(whole.join()).not.toContain('Skipped');
});

it('counts a test that passed when run again as passed, and others as failed', () => {
  const first = report('first', [WHOLE, UNLUCKY]);
  expect(count('1', first)).toEqual({ last: '3 passed, 1 failed', status: 1 });
  report('first.again', [{ ...UNLUCKY, status: 'passed', tests: ['passed', 'passed'] }]);
  expect(count('1', first)).toEqual({ last: '4 passed, 0 failed', status: 0 });
});

it('counts a file of which only a hook failed, also beside a test that passed when run again', () => {
  const first = report('hook', [UNLUCKY, HOOK]);
  expect(results('files', first).lines).toEqual(['b.test.ts', 'c.test.ts']);
  report('hook.again', [{ ...UNLUCKY, status: 'passed', tests: ['passed', 'passed'] }, HOOK]);
  expect(count('1', first)).toEqual({ last: '3 passed, 1 failed', status: 1 });
});

it('counts a failure outside of all tests, and a report that is missing', () => {
  expect(count('1', report('outside', [WHOLE]))).toEqual({ last: '2 passed, 1 failed', status: 1 });
  expect(count('0', join(folder.path, 'missing'))).toMatchObject({ status: 1 });
});

it('counts errors outside of all tests beside tests that passed when run again, of both runs', () => {
  const first = report('unhandled', [WHOLE, UNLUCKY], ['Error: lost']);
  report(
    'unhandled.again',
    [{ ...UNLUCKY, status: 'passed', tests: ['passed', 'passed'] }],
    ['Error: later'],
  );
  expect(count('1', first)).toEqual({ last: '4 passed, 2 failed', status: 1 });
  expect(results('count', '1', first).lines).toContain('Failed: an error outside of all tests');
});

it('reports a rejection that nothing handles, beside a test that fails', () => {
  const root = join(folder.path, 'vitest');
  mkdirSync(root);
  writeFileSync(
    join(root, 'd.test.mjs'),
    "test('fails', () => { void Promise.reject(new Error('lost')); throw new Error('known'); });",
  );
  const path = join(folder.path, 'rejection');
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporting = [`--reporter=${join(ROOT, '.ci/report.mjs')}`, `--outputFile.json=${path}`];
  const words = [vitest, 'run', '--globals', '--no-cache', '--root', root, ...reporting];
  const { status } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' });
  const { lines } = results('count', `${status}`, path);
  expect(lines.at(-1)).toBe('0 passed, 2 failed');
  expect(lines.filter((line) => /^ +Error: (lost|known)/.test(line))).toHaveLength(2);
});
